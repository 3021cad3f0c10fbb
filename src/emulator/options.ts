import type { ConnectionOptions } from 'node:tls';
import { check, checkChoice, checkFunction, checkObject, integers } from '../check.js';
import type { AccountSettings } from './api/accounts.js';
import type { Faults } from './faults.js';
import { LAST_INSTANT, LONGEST_TIMEOUT_MS } from './time/clock.js';
import type { FetchReceiver } from './wire/fetch-transport.js';

/** What an emulator is made of. An option given as undefined is its default. */
export interface EmulatorOptions {
  /**
   * `'virtual'`: time only passes when `advance` or `runUntilIdle` make it pass. `'real'`: it passes by itself.
   * `'virtual'`.
   */
  clock?: 'virtual' | 'real' | undefined;
  /** Where a virtual clock starts, in milliseconds since the epoch; now. */
  startAt?: number | undefined;
  /** With a real clock: how many times faster the waits between attempts pass; 1. Receivers have their full 20 s. */
  speed?: number | undefined;
  /** What ids, secrets and faults follow from; a random one, which `emulator.seed` tells. */
  seed?: string | number | undefined;
  /** Of the account that is there from the start; the plan Professional. */
  account?: AccountSettings | undefined;
  /** The key of that account which is there from the start; `emulator.apiKey` tells it. */
  apiKey?: string | undefined;
  /** Whether endpoints may be on the loopback addresses of this machine, over http as well; false. */
  allowLoopback?: boolean | undefined;
  /** What the names of the service's own headers begin with; `x-service`. The key is then in `service-api-key`. */
  headerPrefix?: string | undefined;
  /** Whether the envelope's `timestamp` is new on each attempt; false: all attempts have the same body. */
  renewTimestamp?: boolean | undefined;
  /** What goes wrong on the way to receivers. */
  faults?: Faults | undefined;
  /** Takes the deliveries in place of the network: a receiver in the same process. */
  fetch?: FetchReceiver | undefined;
  /** For receivers on https with a certificate authority of their own. */
  tls?: ConnectionOptions | undefined;
  /** How many receivers are waited for at once; 64. */
  concurrency?: number | undefined;
  /** With a virtual clock: a receiver that has really taken so long lets its 20 s pass; 20 000. */
  hangAfterMs?: number | undefined;
  /** How many deliveries may be going on; 100 000. `emit` rejects above that. */
  maxPending?: number | undefined;
  /** How much is kept of what has ended. */
  keep?: KeepOptions | undefined;
  /** What `doc_url` begins with; the address of the API. */
  baseUrl?: string | undefined;
  /** Addresses from which the API answers `ip_blocked`. */
  deniedIps?: readonly string[] | undefined;
  /** Largest body of a request to the API, in bytes; 200 MiB. */
  maxBodyBytes?: number | undefined;
  /** For how long a body of such a request is waited for, in real milliseconds; 30 000. */
  bodyTimeoutMs?: number | undefined;
}

/** The latest so many are kept, and of those what fits in the bytes. */
export interface KeepOptions {
  /** 10 000. */
  attempts?: number | undefined;
  /** Deliveries that have been delivered; 1 000. */
  delivered?: number | undefined;
  /** Dead deliveries, which can be redelivered as long as they are kept; 10 000. */
  dead?: number | undefined;
  /** For each of the three, bodies included; 32 MiB. */
  bytes?: number | undefined;
}

const MIB = 1024 * 1024;

/** {@link EmulatorOptions}, checked, with the defaults in place. @throws WebhookError `invalid_option` */
export function readOptions(options: EmulatorOptions) {
  checkObject('options', options);
  const { clock = 'virtual', startAt = Date.now(), speed = 1, seed = crypto.randomUUID() } = options;
  checkChoice('clock', clock, ['virtual', 'real']);
  const isInstant = Number.isInteger(startAt) && startAt >= 0 && startAt <= LAST_INSTANT;
  check(isInstant, 'startAt must be milliseconds since the epoch, before the year 10000');
  check(Number.isFinite(speed) && speed > 0, 'speed must be above 0');
  check(clock === 'real' || speed === 1, 'speed needs a real clock');
  check(['string', 'number'].includes(typeof seed), 'seed must be a string or a number');
  checkFunction('fetch', options.fetch);
  const { headerPrefix = 'x-service', deniedIps = [], account = {}, faults = {}, keep = {}, baseUrl } = options;
  const isPrefix = typeof headerPrefix === 'string' && /^[a-z0-9]+(-[a-z0-9]+)*$/i.test(headerPrefix);
  check(isPrefix, 'headerPrefix must be like x-service');
  check(Array.isArray(deniedIps), 'deniedIps must be an array of addresses');
  check(baseUrl === undefined || URL.canParse(baseUrl), 'baseUrl must be like https://api.example');
  for (const [name, value] of Object.entries({ account, faults, keep })) checkObject(name, value);
  const flags = { allowLoopback: options.allowLoopback ?? false, renewTimestamp: options.renewTimestamp ?? false };
  for (const [name, value] of Object.entries(flags)) checkChoice(name, value, [true, false]);
  const numbers = integers(options, {
    concurrency: 64,
    hangAfterMs: 20_000,
    maxPending: 100_000,
    maxBodyBytes: 200 * MIB,
    bodyTimeoutMs: 30_000,
  });
  for (const name of ['hangAfterMs', 'bodyTimeoutMs'] as const) {
    check(numbers[name] <= LONGEST_TIMEOUT_MS, `${name} must be at most ${LONGEST_TIMEOUT_MS}`);
  }
  return {
    ...options,
    ...numbers,
    ...flags,
    keep: integers(keep, { attempts: 10_000, delivered: 1_000, dead: 10_000, bytes: 32 * MIB }),
    startAt,
    speed: clock === 'real' ? speed : undefined,
    seed: String(seed),
    headerPrefix: headerPrefix.toLowerCase(),
    deniedIps,
    account,
    faults,
    baseUrl: baseUrl?.replace(/\/+$/, ''),
  };
}
