import type { Faults } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { createFaults } from '../src/faults.js';
import { createRandom } from '../src/random.js';

const BODY = Uint8Array.from({ length: 64 }, (_, n) => n);
const UNHARMED = {
  ...{ names: [], drop: false, delayMs: 0, duplicateAfterMs: undefined, holdMs: 0, slow: undefined, reset: undefined },
};

/** The plans of the first attempts of that many deliveries. */
function plans(faults: Faults, count = 1, seed = 'seed') {
  const { planOf } = createFaults(faults, seed);
  return Array.from({ length: count }, (_, n) => planOf(n + 1, 0, 1));
}
/** Which of that many deliveries are lost. */
function losses(faults: Faults, count: number, seed = 'seed') {
  const { loses } = createFaults(faults, seed);
  return Array.from({ length: count }, (_, n) => loses(n + 1));
}
const first = (faults: Faults) => plans(faults)[0] ?? expect.unreachable();
const struck = (found: ReturnType<typeof plans>) => found.map(({ names }) => names.join());

describe('createFaults of the emulator', () => {
  it('an attempt is unchanged without faults', () => {
    const { damage, ...plan } = first({});
    expect([plan, damage(BODY)]).toEqual([UNHARMED, BODY]);
  });

  it.each<[faults: Faults, changes: object]>([
    [{ drop: 1 }, { drop: true }],
    [{ delay: 1 }, { delayMs: 5_000 }],
    [{ delay: { rate: 1, ms: 7 } }, { delayMs: 7 }],
    [{ duplicate: 1 }, { duplicateAfterMs: 0 }],
    [{ duplicate: { rate: 1, afterMs: 7 } }, { duplicateAfterMs: 7 }],
    [{ slowBody: 1 }, { slow: { ms: 5_000, pieces: 8 } }],
    [{ slowBody: { rate: 1, ms: 7, pieces: 2 } }, { slow: { ms: 7, pieces: 2 } }],
    [{ reset: { rate: 1, at: 'request' } }, { reset: 'request' }],
    [{ reset: { rate: 1, at: 'answer' } }, { reset: 'answer' }],
  ])('the faults %j change the attempt in their own way and no other', (faults, changes) => {
    const { damage, ...plan } = first(faults);
    expect(plan).toEqual({ ...UNHARMED, names: Object.keys(faults), ...changes });
    expect(damage(BODY)).toEqual(BODY);
  });

  it('truncate cuts off the end of the body at a length that differs by attempt', () => {
    const bodies = plans({ truncate: 1 }, 50).map(({ damage }) => damage(BODY));
    for (const body of bodies) expect(body).toEqual(BODY.subarray(0, body.length));
    const lengths = bodies.map(({ length }) => length);
    const [least, most] = [Math.min(...lengths), Math.max(...lengths)];
    expect([least < 16, most > 48, most < 64]).toEqual([true, true, true]);
  });

  it('corrupt flips one bit, at any place, in a copy of the body', () => {
    const before = BODY.slice();
    const flipped = plans({ corrupt: 1 }, 200).map(({ damage }) => {
      const body = damage(BODY);
      const at = body.findIndex((byte, n) => byte !== BODY[n]);
      expect([...body].filter((byte, n) => byte !== BODY[n])).toHaveLength(1);
      return { at, bit: Math.log2((body[at] ?? 0) ^ (BODY[at] ?? 0)) };
    });
    expect(BODY).toEqual(before);
    expect(new Set(flipped.map(({ bit }) => bit))).toEqual(new Set([0, 1, 2, 3, 4, 5, 6, 7]));
    const places = flipped.map(({ at }) => at);
    expect([Math.min(...places) < 8, Math.max(...places) >= 56, Math.max(...places) < 64]).toEqual([true, true, true]);
  });

  it('an empty body stays empty under truncate and corrupt', () => {
    const empty = new Uint8Array();
    expect(plans({ corrupt: 1, truncate: 1 }, 5).map(({ damage }) => damage(empty).length)).toEqual([0, 0, 0, 0, 0]);
  });

  it('reorder holds an attempt back for a whole number of milliseconds up to withinMs', () => {
    for (const [faults, most] of [
      [{ reorder: 1 }, 1_000],
      [{ reorder: { rate: 1, withinMs: 40 } }, 40],
    ] as const) {
      const held = plans(faults, 100).map(({ holdMs }) => holdMs);
      expect(held.every((ms) => Number.isInteger(ms) && ms >= 0 && ms <= most)).toBe(true);
      expect([Math.min(...held) < most / 4, Math.max(...held) > (most * 3) / 4]).toEqual([true, true]);
    }
  });

  it('reset breaks the connection at the request and at the answer about equally often', () => {
    const inRequest = plans({ reset: 1 }, 200).filter(({ reset }) => reset === 'request').length;
    expect(Math.abs(inRequest - 100)).toBeLessThan(40);
  });

  it('the same seed gives the same faults in every release', () => {
    const found = plans({ reset: 1, reorder: 1, truncate: 1 }, 4);
    expect(found.map(({ reset, holdMs, damage }) => [reset, holdMs, damage(BODY).length])).toEqual([
      ['request', 996, 2],
      ['request', 868, 59],
      ['answer', 713, 59],
      ['request', 200, 54],
    ]);
  });

  it('an attempt lists its faults in the order of the documentation', () => {
    const plan = first({ slowBody: 1, corrupt: 1, drop: 1 });
    expect(plan).toMatchObject({ names: ['drop', 'corrupt', 'slowBody'], drop: true });
  });
});

describe('the rate of an emulator fault', () => {
  it('a rate of 0 strikes no attempt, 1 every attempt, and 0.25 about a quarter', () => {
    expect(struck(plans({ drop: 0 }, 20)).filter(Boolean)).toHaveLength(0);
    expect(struck(plans({ drop: 1 }, 20)).filter(Boolean)).toHaveLength(20);
    const some = struck(plans({ drop: 0.25 }, 400)).filter(Boolean).length;
    expect(Math.abs(some - 100)).toBeLessThan(40);
  });

  it('a fault with times: n strikes only the first n attempts', () => {
    expect(struck(plans({ drop: { rate: 1, times: 2 } }, 4))).toEqual(['drop', 'drop', '', '']);
    expect(struck(plans({ drop: { rate: 0, times: 2 } }, 4))).toEqual(['', '', '', '']);
  });

  it('whether a fault strikes depends on the seed, delivery, redelivery and attempt number', () => {
    const faults: Faults = { drop: 0.5 };
    expect(struck(plans(faults, 50))).toEqual(struck(plans(faults, 50)));
    expect(struck(plans(faults, 50))).not.toEqual(struck(plans(faults, 50, 'other')));
    const { planOf } = createFaults(faults, 'seed');
    const along = (place: (n: number) => readonly [number, number, number]) =>
      Array.from({ length: 50 }, (_, n) => planOf(...place(n)).drop);
    const three = [along((n) => [n, 1, 1]), along((n) => [1, n, 1]), along((n) => [1, 1, n])];
    expect(new Set(three.map((found) => found.join())).size).toBe(3);
    for (const found of three) expect(new Set(found).size).toBe(2);
  });

  it('a fault strikes an attempt whose random number is below the rate', () => {
    const drawn = createRandom('seed').number('drop', 'whether', 1, 0, 1);
    expect([drawn, drawn + 2 ** -48].map((rate) => first({ drop: rate }).drop)).toEqual([false, true]);
  });

  it('a fault with a seed of its own follows that seed', () => {
    const own: Faults = { drop: { rate: 0.5, seed: 7 } };
    expect(struck(plans(own, 50, 'a'))).toEqual(struck(plans(own, 50, 'b')));
    expect(struck(plans(own, 50))).toEqual(struck(plans({ drop: { rate: 0.5, seed: '7' } }, 50)));
    expect(struck(plans(own, 50))).not.toEqual(struck(plans({ drop: 0.5 }, 50)));
  });

  it('each fault is decided independently', () => {
    const both = plans({ drop: 0.5, corrupt: 0.5 }, 50);
    const drops = both.map(({ names }) => names.includes('drop'));
    expect(drops).not.toEqual(both.map(({ names }) => names.includes('corrupt')));
    expect(drops).toEqual(plans({ drop: 0.5 }, 50).map(({ drop }) => drop));
  });
});

describe('the emulator fault never', () => {
  it('loses the share of deliveries that its rate says, and the same ones for the same seed', () => {
    expect(losses({ never: 1 }, 3)).toEqual([true, true, true]);
    expect(losses({}, 3)).toEqual([false, false, false]);
    const some = losses({ never: 0.25 }, 400);
    expect(Math.abs(some.filter(Boolean).length - 100)).toBeLessThan(40);
    expect(losses({ never: 0.25 }, 400)).toEqual(some);
    expect(losses({ never: 0.25 }, 400, 'other')).not.toEqual(some);
    expect(losses({ never: { rate: 0.25, seed: 'seed' } }, 400, 'other')).toEqual(some);
  });

  it('loses no more deliveries than times says', () => {
    expect(losses({ never: { rate: 1, times: 2 } }, 4)).toEqual([true, true, false, false]);
  });

  it('is in the plan of no attempt', () => {
    expect(struck(plans({ never: 1, drop: 1 }))).toEqual(['drop']);
  });
});

describe('the settings of emulator faults', () => {
  it.each([
    [{ delay: { rate: 1, ms: 0 } }],
    [{ slowBody: { rate: 1, pieces: 1 } }],
    [{ drop: { rate: 0.5, seed: undefined, times: undefined } }],
    [{ drop: undefined }],
    [{ delay: { rate: 1, ms: undefined } }],
    [{ reset: { rate: 1, at: undefined } }],
  ])('the faults %j are accepted', (faults) => {
    expect(() => createFaults(faults, 'seed')).not.toThrow();
  });

  it.each<[message: string, faults: unknown]>([
    ['faults must be an object', null],
    ["Unknown option 'dorp' in faults. Did you mean 'drop'?", { dorp: 1 }],
    ["Unknown option 'dupliacte' in faults. Did you mean 'duplicate'?", { dupliacte: 1 }],
    ["Unknown option 'delay' in faults.delay. It takes rate, seed, times, ms", { delay: { rate: 1, delay: 9 } }],
    ["Unknown option 'at' in faults.drop. Did you mean 'rate'?", { drop: { rate: 1, at: 'answer' } }],
    ["Unknown option 'toString' in faults. It takes never, drop, delay", { toString: 1 }],
    ...[1.1, -0.1, Number.NaN, '1', null, {}].map((corrupt): [string, unknown] => [
      'faults.corrupt.rate must be from 0 to 1',
      { corrupt },
    ]),
    ['faults.never.rate must be from 0 to 1', { never: 2 }],
    ['faults.drop.times must be a positive integer', { drop: { rate: 1, times: 0 } }],
    ['faults.drop.times must be a positive integer', { drop: { rate: 1, times: 0.5 } }],
    ...[-1, Number.POSITIVE_INFINITY, null].map((ms): [string, unknown] => [
      'faults.delay.ms must be 0 or more',
      { delay: { rate: 1, ms } },
    ]),
    ['faults.duplicate.afterMs must be 0 or more', { duplicate: { rate: 1, afterMs: '1' } }],
    ['faults.reorder.withinMs must be 0 or more', { reorder: { rate: 1, withinMs: -1 } }],
    ['faults.slowBody.pieces must be a positive integer', { slowBody: { rate: 1, pieces: 0 } }],
    ['faults.slowBody.pieces must be a positive integer', { slowBody: { rate: 1, pieces: 1.5 } }],
    ['faults.reset.at must be request or answer', { reset: { rate: 1, at: 'end' } }],
  ])('the error "%s" is thrown for the faults %j', (message, faults) => {
    expect(() => createFaults(faults as Faults, 'seed')).toThrow(message);
  });
});
