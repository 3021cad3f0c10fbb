import { WebhookError } from '../errors.js';
import type { SignaturePolicy } from './policy.js';

/** @throws WebhookError `timestamp_too_old`, `timestamp_in_future` for a signed time outside of the tolerance */
export function checkSignedTime(signedAt: number, now: number, { toleranceSeconds }: SignaturePolicy): void {
  checkAge(signedAt, now, toleranceSeconds, toleranceSeconds);
}

/**
 * Limits the age of a legacy delivery by its envelope timestamp, because its header has none.
 *
 * @throws WebhookError `timestamp_too_old`
 */
export function checkLegacyAge(timestamp: string, now: number, { legacyMaxAgeSeconds }: SignaturePolicy): void {
  // `Date.parse` reads a date and time without an offset as local time; the service sends UTC.
  const utc = /T[^Z+-]*$/.test(timestamp) ? `${timestamp}Z` : timestamp;
  checkAge(Date.parse(utc), now, legacyMaxAgeSeconds, Number.POSITIVE_INFINITY);
}

function checkAge(time: number, now: number, maxAgeSeconds: number, maxAheadSeconds: number): void {
  const age = Math.floor((now - time) / 1000);
  if (age <= maxAgeSeconds && -age <= maxAheadSeconds) return;
  // A clock that returns NaN is refused too, because nothing can be compared with it.
  if (age < 0) {
    throw new WebhookError('timestamp_in_future', {
      message: `The signed time is ${-age} s in the future (${maxAheadSeconds} s are allowed): the clock of this machine is slow.`,
    });
  }
  throw new WebhookError('timestamp_too_old', {
    message: `The signed time is ${age} s old (${maxAgeSeconds} s are allowed): the delivery was delayed or replayed, or the clock of this machine is fast.`,
  });
}
