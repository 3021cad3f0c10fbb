import { describe, expect, it } from 'vitest';
import { createFirstBytes } from '../../src/wire/first-bytes.js';

/** The bytes of these chunks, up to the limit. */
function collect(limit: number, chunks: Iterable<Uint8Array>) {
  const first = createFirstBytes(limit);
  for (const chunk of chunks) first.append(chunk);
  expect(first.size).toBe(first.bytes().length);
  return first.bytes();
}

function* cut(whole: Uint8Array, size: number) {
  for (let i = 0; i < whole.length; i += size) yield whole.subarray(i, i + size);
}

describe("the emulator's createFirstBytes", () => {
  const whole = Uint8Array.from({ length: 20_000 }, (_, i) => i % 251);

  it.each([1, 7, 4_096, 5_000, 20_000])('the bytes are returned in order from chunks of %i bytes', (size) => {
    expect(collect(30_000, cut(whole, size))).toEqual(whole);
  });

  it.each([1, 7, 4_096, 20_000])('the bytes end at the limit with chunks of %i bytes', (size) => {
    expect(collect(10_001, cut(whole, size))).toEqual(whole.subarray(0, 10_001));
  });

  it('no chunk and empty chunks give no bytes', () => {
    expect(collect(10, [])).toHaveLength(0);
    expect(collect(10, [new Uint8Array(0), new Uint8Array(0)])).toHaveLength(0);
  });

  it('a later change of a chunk does not change the bytes', () => {
    const first = createFirstBytes(10);
    const chunk = Uint8Array.of(1);
    first.append(chunk);
    chunk[0] = 2;
    expect(first.bytes()).toEqual(Uint8Array.of(1));
  });

  it('bytes that were returned do not change when more are appended', () => {
    const first = createFirstBytes(10);
    first.append(Uint8Array.of(1));
    const before = first.bytes();
    first.append(Uint8Array.of(2));
    expect([before, first.bytes()]).toEqual([Uint8Array.of(1), Uint8Array.of(1, 2)]);
  });

  it('100,000 chunks take one buffer of at most twice their size, and at most the limit', () => {
    const chunks = [...cut(new Uint8Array(100_000), 1)];
    expect(collect(1_000_000, chunks).buffer.byteLength).toBeLessThanOrEqual(200_000);
    expect(collect(64 * 1024, chunks).buffer.byteLength).toBe(64 * 1024);
  });
});
