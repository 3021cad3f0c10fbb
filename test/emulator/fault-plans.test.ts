import type { Faults } from 'service-webhooks/emulator';
import { describe, expect, it } from 'vitest';
import { createFaults } from '../../src/emulator/faults.js';
import { createRandom } from '../../src/emulator/random.js';

const BODY = Uint8Array.from({ length: 64 }, (_, n) => n);
const UNHARMED = {
  ...{ names: [], drop: false, delayMs: 0, duplicateAfterMs: undefined, holdMs: 0, slow: undefined, reset: undefined },
};

/** What goes wrong with the first attempts of so many deliveries. */
function plans(faults: Faults, count = 1, seed = 'seed') {
  const plan = createFaults(faults, seed);
  return Array.from({ length: count }, (_, n) => plan(n + 1, 0, 1));
}
const first = (faults: Faults) => plans(faults)[0] ?? expect.unreachable();
const struck = (found: ReturnType<typeof plans>) => found.map(({ names }) => names.join());

describe('what goes wrong with an attempt', () => {
  it('is nothing without faults', () => {
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
  ])('is what is said, and nothing else: %j', (faults, changes) => {
    const { damage, ...plan } = first(faults);
    expect(plan).toEqual({ ...UNHARMED, names: Object.keys(faults), ...changes });
    expect(damage(BODY)).toEqual(BODY);
  });

  it('is the end of the body that is missing, more or less of it', () => {
    const bodies = plans({ truncate: 1 }, 50).map(({ damage }) => damage(BODY));
    for (const body of bodies) expect(body).toEqual(BODY.subarray(0, body.length));
    const lengths = bodies.map(({ length }) => length);
    expect([Math.max(...lengths) < 64, Math.min(...lengths) < 16, Math.max(...lengths) > 48]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it('is one bit of the body, any of them, and the body itself stays as it is', () => {
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

  it('is nothing to a body that is empty', () => {
    const empty = new Uint8Array();
    expect(plans({ corrupt: 1, truncate: 1 }, 5).map(({ damage }) => damage(empty).length)).toEqual([0, 0, 0, 0, 0]);
  });

  it('is a whole number of milliseconds that it is held back, up to as many as are said', () => {
    for (const [faults, most] of [
      [{ reorder: 1 }, 1_000],
      [{ reorder: { rate: 1, withinMs: 40 } }, 40],
    ] as const) {
      const held = plans(faults, 100).map(({ holdMs }) => holdMs);
      expect(held.every((ms) => Number.isInteger(ms) && ms >= 0 && ms <= most)).toBe(true);
      expect([Math.min(...held) < most / 4, Math.max(...held) > (most * 3) / 4]).toEqual([true, true]);
    }
  });

  it('is a reset now in the request, now at the answer, about as often', () => {
    const inRequest = plans({ reset: 1 }, 200).filter(({ reset }) => reset === 'request').length;
    expect(inRequest).toBeGreaterThan(60);
    expect(inRequest).toBeLessThan(140);
  });

  it('is the same with every release, for a seed', () => {
    const found = plans({ reset: 1, reorder: 1, truncate: 1 }, 4);
    expect(found.map(({ reset, holdMs, damage }) => [reset, holdMs, damage(BODY).length])).toEqual([
      ['request', 996, 2],
      ['request', 868, 59],
      ['answer', 713, 59],
      ['request', 200, 54],
    ]);
  });

  it('can be several things at once, in the order of their names in the documentation', () => {
    const plan = first({ slowBody: 1, corrupt: 1, drop: 1 });
    expect(plan).toMatchObject({ names: ['drop', 'corrupt', 'slowBody'], drop: true });
  });
});

describe('how often something goes wrong', () => {
  it('is never, always, or about as often as is said', () => {
    expect(struck(plans({ drop: 0 }, 20)).filter(Boolean)).toHaveLength(0);
    expect(struck(plans({ drop: 1 }, 20)).filter(Boolean)).toHaveLength(20);
    const some = struck(plans({ drop: 0.25 }, 400)).filter(Boolean).length;
    expect(some).toBeGreaterThan(60);
    expect(some).toBeLessThan(140);
  });

  it('is no more often than so many times, the first ones', () => {
    expect(struck(plans({ drop: { rate: 1, times: 2 } }, 4))).toEqual(['drop', 'drop', '', '']);
    expect(struck(plans({ drop: { rate: 0, times: 2 } }, 4))).toEqual(['', '', '', '']);
  });

  it('is decided by the seed and the place of the attempt, by each part of it', () => {
    const faults: Faults = { drop: 0.5 };
    expect(struck(plans(faults, 50))).toEqual(struck(plans(faults, 50)));
    expect(struck(plans(faults, 50))).not.toEqual(struck(plans(faults, 50, 'other')));
    const plan = createFaults(faults, 'seed');
    const along = (place: (n: number) => readonly [number, number, number]) =>
      Array.from({ length: 50 }, (_, n) => plan(...place(n)).drop);
    const three = [along((n) => [n, 1, 1]), along((n) => [1, n, 1]), along((n) => [1, 1, n])];
    expect(new Set(three.map((found) => found.join())).size).toBe(3);
    for (const found of three) expect(new Set(found).size).toBe(2);
  });

  it('is decided by the number that is drawn for the place: below the rate it goes wrong', () => {
    const drawn = createRandom('seed').number('drop', 'whether', 1, 0, 1);
    expect([drawn, drawn + 2 ** -48].map((rate) => first({ drop: rate }).drop)).toEqual([false, true]);
  });

  it('is decided by a seed of its own where there is one', () => {
    const own: Faults = { drop: { rate: 0.5, seed: 7 } };
    expect(struck(plans(own, 50, 'a'))).toEqual(struck(plans(own, 50, 'b')));
    expect(struck(plans(own, 50))).toEqual(struck(plans({ drop: { rate: 0.5, seed: '7' } }, 50)));
    expect(struck(plans(own, 50))).not.toEqual(struck(plans({ drop: 0.5 }, 50)));
  });

  it('is decided for each fault on its own', () => {
    const both = plans({ drop: 0.5, corrupt: 0.5 }, 50);
    const drops = both.map(({ names }) => names.includes('drop'));
    expect(drops).not.toEqual(both.map(({ names }) => names.includes('corrupt')));
    expect(drops).toEqual(plans({ drop: 0.5 }, 50).map(({ drop }) => drop));
  });
});

describe('a fault', () => {
  it.each([
    [{ delay: { rate: 1, ms: 0 } }],
    [{ slowBody: { rate: 1, pieces: 1 } }],
    [{ drop: { rate: 0.5, seed: undefined, times: undefined } }],
    [{ drop: undefined }],
    [{ delay: { rate: 1, ms: undefined } }],
    [{ reset: { rate: 1, at: undefined } }],
  ])('may be %j', (faults) => {
    expect(() => createFaults(faults, 'seed')).not.toThrow();
  });

  it.each<[message: string, faults: unknown]>([
    ['faults must be an object', null],
    ['faults.dorp is no fault', { dorp: 1 }],
    ['faults.toString is no fault', { toString: 1 }],
    ['faults.corrupt.rate must be from 0 to 1', { corrupt: 1.1 }],
    ['faults.corrupt.rate must be from 0 to 1', { corrupt: -0.1 }],
    ['faults.corrupt.rate must be from 0 to 1', { corrupt: '1' }],
    ['faults.corrupt.rate must be from 0 to 1', { corrupt: null }],
    ['faults.corrupt.rate must be from 0 to 1', { corrupt: {} }],
    ['faults.drop.times must be a positive integer', { drop: { rate: 1, times: 0 } }],
    ['faults.delay.ms must be 0 or more', { delay: { rate: 1, ms: -1 } }],
    ['faults.delay.ms must be 0 or more', { delay: { rate: 1, ms: Number.POSITIVE_INFINITY } }],
    ['faults.delay.ms must be 0 or more', { delay: { rate: 1, ms: null } }],
    ['faults.duplicate.afterMs must be 0 or more', { duplicate: { rate: 1, afterMs: '1' } }],
    ['faults.reorder.withinMs must be 0 or more', { reorder: { rate: 1, withinMs: -1 } }],
    ['faults.slowBody.pieces must be a positive integer', { slowBody: { rate: 1, pieces: 0 } }],
    ['faults.slowBody.pieces must be a positive integer', { slowBody: { rate: 1, pieces: 1.5 } }],
    ['faults.reset.at must be request or answer', { reset: { rate: 1, at: 'end' } }],
  ])('%s: not %j', (message, faults) => {
    expect(() => createFaults(faults as Faults, 'seed')).toThrow(`invalid_option: ${message}`);
  });
});
