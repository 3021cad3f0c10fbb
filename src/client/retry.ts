import type { CallError } from './call-error.js';

/** The first wait is half of this up to this, in milliseconds, and each doubles the one before. */
const BASE_MS = 500;
const MAX_MS = 16_000;

/**
 * How long to wait before the request is sent again, in milliseconds; undefined where it must not be (specification,
 * section 7.3).
 *
 * @param repeatable whether sending it twice does the same as sending it once
 */
export function waitBeforeRetry(error: CallError, repeatable: boolean, random: () => number): number | undefined {
  const { retry, retryAfter, nothingDone, attempts } = error;
  if (retry !== 'now' && retry !== 'later') return undefined;
  if (!repeatable && !nothingDone) return undefined;
  const backoff = Math.min(MAX_MS, BASE_MS * 2 ** (attempts - 1)) * (0.5 + random() / 2);
  // The jitter comes on top, so that not everyone who waits for the same window is back in the same millisecond.
  return retryAfter === undefined ? backoff : Math.max(backoff, retryAfter * 1000 + random() * BASE_MS);
}

/** `Retry-After` in seconds: as the service sends it, or as the date that a proxy may send. */
export function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Number(value);
  const at = /^[a-z]{3}, /i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1000));
}
