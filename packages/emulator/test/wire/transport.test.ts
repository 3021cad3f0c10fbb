import { describe, expect, it } from 'vitest';
import { piecesOf, type WireRequest } from '../../src/wire/transport.js';

const wire: WireRequest = {
  url: 'https://app.example/',
  headers: {},
  body: Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9]),
  slow: undefined,
  reset: undefined,
};
const pieces = (changes: Partial<WireRequest>) =>
  [...piecesOf({ ...wire, ...changes })].map(({ afterMs, bytes }) => [afterMs, ...bytes]);

describe('piecesOf', () => {
  it('a body is sent in one piece at once', () => {
    expect(pieces({})).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
    expect(pieces({ reset: 'answer' })).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]]);
  });

  it('a slow body is sent completely in that many pieces over that time', () => {
    expect(pieces({ slow: { ms: 400, pieces: 4 } })).toEqual([
      [100, 1, 2, 3],
      [100, 4, 5, 6],
      [100, 7, 8, 9],
    ]);
    expect(pieces({ slow: { ms: 90, pieces: 9 } })).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((byte) => [10, byte]));
    expect(pieces({ slow: { ms: 90, pieces: 90 } })).toHaveLength(9);
  });

  it('half of the body is sent before a reset in the request', () => {
    expect(pieces({ reset: 'request' })).toEqual([[0, 1, 2, 3, 4]]);
    expect(pieces({ reset: 'request', slow: { ms: 20, pieces: 2 } })).toEqual([
      [10, 1, 2],
      [10, 3, 4],
    ]);
  });

  it('an empty body has no piece', () => {
    const body = new Uint8Array();
    expect(pieces({ body })).toEqual([]);
    expect(pieces({ body, slow: { ms: 20, pieces: 2 } })).toEqual([]);
  });
});
