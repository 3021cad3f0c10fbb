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
