import type { WebhookEvent } from '../event.js';
import { ClientError } from './client-error.js';
import type { Client } from './create-client.js';
import { type CallOptions, segment } from './create-request.js';
import { objectsIn } from './json.js';
import { withTimeLimit } from './time-limit.js';

/** What {@link freshDownloadUrl} has to be told where the specification shows nothing. */
export interface FreshDownloadUrlOptions extends CallOptions {
  /** The route that fetches the result, such as `/v1/workflows/wf_1/runs/run_1`. */
  path?: string | undefined;
  /** Where the link is in what that route answers; by default the first field named `downloadUrl`. */
  linkIn?: ((data: unknown) => unknown) | undefined;
  /** For the look at the stored link, which carries no key; the runtime's own. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

const PROBE_TIMEOUT_MS = 30_000;

/**
 * A link from which the result of an event can be downloaded now: the one in the event while the storage accepts it,
 * otherwise one that is fetched again (specification, section 6.1). A link is valid for about an hour, and a redelivery
 * may carry an expired one with a new timestamp; so its first byte is asked for, and the storage says.
 *
 * There is a route for `dubbing.completed` and `subtitle.completed`; for a workflow run, give its `path`.
 *
 * @throws ClientError `link_expired` where there is no route, `link_not_found` where there is no link; what the client
 *   throws
 * @example
 * const url = await freshDownloadUrl(event, client);
 * await pipeline((await fetch(url)).body, createWriteStream('clip.mp3'));
 */
export async function freshDownloadUrl(
  event: WebhookEvent,
  client: Pick<Client, 'request'>,
  options: FreshDownloadUrlOptions = {},
): Promise<string> {
  const { linkIn = firstLink, signal, timeoutMs } = options;
  const stored = event.data['downloadUrl'];
  if (isLink(stored) && (await isAccepted(stored, options))) return stored;
  const path = options.path ?? routeOf(event);
  if (path === undefined) {
    const found = `${event.type} ${event.id}`;
    throw isLink(stored)
      ? new ClientError('link_expired', `that of ${found}, and there is no route to fetch it again`)
      : new ClientError('link_not_found', `none in ${found}, and there is no route to fetch it`);
  }
  const { data } = await client.request({ path, signal, timeoutMs });
  const fresh = linkIn(data);
  if (!isLink(fresh)) throw new ClientError('link_not_found', `none in the answer of ${path}`);
  return fresh;
}

/** The route for the result of an event (sections 4.7 and 6.4). */
function routeOf({ type, jobId }: WebhookEvent): string | undefined {
  const isJob = type === 'dubbing.completed' || type === 'subtitle.completed';
  return isJob && jobId !== null ? `/v1/dubbing/jobs/${segment('jobId', jobId)}` : undefined;
}

function firstLink(data: unknown): unknown {
  const fields: { downloadUrl?: unknown }[] = objectsIn(data);
  return fields.map(({ downloadUrl }) => downloadUrl).find(isLink);
}

function isLink(value: unknown): value is string {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value);
}

/** The link itself is in no error: whoever has it has the file. */
async function isAccepted(link: string, { fetch = globalThis.fetch, signal: caller }: FreshDownloadUrlOptions) {
  const { origin } = new URL(link);
  const timedOut = () => new ClientError('timed_out', `no answer of ${origin} in ${PROBE_TIMEOUT_MS} ms`);
  const status = await withTimeLimit({ ms: PROBE_TIMEOUT_MS, timedOut, signal: caller }, async (signal) => {
    // Not HEAD: the link is signed for GET.
    const response = await fetch(link, { headers: { range: 'bytes=0-0' }, signal }).catch(() => undefined);
    response?.body?.cancel().catch(() => {});
    return response?.status;
  });
  if (status === undefined) throw new ClientError('no_connection', `none to ${origin}`);
  if (status === 429 || status >= 500) throw new ClientError('unexpected_answer', `${status} of ${origin}`, { status });
  // 416: an empty file has no first byte.
  return status < 400 || status === 416;
}
