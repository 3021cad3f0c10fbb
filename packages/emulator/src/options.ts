import type { ConnectionOptions } from 'node:tls';
import { sign } from 'service-webhooks';
import {
  check,
  checkChoice,
  checkFunction,
  checkKnownOptions,
  checkObject,
  integers,
} from 'service-webhooks/option-checks';
import { ANSWER_TIMEOUT_MS } from 'service-webhooks/service';
import type { AccountSettings } from './api/accounts.js';
import type { Faults } from './faults.js';
import { LAST_INSTANT, MAX_TIMER_MS } from './time/clock.js';
import type { FetchReceiver } from './wire/fetch-transport.js';

/** Options of an emulator. An option given as undefined has its default. */
export interface EmulatorOptions {
  /**
   * `'virtual'`: time passes only when `advance` or `runUntilIdle` move it. `'real'`: time passes by itself. Default:
   * `'virtual'`.
   */
  clock?: 'virtual' | 'real' | undefined;
  /** Where a virtual clock starts, in milliseconds since the epoch. Default: the current time. */
  startAt?: number | undefined;
  /**
   * With a real clock: how many times faster the waits between attempts pass. Default: 1. Receivers keep their 20 s.
   */
  speed?: number | undefined;
  /** The seed of ids, secrets and faults. Default: a random seed, which `emulator.seed` returns. */
  seed?: string | number | undefined;
  /** The settings of the first account. Default: the plan Professional. */
  account?: AccountSettings | undefined;
  /** The first key of that account. Default: a new key. `emulator.apiKey` returns it. */
  apiKey?: string | undefined;
  /** Whether endpoints on the loopback addresses of this machine are allowed, also over http. Default: false. */
  allowLoopback?: boolean | undefined;
  /**
   * The prefix of the service's own header names. Default: `x-service`. API keys are then read from `service-api-key`.
   */
  headerPrefix?: string | undefined;
  /**
   * Whether each attempt has its own `timestamp` in the envelope. Default: false, so that all attempts have the same
   * body.
   */
  renewTimestamp?: boolean | undefined;
  /** The faults that occur in deliveries. Default: none. */
  faults?: Faults | undefined;
  /** A receiver in the same process, which is called instead of the network. */
  fetch?: FetchReceiver | undefined;
  /** TLS options for receivers on https, such as your own certificate authority. */
  tls?: ConnectionOptions | undefined;
  /** The number of requests to receivers that run at the same time. Default: 64. */
  concurrency?: number | undefined;
  /**
   * With a virtual clock: how long a receiver may take in real time before its 20 s count as passed, in milliseconds.
   * Default: 20 000.
   */
  hangAfterMs?: number | undefined;
  /** The number of deliveries that may be pending. Default: 100 000. Above that, `emit` rejects. */
  maxPending?: number | undefined;
  /** The number of finished attempts and deliveries that are kept. */
  keep?: KeepOptions | undefined;
  /**
   * The beginning of `doc_url`. Default: the address of the API. The HTTP server accepts its host in the Host header,
   * too.
   */
  baseUrl?: string | undefined;
  /** Addresses from which every request to the API is answered with `ip_blocked`. Default: none. */
  deniedIps?: readonly string[] | undefined;
  /** The largest body of a request to the API, in bytes. Default: 200 000 000. */
  maxBodyBytes?: number | undefined;
  /** How long the body of such a request may take to arrive, in real milliseconds. Default: 30 000. */
  bodyTimeoutMs?: number | undefined;
}

/**
 * Limits of the finished attempts and deliveries that are kept. The latest ones are kept, as many as fit in both
 * limits.
 */
export interface KeepOptions {
  /** The number of attempts. Default: 10 000. */
  attempts?: number | undefined;
  /** The number of delivered deliveries. Default: 1 000. */
  delivered?: number | undefined;
  /** The number of dead and lost deliveries, which can be redelivered while they are kept. Default: 10 000. */
  dead?: number | undefined;
  /** The memory for each of the three in bytes, bodies included. Default: 33 554 432 (32 MiB). */
  bytes?: number | undefined;
}

const OPTIONS: readonly (keyof EmulatorOptions)[] = [
  'clock',
  'startAt',
  'speed',
  'seed',
  'account',
  'apiKey',
  'allowLoopback',
  'headerPrefix',
  'renewTimestamp',
  'faults',
  'fetch',
  'tls',
  'concurrency',
  'hangAfterMs',
  'maxPending',
  'keep',
  'baseUrl',
  'deniedIps',
  'maxBodyBytes',
  'bodyTimeoutMs',
];

const KEEP_DEFAULTS = { attempts: 10_000, delivered: 1_000, dead: 10_000, bytes: 32 * 1024 * 1024 };

/** Checks the options and fills in the defaults. @throws WebhookError `invalid_option` */
export function readOptions(options: EmulatorOptions) {
  checkObject('options', options);
  checkKnownOptions('createEmulator', options, OPTIONS);
  const { clock = 'virtual', startAt = Date.now(), speed = 1, seed = crypto.randomUUID() } = options;
  const { headerPrefix = 'x-service', deniedIps = [], account = {}, faults = {}, keep = {}, baseUrl } = options;
  const { allowLoopback = false, renewTimestamp = false, fetch, tls, apiKey } = options;
  checkChoice('clock', clock, ['virtual', 'real']);
  const isInstant = Number.isInteger(startAt) && startAt >= 0 && startAt <= LAST_INSTANT;
  check(isInstant, 'startAt must be milliseconds since the epoch, before the year 10000');
  check(Number.isFinite(speed) && speed > 0, 'speed must be above 0');
  check(clock === 'real' || speed === 1, 'speed needs a real clock');
  check(['string', 'number'].includes(typeof seed), 'seed must be a string or a number');
  checkFunction('fetch', fetch);
  sign({ body: '', secret: 'any', headerPrefix }); // checks the prefix
  check(Array.isArray(deniedIps), 'deniedIps must be an array of addresses');
  check(baseUrl === undefined || URL.canParse(baseUrl), 'baseUrl must be like https://api.example');
  for (const [name, value] of Object.entries({ account, faults, keep })) checkObject(name, value);
  for (const [name, value] of Object.entries({ allowLoopback, renewTimestamp }))
    checkChoice(name, value, [true, false]);
  const numbers = integers(options, {
    concurrency: 64,
    hangAfterMs: ANSWER_TIMEOUT_MS,
    maxPending: 100_000,
    maxBodyBytes: 200_000_000,
    bodyTimeoutMs: 30_000,
  });
  for (const name of ['hangAfterMs', 'bodyTimeoutMs'] as const) {
    check(numbers[name] <= MAX_TIMER_MS, `${name} must be at most ${MAX_TIMER_MS}`);
  }
  checkKnownOptions('keep', keep, Object.keys(KEEP_DEFAULTS));
  return {
    ...numbers,
    startAt,
    speed: clock === 'real' ? speed : undefined,
    seed: String(seed),
    account,
    apiKey,
    allowLoopback,
    headerPrefix: headerPrefix.toLowerCase(),
    renewTimestamp,
    faults,
    fetch,
    tls,
    keep: integers(keep, KEEP_DEFAULTS),
    baseUrl: baseUrl?.replace(/\/+$/, ''),
    deniedIps,
  };
}
