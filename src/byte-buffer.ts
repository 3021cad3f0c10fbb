/** Bytes that arrive in chunks, collected into one block that grows. */
export interface ByteBuffer {
  /** Returns the number of bytes in the buffer. */
  size(): number;
  append(chunk: Uint8Array): void;
  /** Returns the bytes so far, in an array of exactly their length. */
  bytes(): Uint8Array<ArrayBuffer>;
}

/**
 * Returns an empty buffer. Chunks are copied, because keeping them would cost an object for each and keep alive the
 * block that each one was cut from.
 */
export function createByteBuffer(): ByteBuffer {
  const MIN_BLOCK_BYTES = 4096;
  let block: Uint8Array<ArrayBuffer> | undefined;
  let size = 0;
  return {
    size: () => size,
    append(chunk) {
      const needed = size + chunk.length;
      if (block === undefined) {
        block = new Uint8Array(chunk); // most bodies are one chunk, so the first block has exactly its size
      } else {
        if (needed > block.length) block = enlarged(block, Math.max(needed, 2 * block.length, MIN_BLOCK_BYTES));
        block.set(chunk, size);
      }
      size = needed;
    },
    bytes() {
      if (block === undefined) return new Uint8Array(0);
      return size === block.length ? block : block.slice(0, size);
    },
  };
}

function enlarged(block: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(block);
  return larger;
}
