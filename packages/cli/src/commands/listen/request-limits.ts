const MIB = 1024 * 1024;
/** The limit of all bodies that are not verified yet, or cannot be, in bytes: any sender can send them. */
export const UNVERIFIED_BODIES = 64 * MIB;
/**
 * The limits of bodies whose header is refused already, in bytes. They are read to find the cause, and counted apart, so
 * that they take no room from genuine deliveries.
 */
export const REFUSED_BODIES = { each: MIB, together: 16 * MIB };

/** A limit on the bytes of all bodies that are held at the same time. */
export interface BodyBudget {
  /** Begins the body of one more request. */
  open(): BodyShare;
}

/** The bytes of one body. */
export interface BodyShare {
  /** Counts bytes that have arrived. Returns whether they fit; bytes that do not fit are not counted. */
  take(bytes: number): boolean;
  /** Makes room for others: the body is no longer held, or it is verified. */
  release(): void;
}

export function createBodyBudget(maxBytes: number): BodyBudget {
  let held = 0;
  return {
    open() {
      let own = 0;
      return {
        take(bytes) {
          if (held + bytes > maxBytes) return false;
          held += bytes;
          own += bytes;
          return true;
        },
        release() {
          held -= own;
          own = 0;
        },
      };
    },
  };
}

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
