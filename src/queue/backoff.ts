/** How long a job that this version cannot read waits before a worker reads it again, in milliseconds. */
export const UNREADABLE_DELAY_MS = 60_000;

/** How long a job waits after a failure. */
export interface Backoff {
  /** The wait after the first failure, in milliseconds; it doubles with every further one. */
  backoffMs: number;
  /** The longest wait, in milliseconds. */
  maxBackoffMs: number;
}

/**
 * Returns the wait after a failed attempt, in milliseconds: between half and all of the doubled backoff, so that jobs
 * that failed together do not run together again.
 */
export function backoffAfter(attempt: number, { backoffMs, maxBackoffMs }: Backoff, random = Math.random): number {
  const longest = Math.min(maxBackoffMs, backoffMs * 2 ** Math.min(attempt - 1, 52));
  return Math.round(longest * (0.5 + random() / 2));
}
