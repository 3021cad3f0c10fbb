/** A limit on the work that strangers can cause: by number and by bytes, in each time window. */
export interface RateCap {
  /** Counts one more request. Returns whether it fits; a request that does not fit is not counted. */
  take(bytes: number): boolean;
}

export interface RateCapOptions {
  count: number;
  bytes: number;
  windowMs: number;
  now: () => number;
}

/** Returns a cap whose window begins with the first request after the last window. */
export function createRateCap({ count, bytes, windowMs, now }: RateCapOptions): RateCap {
  let begun = Number.NEGATIVE_INFINITY;
  let taken = { count: 0, bytes: 0 };
  return {
    take(size) {
      if (Math.abs(now() - begun) >= windowMs) {
        begun = now();
        taken = { count: 0, bytes: 0 };
      }
      if (taken.count >= count || taken.bytes + size > bytes) return false;
      taken = { count: taken.count + 1, bytes: taken.bytes + size };
      return true;
    },
  };
}
