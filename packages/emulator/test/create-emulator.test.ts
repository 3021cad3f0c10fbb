import { describe, expect, it } from 'vitest';
import { createWaitingReceiver, HOOK, startEmulator, startWithEndpoint } from './emulators.js';

describe('the seed of an emulator', () => {
  it('the same seed gives the same ids and secrets in another emulator', () => {
    const parts = (seed?: string) => {
      const { emulator } = startEmulator({ seed });
      const { apiKey, endpoints, accounts } = emulator;
      return { seed: emulator.seed, apiKey, endpoint: endpoints.create({ url: HOOK }), accounts: accounts.list() };
    };
    const one = parts('a');
    expect([one.seed, parts('a')]).toEqual(['a', one]);
    expect(parts('b').apiKey).not.toBe(one.apiKey);
    expect(parts().seed).not.toBe(parts().seed);
  });
});

describe('emulator.totals', () => {
  it('every emitted event is counted, also one without a subscribed endpoint', async () => {
    const { emulator, receiver } = startEmulator();
    receiver.status = 200;
    expect((await emulator.emit('stt.completed')).deliveries).toEqual([]);
    expect(emulator.totals).toMatchObject({ events: 1, deliveries: 0 });
    emulator.endpoints.create({ url: HOOK, events: ['stt.completed'] });
    emulator.endpoints.create({ url: HOOK, events: ['stt.completed', 'stt.failed'] });
    await emulator.emit('stt.completed');
    await emulator.emit('stt.failed');
    await emulator.settled();
    expect(emulator.totals).toMatchObject({ events: 3, deliveries: 3, attempts: 3, acknowledged: 3, delivered: 3 });
  });
});

describe('emulator.close', () => {
  it('a closed emulator sends nothing, and refuses every call that would start something', async () => {
    const { emulator, receiver, id } = startWithEndpoint();
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.pause(id);
    await emulator.emit('stt.completed');
    await emulator.close();
    emulator.endpoints.enable(id);
    await emulator.runUntilIdle();
    expect(receiver.requests).toHaveLength(1);
    for (const call of [() => emulator.emit('stt.completed'), () => emulator.sendTest(id), () => emulator.listen()]) {
      await expect(call()).rejects.toThrow('the emulator is closed');
    }
  });

  it('after close() a running attempt is not recorded, and a queued one is not sent', async () => {
    const { answers, fetch } = createWaitingReceiver();
    const { emulator } = startWithEndpoint({ fetch, concurrency: 1 });
    for (let i = 0; i < 2; i += 1) await emulator.emit('stt.completed');
    await emulator.close();
    answers[0]?.(new Response());
    await emulator.settled();
    expect([emulator.attempts.list(), answers.length]).toEqual([[], 1]);
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'sending' }, { state: 'sending' }]);
  });
});
