import { expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../src/base64.js';

it.each([0, 1, 2, 3, 32_767, 32_768, 32_769, 100_000])(
  '%i bytes are written as Node writes them, and read back',
  (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31) % 256);
    const text = toBase64(bytes);
    expect(text === Buffer.from(bytes).toString('base64')).toBe(true);
    expect(Buffer.compare(fromBase64(text), bytes)).toBe(0);
  },
);

it('a text that is not base64 is refused', () => {
  expect(() => fromBase64('*')).toThrow(DOMException);
});
