import { describe, expect, it } from 'vitest';
import { createByteBuffer } from '../src/byte-buffer.js';

describe('a byte buffer', () => {
  it('the bytes are those of the chunks in order, whatever their sizes', () => {
    const whole = Uint8Array.from({ length: 20_000 }, (_, i) => i % 251);
    for (const size of [1, 7, 4_096, 5_000, 20_000]) {
      const buffer = createByteBuffer();
      for (let i = 0; i < whole.length; i += size) buffer.append(whole.subarray(i, i + size));
      expect(buffer.size()).toBe(whole.length);
      expect(buffer.bytes()).toEqual(whole);
    }
  });

  it('the result has exactly the size of the content', () => {
    const buffer = createByteBuffer();
    expect(buffer.bytes().buffer.byteLength).toBe(0);
    buffer.append(Uint8Array.of(1, 2, 3));
    expect(buffer.bytes().buffer.byteLength).toBe(3);
  });

  it('a later change of a chunk has no effect', () => {
    const buffer = createByteBuffer();
    const chunk = Uint8Array.of(1);
    buffer.append(chunk);
    chunk[0] = 2;
    expect(buffer.bytes()).toEqual(Uint8Array.of(1));
  });
});
