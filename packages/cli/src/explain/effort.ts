/** The limits of an explanation. */
export interface Effort {
  /** The largest number of bytes that are hashed. */
  maxHashedBytes: number;
  /** The longest search, in milliseconds of processor time. It ends after the form that is being tried. */
  maxMs: number;
  /** The largest result of a decompression, in bytes. */
  maxDecompressedBytes: number;
}

const MIB = 1024 * 1024;

/** The limits for a person who waits for one explanation: several seconds at most. */
export const FULL_EFFORT: Effort = { maxHashedBytes: 512 * MIB, maxMs: 10_000, maxDecompressedBytes: 16 * MIB };

/** The limits for a server that explains requests of anyone, while other requests wait. */
export const BRIEF_EFFORT: Effort = { maxHashedBytes: 16 * MIB, maxMs: 150, maxDecompressedBytes: MIB };

/** The rest of an {@link Effort}. */
export interface Budget {
  /** Subtracts the cost of one attempt. Returns whether the attempt is allowed. */
  take(bytes: number): boolean;
  /** Whether an attempt was denied. */
  readonly spent: boolean;
}

/** The fixed cost of one signature, as a number of hashed bytes. */
const OVERHEAD_BYTES = 32 * 1024;

/** Returns processor time, because a search by the clock would find fewer causes on a busy machine. */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

export function createBudget({ maxHashedBytes, maxMs }: Effort, now = processorMs): Budget {
  const end = now() + maxMs;
  let left = maxHashedBytes;
  return {
    get spent() {
      return left < 0;
    },
    take(bytes) {
      left = now() > end ? -1 : left - bytes - OVERHEAD_BYTES;
      return left >= 0;
    },
  };
}
