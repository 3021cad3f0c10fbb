import { describe, expect, it } from 'vitest';
import { piecesOf, type WireRequest } from '../../src/wire/transport.js';

const BODY = Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9]);
const pieces = (changes: Partial<WireRequest>) =>
  [...piecesOf({ body: BODY, ...changes })].map(({ afterMs, bytes }) => [afterMs, ...bytes]);

describe('the pieces of a request body that the emulator sends', () => {
  it.each<[reset: WireRequest['reset'], slow: WireRequest['slow'], found: number[][]]>([
    [undefined, undefined, [[0, ...BODY]]],
    ['answer', undefined, [[0, ...BODY]]],
    ['request', undefined, [[0, 1, 2, 3, 4]]],
    [
      undefined,
      { ms: 300, pieces: 3 },
      [
        [100, 1, 2, 3],
        [100, 4, 5, 6],
        [100, 7, 8, 9],
      ],
    ],
    [
      undefined,
      { ms: 400, pieces: 4 },
      [
        [100, 1, 2, 3],
        [100, 4, 5, 6],
        [100, 7, 8, 9],
      ],
    ],
    [undefined, { ms: 90, pieces: 9 }, [...BODY].map((byte) => [10, byte])],
    [undefined, { ms: 900, pieces: 90 }, [...BODY].map((byte) => [10, byte])],
    [
      'request',
      { ms: 20, pieces: 2 },
      [
        [10, 1, 2],
        [10, 3, 4],
      ],
    ],
  ])('with the reset %s and the slow option %j, the pieces are %j', (reset, slow, found) => {
    expect(pieces({ reset, slow })).toEqual(found);
  });

  it('an empty body has no piece', () => {
    const body = new Uint8Array();
    expect([pieces({ body }), pieces({ body, slow: { ms: 20, pieces: 2 } })]).toEqual([[], []]);
  });
});
