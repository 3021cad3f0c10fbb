import { check, checkChoice, checkFunction } from '../option-checks.js';
import { RETRY_HORIZON_MS } from '../service/schedule.js';
import { type HeaderNames, headerNames } from './header-names.js';

/** How signature headers are read. An option given as undefined has its default. */
export interface SignatureOptions {
  /** The prefix of the service's own header names, in either case. Default: `'x-service'`. */
  headerPrefix?: string | undefined;
  /**
   * How to treat a request that has only the legacy header. Default: `'reject'`. A legacy signature covers no time:
   * with `'accept'`, only {@link SignatureOptions.legacyMaxAgeSeconds} limits how long a captured delivery can be
   * replayed.
   */
  legacy?: 'reject' | 'accept' | undefined;
  /**
   * The largest age of the envelope's timestamp in a delivery with a legacy signature, in seconds. Default: 18 870 (the
   * service's last retry) plus `toleranceSeconds`. Raise it to redeliver older events manually.
   */
  legacyMaxAgeSeconds?: number | undefined;
  /** The largest difference between the signed time and now, past and future, in seconds. Default: 300. */
  toleranceSeconds?: number | undefined;
  /** The clock, in milliseconds since the epoch; read for verification only. Default: `Date.now`. */
  now?: (() => number) | undefined;
}

/** The names of {@link SignatureOptions}. */
export const SIGNATURE_OPTIONS = [
  'headerPrefix',
  'legacy',
  'legacyMaxAgeSeconds',
  'toleranceSeconds',
  'now',
] as const satisfies readonly (keyof SignatureOptions)[];

/** {@link SignatureOptions} that were checked, with their defaults. */
export interface SignaturePolicy {
  readonly names: HeaderNames;
  readonly legacy: 'reject' | 'accept';
  readonly legacyMaxAgeSeconds: number;
  readonly toleranceSeconds: number;
  readonly now: () => number;
}

/** @throws WebhookError `invalid_option` for anything that would weaken or disable the check */
export function signaturePolicy(options: SignatureOptions): SignaturePolicy {
  const { headerPrefix, legacy = 'reject', toleranceSeconds = 300, now = Date.now } = options;
  checkChoice('legacy', legacy, ['reject', 'accept']);
  checkSeconds('toleranceSeconds', toleranceSeconds);
  const { legacyMaxAgeSeconds = RETRY_HORIZON_MS / 1_000 + toleranceSeconds } = options;
  checkSeconds('legacyMaxAgeSeconds', legacyMaxAgeSeconds);
  checkFunction('now', now);
  return { names: headerNames(headerPrefix), legacy, legacyMaxAgeSeconds, toleranceSeconds, now };
}

function checkSeconds(name: string, value: unknown): void {
  check(Number.isFinite(value) && (value as number) > 0, `${name} must be a number of seconds above 0`);
}
