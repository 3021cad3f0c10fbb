import { describe, expect, it } from 'vitest';
import { fromSingleBytes, toSingleBytes, utf8Text } from '../../src/explain/encodings.js';

describe('bytes that explain decodes as text', () => {
  it('UTF-8 keeps its byte order mark, and other bytes are no text', () => {
    expect(utf8Text(Buffer.from('\ufeffcaf\u00e9'))).toBe('\ufeffcaf\u00e9');
    expect(utf8Text(Uint8Array.from([0x63, 0xe9]))).toBe(undefined);
  });

  it('a single-byte charset gives one character for each byte', () => {
    const bytes = Buffer.from([0x61, 0x7f, 0x80, 0x9f, 0xa0, 0xff]);
    expect(fromSingleBytes(bytes, 'latin1')).toBe('a\x7f\x80\x9f\xa0\xff');
    expect(fromSingleBytes(bytes, 'windows-1252')).toBe('a\x7f\u20ac\u0178\xa0\xff');
    expect(fromSingleBytes(Buffer.from([0x81]), 'windows-1252')).toBe('\x81');
  });
});

describe('text that explain encodes as bytes', () => {
  it('a single-byte charset gives one byte for each character', () => {
    expect(toSingleBytes('a\x80\xff', 'latin1')).toEqual(Buffer.from([0x61, 0x80, 0xff]));
    expect(toSingleBytes('a\u20ac\xff', 'windows-1252')).toEqual(Buffer.from([0x61, 0x80, 0xff]));
    expect(toSingleBytes('', 'latin1')).toEqual(Buffer.alloc(0));
  });

  it.each([
    ['\u20aca', 'latin1'],
    ['a\u20ac', 'latin1'],
    ['a\u0100', 'windows-1252'],
    ['\u{1f600}', 'windows-1252'],
    ['\x80', 'windows-1252'],
  ] as const)('%j cannot be written in %s', (text, charset) => {
    expect(toSingleBytes(text, charset)).toBe(undefined);
  });
});
