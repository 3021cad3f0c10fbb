import type { EmulatorDelivery } from 'service-webhooks-emulator';

/** A delivery that the fault `never` has lost. */
export type LostWebhook = Pick<EmulatorDelivery, 'type' | 'jobId'>;

/** Returns the route of the API that tells how the job ended; undefined where the service documents none. */
function routeOfJob({ type, jobId }: LostWebhook): string | undefined {
  const [family = ''] = type.split('.');
  if (jobId === null) return undefined;
  const id = encodeURIComponent(jobId);
  if (family === 'dubbing' || family === 'subtitle') return `/v1/dubbing/jobs/${id}`;
  return family === 'workflow_run' ? `/v1/workflows/{id}/runs/${id}` : undefined;
}

/** Returns the id of the job that a request to the API asks for; undefined for any other request. */
export function askedJob(method: string, path: string): string | undefined {
  const [, job, run] = /^\/v1\/(?:dubbing\/jobs\/([^/]+)|workflows\/[^/]+\/runs\/([^/]+))$/.exec(path) ?? [];
  const id = job ?? run;
  if (method !== 'GET' || id === undefined) return undefined;
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** Says how an app finds out about a job whose webhook never comes. */
export function howToFind(lost: LostWebhook): string {
  if (lost.jobId === null) return 'The event has no job that the app could ask for.';
  const route = routeOfJob(lost);
  return route === undefined
    ? `An app that expects this job finds it by jobs.reconcile(), with a fetch of its own: the service documents no route for ${lost.type}.`
    : `An app that expects this job finds it by jobs.reconcile(), which asks the API: GET ${route}`;
}
