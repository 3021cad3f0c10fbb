import { describe, expect, it } from 'vitest';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { createEffectCounter } from '../../../src/commands/doctor/effect-counter.js';
import { createRequests } from '../../../src/commands/doctor/requests.js';
import { Failure } from '../../../src/failure.js';
import type { SendResult } from '../../../src/http/deliver.js';

const { good } = createRequests(SECRET, 'x-service');
const ok: SendResult = { status: 200, body: '', headers: {}, ms: 1 };

/** An app on a clock that only moves while the counter sleeps. */
function anApp({ waitMs = 5_000, answer = ok }: { waitMs?: number; answer?: SendResult } = {}) {
  let time = 0;
  const effects: { at: number; id: string }[] = [];
  const counted = (id: string): number =>
    effects.filter((one) => one.at <= time && (app.countsAll || one.id === id)).length;
  const app = {
    /** How long after its answer each delivery has its effect; undefined: none. The last is that of all others. */
    effectsAfter: [0] as (number | undefined)[],
    /** Counts the effects of all events. */
    countsAll: false,
    add: (ms: number, id = 'another') => void effects.push({ at: time + ms, id }),
    time: () => time,
    counter: createEffectCounter({
      observer: {
        count: async ({ id }: { id: string }): Promise<number> => counted(id),
        failure: (problem) => new Failure('usage', problem),
      },
      waitMs,
      now: () => time,
      async sleep(ms) {
        time += ms;
      },
    }),
    async send({ body }: { body: Uint8Array }) {
      const ms = app.effectsAfter.length > 1 ? app.effectsAfter.shift() : app.effectsAfter[0];
      if (ms !== undefined) app.add(ms, JSON.parse(Buffer.from(body).toString()).id);
      return answer;
    },
  };
  return app;
}

const twice = () => {
  const delivery = good();
  return [delivery, delivery.again({ attempt: 2 })];
};

describe('the count of effects by doctor', () => {
  it.each<[says: string, effectsAfter: (number | undefined)[], effects: number[]]>([
    ['an effect and no second one', [0, undefined], [1, 0]],
    ['an effect of each delivery', [0, 0], [1, 1]],
    ['a first effect that comes 4 s after its answer', [4_000, undefined], [1, 0]],
    ['a second effect that comes as late as the first', [4_000, 4_000], [1, 1]],
    ['a second effect within a second', [0, 900], [1, 1]],
    ['no effect', [undefined], [0, 0]],
  ])('%s is counted', async (_, effectsAfter, effects) => {
    const app = anApp();
    app.effectsAfter = effectsAfter;
    expect((await app.counter.inTurn(twice(), app.send)).effects).toEqual(effects);
  });

  it('an app whose effects are there with the answer is asked for a second only', async () => {
    const app = anApp();
    app.effectsAfter = [0, undefined];
    await app.counter.inTurn(twice(), app.send);
    expect(app.time()).toBeLessThan(3_000);
  });

  it('the wait for an effect ends after --observer-wait', async () => {
    const app = anApp({ waitMs: 60_000 });
    app.effectsAfter = [undefined];
    await app.counter.inTurn(twice(), app.send);
    expect(app.time()).toBeGreaterThanOrEqual(60_000);
    expect(app.time()).toBeLessThan(63_000);
  });

  it('an answer of 202 means that a second effect may come as late as --observer-wait', async () => {
    const app = anApp({ answer: { ...ok, status: 202 } as SendResult });
    app.effectsAfter = [0, 4_900];
    expect((await app.counter.inTurn(twice(), app.send)).effects).toEqual([1, 1]);
  });

  it('an answer of 202 to an earlier probe counts as well', async () => {
    const app = anApp();
    app.counter.saw([ok, { ...ok, status: 202 } as SendResult]);
    app.effectsAfter = [0, 4_900];
    expect((await app.counter.inTurn(twice(), app.send)).effects).toEqual([1, 1]);
  });

  it('the effects of earlier deliveries come to an end before a probe', async () => {
    const app = anApp();
    app.countsAll = true;
    app.effectsAfter = [0, undefined];
    for (const ms of [0, 600, 1_200, 1_800]) app.add(ms);
    expect((await app.counter.inTurn(twice(), app.send)).effects).toEqual([1, 0]);
  });

  it('each of two events is counted by its own id', async () => {
    const app = anApp();
    expect((await app.counter.inTurn([good(), good()], app.send)).effects).toEqual([1, 1]);
  });

  it('nothing is expected of a delivery that is refused, and the others are sent', async () => {
    const app = anApp({ answer: { ...ok, status: 500 } as SendResult });
    const { answers, effects } = await app.counter.inTurn(twice(), app.send);
    expect([answers.length, effects]).toEqual([2, undefined]);
    expect(await app.counter.atOnce(twice(), app.send)).toEqual({
      answers: [
        { ...ok, status: 500 },
        { ...ok, status: 500 },
      ],
    });
  });

  it.each<[says: string, effectsAfter: (number | undefined)[], effects: number[]]>([
    ['one effect', [0, undefined], [1, 0]],
    ['two effects', [0, 0], [1, 1]],
    ['a late second effect', [0, 900], [1, 1]],
    ['no effect', [undefined], [0, 0]],
  ])('%s of an event that is sent twice at once is counted', async (_, effectsAfter, effects) => {
    const app = anApp();
    app.effectsAfter = effectsAfter;
    expect((await app.counter.atOnce(twice(), app.send)).effects).toEqual(effects);
  });

  it('an app may have several effects for one event', async () => {
    const app = anApp();
    const sendAll = async (delivery: Parameters<typeof app.send>[0]) => {
      await app.send(delivery);
      return app.send(delivery);
    };
    app.effectsAfter = [0, 0, undefined];
    expect((await app.counter.inTurn(twice(), sendAll)).effects).toEqual([2, 0]);
    app.effectsAfter = [0, 0, undefined];
    expect((await app.counter.atOnce(twice(), sendAll)).effects).toEqual([2, 0]);
    app.effectsAfter = [0, 0, 0, undefined];
    expect((await app.counter.atOnce(twice(), sendAll)).effects).toEqual([2, 1]);
  });

  it('a number that goes up while nothing is sent is refused', async () => {
    const app = anApp();
    app.countsAll = true;
    for (let ms = 0; ms < 60_000; ms += 500) app.add(ms);
    await expect(app.counter.inTurn(twice(), app.send)).rejects.toThrow(
      /goes up while doctor sends nothing: from \d+ to/,
    );
  });

  it('a number that goes down is refused', async () => {
    const app = anApp();
    app.countsAll = true;
    app.add(0);
    const send = async () => {
      app.countsAll = false;
      return ok;
    };
    await expect(app.counter.inTurn(twice(), send)).rejects.toThrow('the number went down, from 1 to 0.');
  });
});
