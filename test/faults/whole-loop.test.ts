import { createEmulator, type Emulator } from 'service-webhooks-emulator';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { isFull, SEED } from '../support/scale.js';
import { findSetups, storeSetup } from './backends.js';
import { buildReceivers } from './receivers.js';

const EVENTS = isFull ? 300 : 40;
const HOUR = 3_600_000;
/** The emulator's time is not that of the receivers, which are processes of their own. */
const toleranceSeconds = 365 * 24 * 3_600;

const memory = storeSetup({ name: 'memory', place: { kind: 'memory' }, stop: async () => {} });
const { stores, inboxes, stop } = await findSetups();
const receivers = await buildReceivers();

let emulator: Emulator;
afterEach(async () => {
  await emulator.close();
  await receivers.killAll();
});
afterAll(async () => {
  receivers.remove();
  memory.remove();
  await stop();
});

describe.each([memory, ...stores, ...inboxes])(
  'the sender and a receiver over $name, through faults, a kill and a pause',
  ({ task, effectsOf }) => {
    it(`every event is handled (seed ${SEED})`, async () => {
      emulator = createEmulator({
        allowLoopback: true,
        seed: SEED,
        concurrency: 8,
        faults: {
          drop: 0.03,
          delay: { rate: 0.05, ms: 25_000 },
          duplicate: { rate: 0.1, afterMs: 1_000 },
          reorder: { rate: 0.2, withinMs: 60_000 },
          truncate: 0.03,
          corrupt: 0.03,
          slowBody: 0.05,
          reset: 0.1,
        },
      });
      const begun = emulator.now();
      const { id, signingSecret: secret } = emulator.endpoints.create({ url: 'http://127.0.0.1:9/' });
      const start = async () => {
        const receiver = await receivers.start({ ...task, secret, toleranceSeconds, jitterMs: 5 });
        emulator.endpoints.update(id, { url: receiver.url });
        return receiver;
      };
      const emit = async (count: number) => {
        for (let i = 0; i < count; i += 1) await emulator.emit('generation.completed');
      };

      const victim = await start();
      const killed = vi
        .waitUntil(() => emulator.totals.attempts > EVENTS / 2, { interval: 1, timeout: 300_000 })
        .then(() => victim.kill());
      await emit(EVENTS);
      await emulator.advance(HOUR);
      await killed;

      // No receiver is there, and the sender gives up.
      await emit(20);
      await emulator.runUntilIdle();
      expect(emulator.endpoints.get(id)?.state).toBe('paused');
      expect(emulator.now() - begun).toBeGreaterThan(5 * HOUR);

      // An operator starts it again, enables the endpoint and has everything that is dead sent again. What was being
      // handled when it was killed is free when its lease is over, which is a matter of real time.
      await start();
      await vi.waitUntil(
        async () => {
          emulator.endpoints.enable(id);
          for (const { id: delivery } of emulator.deliveries.list({ state: 'dead' }))
            emulator.deliveries.redeliver(delivery);
          await emulator.runUntilIdle();
          return emulator.deliveries.list({ state: 'delivered' }).length === EVENTS + 20;
        },
        { interval: 250, timeout: 300_000 },
      );

      expect(emulator.endpoints.get(id)).toMatchObject({ state: 'active', deadInARow: 0 });
      expect(emulator.totals.duplicates).toBeGreaterThan(0);
      for (const { eventId } of emulator.deliveries.list()) {
        const attempts = emulator.attempts.list({ eventId });
        const interrupted = attempts.filter(({ error }) => error?.match(/ECONNRESET|hang up/)).length;
        const most = task.inbox ? 1 : task.place.kind === 'memory' ? 2 : 1 + interrupted;
        const effects = (await effectsOf(eventId)).length;
        const outcome = { eventId, effects, isRight: effects >= 1 && effects <= most };
        expect({ ...outcome, attempts: outcome.isRight ? [] : attempts }).toMatchObject({ isRight: true });
      }
    });
  },
);
