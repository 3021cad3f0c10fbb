import { WebhookError } from '../errors.js';
import { check, checkChoice, checkFunction, checkKnownOptions, checkObject, integers } from '../option-checks.js';
import { sleep } from '../timers.js';
import { checkHeaderPrefix } from '../verify/header-names.js';
import { createRedact } from './redact.js';

/** Options of {@link createClient}. An option given as undefined has its default. */
export interface ClientOptions {
  /** An account key, from the environment. The client sends it to `baseUrl` only and never logs it. */
  apiKey: string;
  /** Address of the service, without the path of a route: `https://…`, or `http://…` for a loopback address. */
  baseUrl: string;
  /** Replaces the runtime's `fetch`. It must not follow redirects, which would send the key along. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
  /** Prefix of the service's own header names. Default: `x-service`. */
  headerPrefix?: string | undefined;
  /** Time limit of a call including its retries and waits, in milliseconds. Default: 120 000. */
  timeoutMs?: number | undefined;
  /** The largest number of times a request is sent. 1 turns retries off. Default: 5. */
  maxAttempts?: number | undefined;
  /** The largest answer, in bytes after decompression. Default: 10 MiB. */
  maxAnswerBytes?: number | undefined;
  /** Whether calls wait for the next rate-limit window where the current one has no request left. Default: false. */
  limiter?: boolean | undefined;
  /** Returns milliseconds since the epoch. Default: `Date.now`. */
  now?: (() => number) | undefined;
  /** Returns a number from 0 up to 1, for the jitter. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** Waits between attempts; must reject when the signal is aborted. Default: a timer. */
  sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
}

const KNOWN_OPTIONS: readonly (keyof ClientOptions)[] = [
  'apiKey',
  'baseUrl',
  'fetch',
  'headerPrefix',
  'timeoutMs',
  'maxAttempts',
  'maxAnswerBytes',
  'limiter',
  'now',
  'random',
  'sleep',
];

const MIB = 1024 * 1024;

/** Returns the checked options with their defaults. @throws WebhookError `invalid_option` */
export function readOptions(options: ClientOptions) {
  checkObject('options', options);
  checkKnownOptions('createClient', options, KNOWN_OPTIONS);
  const { apiKey, headerPrefix = 'x-service', limiter = false } = options;
  checkKey(apiKey);
  checkHeaderPrefix(headerPrefix);
  checkChoice('limiter', limiter, [true, false]);
  for (const name of ['fetch', 'now', 'random', 'sleep'] as const) checkFunction(name, options[name]);
  return {
    ...integers(options, { timeoutMs: 120_000, maxAttempts: 5, maxAnswerBytes: 10 * MIB }),
    apiKey,
    redact: createRedact(apiKey),
    baseUrl: readBaseUrl(options.baseUrl),
    headerPrefix,
    limiter,
    // Read at each call, so that a global fetch that is replaced later is used.
    fetch: options.fetch ?? ((url: string, init: RequestInit) => globalThis.fetch(url, init)),
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    sleep: options.sleep ?? sleep,
  };
}

export type ReadyOptions = ReturnType<typeof readOptions>;

/** Checks the key. The messages say what is wrong with it and never quote it. */
function checkKey(key: unknown): void {
  if (typeof key !== 'string' || key === '') {
    const hint = 'Set the environment variable that it is read from.';
    throw new WebhookError('invalid_option', { message: 'apiKey must be given.', hint });
  }
  check(!/[\r\n]/.test(key), 'apiKey has a line break: trim it');
  check(/^[!-~]+$/.test(key), 'apiKey has a space, or a character that no header can hold');
  check(/[a-z0-9]/i.test(key), 'apiKey has no letter and no digit');
}

/** Returns the address without a slash at its end. */
function readBaseUrl(value: unknown): string {
  check(typeof value === 'string' && /^https?:\/\//i.test(value), 'baseUrl must begin with https://');
  const url = URL.canParse(value) ? new URL(value) : undefined;
  check(url !== undefined, 'baseUrl must be a URL');
  check(url.username === '' && url.password === '', 'baseUrl must not hold credentials: pass the key as apiKey');
  check(url.search === '' && url.hash === '', 'baseUrl must end with its path');
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    const message = `baseUrl ${url.origin} would send the API key unencrypted.`;
    const hint = `Use https://${url.host}: http:// is allowed for localhost, 127.0.0.0/8 and [::1] only.`;
    throw new WebhookError('invalid_option', { message, hint });
  }
  let path = url.pathname;
  while (path.endsWith('/')) path = path.slice(0, -1);
  return url.origin + path;
}

/** Returns whether a host name of a URL is a loopback address. A URL has IPv4 addresses in their usual form. */
function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
