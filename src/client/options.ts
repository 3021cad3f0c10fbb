import { check, checkFunction, checkObject, integers } from '../check.js';
import { sleep } from './time-limit.js';

/** What a client is made of. An option given as undefined is its default. */
export interface ClientOptions {
  /** An account key, from the environment. It is sent to `baseUrl` alone and shown nowhere. */
  apiKey: string;
  /** Where the service is: `https://…`, without the path of a route. */
  baseUrl: string;
  /** In place of the runtime's own. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** What the names of the service's own headers begin with; `x-service`. */
  headerPrefix?: string | undefined;
  /** For a call with all its tries and waits, in milliseconds; 120 000. */
  timeoutMs?: number | undefined;
  /** How often a request is sent at most; 5. With 1, nothing is sent twice. */
  maxAttempts?: number | undefined;
  /** Largest answer, in bytes; 32 MiB. */
  maxAnswerBytes?: number | undefined;
  /** Whether calls wait for the next window where no request is left in this one; false. */
  limiter?: boolean | undefined;
  /** In milliseconds since the epoch; `Date.now`. */
  now?: (() => number) | undefined;
  /** From 0 up to 1, for the jitter; `Math.random`. */
  random?: (() => number) | undefined;
  /** Waits between tries; by a timer. Rejects when the signal is aborted. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

const MIB = 1024 * 1024;

/** {@link ClientOptions}, checked, with the defaults in place. @throws WebhookError `invalid_option` */
export function readOptions(options: ClientOptions) {
  checkObject('options', options);
  const { apiKey, headerPrefix = 'x-service', limiter = false } = options;
  checkKey(apiKey);
  check(/^[a-z0-9]+(-[a-z0-9]+)*$/i.test(headerPrefix), 'headerPrefix must be like x-service');
  for (const name of ['fetch', 'now', 'random', 'sleep'] as const) checkFunction(name, options[name]);
  return {
    ...integers(options, { timeoutMs: 120_000, maxAttempts: 5, maxAnswerBytes: 32 * MIB }),
    apiKey,
    /** Takes the key out of a text: what answers may repeat it. */
    redact: (text: string) => text.replaceAll(apiKey, '[API key]'),
    baseUrl: readBaseUrl(options.baseUrl),
    headerPrefix,
    limiter,
    // Looked up at each call, so that what is put in its place later counts.
    fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    sleep: options.sleep ?? sleep,
  };
}

export type ReadyOptions = ReturnType<typeof readOptions>;

/** The messages say what is wrong with a key, and nothing that is in it. */
function checkKey(key: unknown): void {
  check(typeof key === 'string' && key !== '', 'apiKey must be given: is the environment variable set?');
  check(!/[\r\n]/.test(key), 'apiKey has a line break: trim it');
  check(/^[!-~]+$/.test(key), 'apiKey has a space, or what no header can hold');
}

function readBaseUrl(value: unknown): string {
  check(typeof value === 'string' && /^https?:\/\//i.test(value), 'baseUrl must begin with https://');
  const url = URL.canParse(value) ? new URL(value) : undefined;
  check(url !== undefined, 'baseUrl is no URL');
  check(url.username === '' && url.password === '', 'baseUrl must not hold credentials: the key is apiKey');
  check(url.search === '' && url.hash === '', 'baseUrl must end with its path');
  return url.origin + url.pathname.replace(/\/+$/, '');
}
