/** The first bytes of a stream that arrives in chunks. */
export interface FirstBytes {
  readonly size: number;
  /** Adds a chunk, without what is beyond the limit. */
  append(chunk: Uint8Array): void;
  /** Returns the bytes so far. */
  bytes(): Uint8Array<ArrayBuffer>;
}

/**
 * Collects the first bytes of a stream, `limit` at most. Chunks are copied into one block, because keeping them would cost
 * an object for each, and keep alive the block that each one was cut from.
 */
export function createFirstBytes(limit: number): FirstBytes {
  let block = new Uint8Array(0);
  let size = 0;
  return {
    get size() {
      return size;
    },
    append(chunk) {
      const added = chunk.subarray(0, limit - size);
      const needed = size + added.length;
      if (needed > block.length) {
        const larger = new Uint8Array(Math.min(limit, 2 * needed));
        larger.set(block);
        block = larger;
      }
      block.set(added, size);
      size = needed;
    },
    bytes: () => block.subarray(0, size),
  };
}
