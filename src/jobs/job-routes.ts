import { WebhookError } from '../errors.js';
import type { Job } from './job-record.js';
import type { FoundEnd } from './reconciled-delivery.js';

/** The part of a client of `service-webhooks/client` that is used. */
export interface JobsClient {
  readonly dubbing: { job(id: string, options: { signal: AbortSignal }): Promise<{ data: unknown }> };
  readonly workflows: { run(id: string, runId: string, options: { signal: AbortSignal }): Promise<{ data: unknown }> };
}

/** Asks the service for one job. Resolves to undefined while it runs. */
export type FetchJob = (
  job: Job,
  context: { signal: AbortSignal },
) => Promise<FoundEnd | undefined> | FoundEnd | undefined;

/**
 * Reads the service's answer about a job, whose fields the service does not document. Returns undefined while the job runs.
 */
export type ReadJob = (answer: unknown, job: Job) => FoundEnd | undefined | Promise<FoundEnd | undefined>;

/**
 * Returns a {@link FetchJob} by the routes that the service documents: for dubbing and subtitle jobs, and for workflow runs,
 * whose `note` must be the id of their workflow. The `types` of a job choose its route.
 */
export function fetchFrom(client: JobsClient, read: ReadJob): FetchJob {
  return async (job, options) => read(await answerOf(client, job, options), job);
}

async function answerOf(client: JobsClient, job: Job, options: { signal: AbortSignal }): Promise<unknown> {
  const { jobId, types = [], note } = job;
  const families = new Set(types.map((type) => type.split('.')[0]));
  if (families.has('dubbing') || families.has('subtitle')) return (await client.dubbing.job(jobId, options)).data;
  if (families.has('workflow_run') && note !== undefined)
    return (await client.workflows.run(note, jobId, options)).data;
  throw new WebhookError('invalid_option', {
    message: `No route is known for the job ${JSON.stringify(jobId.slice(0, 120))}: its types are ${types.join(', ') || 'not given'}.`,
    hint: 'Pass a fetch of your own to reconcile(). For the routes that are known, give expect() the types of the job, and for a workflow run the id of its workflow as the note.',
  });
}
