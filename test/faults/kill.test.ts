import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { isFull, SEED } from '../support/scale.js';
import { findSetups, type Setup } from './backends.js';
import { pick, randomFrom } from './random.js';
import type { Point } from './receiver-process.js';
import { buildReceivers, type RunningReceiver } from './receivers.js';
import { anEventId, attempt, deliver, isAcknowledged } from './sender.js';

/** At each point, with so many deliveries there each time. */
const [KILLS, DELIVERIES] = isFull ? [3, 5] : [1, 2];
const RANDOM_KILLS = 10;

const { stores, inboxes, stop } = await findSetups();
const receivers = await buildReceivers();

afterEach(() => receivers.killAll());

afterAll(async () => {
  receivers.remove();
  await stop();
});

/** Kills a receiver with all of `count` deliveries at a point; then the sender goes on with another receiver. */
async function deliverThroughKill({ task }: Setup, stopAt: Point, survivor: RunningReceiver, count: number) {
  const ids = Array.from({ length: count }, anEventId);
  const victim = await receivers.start({ ...task, stopAt });
  const broken = ids.map((id) => attempt(victim.url, id));
  expect(await victim.stopped(count)).toBe(stopAt);
  await victim.kill();
  expect(await Promise.all(broken)).toEqual(ids.map(() => 'broken'));
  const answers = await Promise.all(ids.map((id) => deliver(() => survivor.url, id)));
  return ids.map((id, i) => ({ id, answers: answers[i] as string[] }));
}

/** The ordinary tests have one point, the one that tells stores and inboxes apart. */
const some = <T>(points: readonly T[], ordinary: T): readonly T[] => (isFull ? points : [ordinary]);

const AFTER_THE_EFFECT: [Point, number, string] = ['after the effect', 2, '200 handled'];

describe.each(stores)('a receiver over $name that is killed at a point', (setup) => {
  it.each<[Point, number, string]>(
    some(
      [
        ['claimed', 1, '200 handled'],
        ['in the handler', 1, '200 handled'],
        AFTER_THE_EFFECT,
        ['completed', 1, '200 duplicate'],
      ],
      AFTER_THE_EFFECT,
    ),
  )('after a kill at the point %s and a retry, an event has %i effects', async (point, effects, acknowledgement) => {
    const survivor = await receivers.start(setup.task);
    for (let kill = 0; kill < KILLS; kill += 1) {
      for (const { id, answers } of await deliverThroughKill(setup, point, survivor, DELIVERIES)) {
        expect(answers.at(-1)).toBe(acknowledgement);
        expect(new Set(answers.slice(0, -1))).toEqual(new Set(answers.length > 1 ? ['409 delivery_in_progress'] : []));
        expect(await setup.effectsOf(id)).toHaveLength(effects);
        expect(await attempt(survivor.url, id)).toBe('200 duplicate');
        expect(await setup.effectsOf(id)).toHaveLength(effects);
      }
    }
  });
});

describe.each(inboxes)('a receiver with $name that is killed at a point', (setup) => {
  it.each<Point>(some(['in the handler', 'claimed', 'after the effect', 'completed'], 'after the effect'))(
    'after a kill at the point %s and a retry, an event has exactly one effect',
    async (point) => {
      const survivor = await receivers.start(setup.task);
      // SQLite has one transaction at a time.
      const isAlone = setup.name === 'sqliteInbox' && (point === 'claimed' || point === 'after the effect');
      for (let kill = 0; kill < (isAlone && isFull ? 10 : KILLS); kill += 1) {
        for (const { id } of await deliverThroughKill(setup, point, survivor, isAlone ? 1 : DELIVERIES)) {
          expect(await setup.effectsOf(id)).toHaveLength(1);
          expect(await attempt(survivor.url, id)).toBe('200 handled');
          expect(await setup.effectsOf(id)).toHaveLength(1);
        }
      }
    },
  );
});

describe.each(isFull ? [...stores, ...inboxes] : [])('receivers over $name that are killed at any instant', (setup) => {
  it(`no event is lost, and only an event that a kill interrupted is handled twice (seed ${SEED})`, async () => {
    const random = randomFrom(SEED);
    const start = () => receivers.start({ ...setup.task, jitterMs: 5 });
    const running = [await start(), await start()];
    const urls = () => pick(random, running).url;
    const delivered: { id: string; answers: string[] }[] = [];
    let isKilling = true;

    const lane = async () => {
      while (isKilling) {
        const id = anEventId();
        const answers = await deliver(urls, id);
        expect(await setup.effectsOf(id)).not.toHaveLength(0); // at the moment of the 2xx
        delivered.push({ id, answers });
      }
    };
    const lanes = Array.from({ length: 8 }, lane);
    for (let kill = 0; kill < RANDOM_KILLS; kill += 1) {
      const goal = delivered.length + random() * 30;
      await vi.waitUntil(() => delivered.length >= goal, { interval: 1, timeout: 300_000 });
      const [victim] = running.splice(kill % 2, 1, await start());
      await victim?.kill();
    }
    isKilling = false;
    await Promise.all(lanes);

    expect(delivered.filter(({ answers }) => answers.includes('broken'))).not.toEqual([]);
    for (const { id, answers } of delivered) {
      const effects = (await setup.effectsOf(id)).length;
      const broken = setup.task.inbox ? 0 : answers.filter((answer) => answer === 'broken').length;
      expect({ id, answers, isRight: effects >= 1 && effects <= 1 + broken }).toMatchObject({ isRight: true });
      expect(answers.filter((answer) => !isAcknowledged(answer))).not.toContain('no answer in time');
    }
  });
});
