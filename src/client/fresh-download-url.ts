import type { AnyEvent } from '../event.js';
import { checkFunction, checkKnownOptions, checkObject, checkPositiveInteger } from '../option-checks.js';
import { withTimeLimit } from '../timers.js';
import { isObject, objectsIn } from './answer-data.js';
import type { Client } from './create-client.js';
import { ClientError } from './errors.js';
import { type CallOptions, segment } from './request.js';

/** Options of {@link freshDownloadUrl}. */
export interface FreshDownloadUrlOptions extends CallOptions {
  /**
   * The route that returns the result, such as `/v1/workflows/wf_1/runs/run_1`. Default: the documented route of the
   * event.
   */
  path?: string | undefined;
  /** Returns the link in the answer of that route. Default: the first field named `downloadUrl`. */
  linkIn?: ((data: unknown) => unknown) | undefined;
  /** Replaces the runtime's `fetch` for the request to the stored link, which carries no key. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

const KNOWN_OPTIONS: readonly (keyof FreshDownloadUrlOptions)[] = ['path', 'linkIn', 'fetch', 'signal', 'timeoutMs'];

/** The largest time that the storage may take, in milliseconds. */
const STORAGE_TIMEOUT_MS = 30_000;

/**
 * Returns a link from which the result of an event can be downloaded now: the one in the event while the storage
 * accepts it, otherwise one that is fetched again. A link is valid for about an hour, and a redelivery may carry an
 * expired one with a new timestamp, so the storage is asked for the first byte.
 *
 * The service documents a route for `dubbing.completed` and `subtitle.completed`. For a workflow run, pass its `path`.
 *
 * @throws ClientError `link_expired` where there is no route, `link_not_found` where there is no link; every error of
 *   the call; WebhookError `invalid_option`
 * @example
 * const link = await freshDownloadUrl(event, client);
 * const response = await fetch(link);
 * await writeFile('clip.mp3', Buffer.from(await response.arrayBuffer()));
 */
export async function freshDownloadUrl(
  event: AnyEvent,
  client: Pick<Client, 'request'>,
  options: FreshDownloadUrlOptions = {},
): Promise<string> {
  checkOptions(options);
  const { linkIn = firstLink, signal, timeoutMs } = options;
  const stored = Object(event.data)['downloadUrl'];
  if (isLink(stored) && (await isAccepted(stored, options))) return stored;
  const path = options.path ?? routeOf(event);
  if (path === undefined) {
    const subject = `${event.type} ${event.id}`;
    throw isLink(stored)
      ? new ClientError('link_expired', `The link of ${subject} has expired, and no route is known to fetch it again.`)
      : new ClientError('link_not_found', `${subject} has no link, and no route is known to fetch it.`);
  }
  const { data } = await client.request({ path, signal, timeoutMs });
  const fresh = linkIn(data);
  if (!isLink(fresh)) throw new ClientError('link_not_found', `The answer of ${path} has no link.`);
  return fresh;
}

function checkOptions(options: FreshDownloadUrlOptions): void {
  checkObject('options', options);
  checkKnownOptions('freshDownloadUrl', options, KNOWN_OPTIONS);
  checkFunction('linkIn', options.linkIn);
  checkFunction('fetch', options.fetch);
  if (options.timeoutMs !== undefined) checkPositiveInteger('timeoutMs', options.timeoutMs);
}

/** Returns the route for the result of an event, or undefined where the service documents none. */
function routeOf({ type, jobId }: AnyEvent): string | undefined {
  const isJob = type === 'dubbing.completed' || type === 'subtitle.completed';
  return isJob && jobId !== null ? `/v1/dubbing/jobs/${segment('jobId', jobId)}` : undefined;
}

function firstLink(data: unknown): unknown {
  return objectsIn(data)
    .map((object) => (isObject(object) ? object['downloadUrl'] : undefined))
    .find(isLink);
}

function isLink(value: unknown): value is string {
  return typeof value === 'string' && /^https?:/i.test(value) && URL.canParse(value);
}

/**
 * Returns whether the storage accepts a link. No error quotes the link, because the link alone grants access to the
 * file.
 */
async function isAccepted(link: string, options: FreshDownloadUrlOptions): Promise<boolean> {
  const { fetch = globalThis.fetch, signal: caller, timeoutMs = STORAGE_TIMEOUT_MS } = options;
  const { origin } = new URL(link);
  const ms = Math.min(timeoutMs, STORAGE_TIMEOUT_MS);
  const timedOut = () => new ClientError('timed_out', `The storage ${origin} did not answer in ${ms} ms.`);
  const status = await withTimeLimit({ ms, timedOut, signal: caller }, async (signal) => {
    try {
      // GET with a range, because the link is signed for GET and not for HEAD.
      const response = await fetch(link, { headers: { range: 'bytes=0-0' }, signal });
      response.body?.cancel().catch(() => {});
      return response.status;
    } catch {
      return undefined; // not the error of fetch, which may quote the link
    }
  });
  if (status === undefined) throw new ClientError('no_connection', `The storage ${origin} did not answer.`);
  if (status === 429 || status >= 500) {
    throw new ClientError('unexpected_answer', `The storage ${origin} answered ${status}.`, { status });
  }
  // 416: an empty file has no first byte.
  return status < 400 || status === 416;
}
