import type { Deliveries } from '../delivery/deliveries.js';
import { ApiError } from './api-error.js';
import type { Route } from './routes.js';

/** The routes that return the result of a job, and the types of event that are about its jobs. */
const JOB_ROUTES = [
  { path: '/v1/dubbing/jobs/{id}', families: ['dubbing', 'subtitle'], unknown: 'not_found' },
  { path: '/v1/workflows/{id}/runs/{runId}', families: ['workflow_run'], unknown: 'run_not_found' },
] as const;

/**
 * Returns the routes of jobs. The service does not document their answers: these have the newest event of the job, out of
 * the deliveries that are kept.
 */
export function createJobRoutes(deliveries: Deliveries): readonly Route[] {
  return JOB_ROUTES.map(({ path, families, unknown }) => ({
    method: 'GET',
    path,
    scope: undefined,
    sandbox: true,
    handle({ account }, _request, id) {
      const jobId = decoded(id);
      const event = newestEvent(deliveries, { jobId, accountId: account.id, families });
      if (event === undefined)
        throw new ApiError(unknown, 'No event of a job with this id was emitted, or it is not kept.');
      return { status: 200, content: { id: jobId, event } };
    },
  }));
}

interface WhichJob {
  jobId: string;
  accountId: string;
  families: readonly string[];
}

/** Returns the event with the latest timestamp; of several with the same one, that which was emitted last. */
function newestEvent(deliveries: Deliveries, { jobId, accountId, families }: WhichJob): object | undefined {
  let newest: { at: number; event: object } | undefined;
  for (const { event, endpoint } of deliveries.all()) {
    const [family = ''] = event.type.split('.');
    if (event.jobId !== jobId || endpoint.accountId !== accountId || !families.includes(family)) continue;
    const { type, data, timestamp } = JSON.parse(new TextDecoder().decode(event.body));
    const at = Date.parse(timestamp);
    if (newest === undefined || !(at < newest.at)) newest = { at, event: { type, data } };
  }
  return newest?.event;
}

/** An id that is not encoded correctly stands for itself. */
function decoded(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
