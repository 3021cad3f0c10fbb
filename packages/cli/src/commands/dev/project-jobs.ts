import { Failure } from '../../failure.js';
import type { JobsSource } from '../../page/jobs-source.js';
import type { Session } from '../../session.js';

/** Returns a view of the jobs in the store that the project's settings name; undefined for none, also where it cannot be found. */
export async function projectJobs(session: Session): Promise<JobsSource | undefined> {
  const { jobs } = session.config;
  if (jobs === undefined) return undefined;
  // Loaded here, so that the program starts as quickly as before without jobs.
  const { storePlaced } = await import('../../job-stores/job-store-options.js');
  const { jobsView } = await import('../../job-stores/jobs-view.js');
  try {
    return jobsView(await storePlaced(session, jobs), { now: session.now });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    session.out.note(['warn', `The page does not show the jobs of service-webhooks.json: ${error.message}`]);
    return undefined;
  }
}
