import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AttemptFilter, EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished } from 'vitest';
import { HOOK, startEmulator, startWithEndpoint } from './emulators.js';
import { startReceiver } from './receivers.js';

/** An emulator with an endpoint, and a function that makes that many attempts to it. */
function startAttempting(options: EmulatorOptions = {}) {
  const started = startWithEndpoint(options);
  const attempt = async (count: number, type = 'stt.completed') => {
    for (let i = 0; i < count; i += 1) {
      await started.emulator.emit(type);
      await started.emulator.settled();
    }
  };
  return { ...started, attempt };
}

describe('emulator.attempts.list', () => {
  it('an attempt in the list has its request, answer, times and reason', async () => {
    const { emulator } = startEmulator({ allowLoopback: true, startAt: 1_000, fetch: undefined });
    const { url, arrived } = await startReceiver((response) => response.writeHead(418, { 'x-a': 'b' }).end('tea'));
    const { id } = emulator.endpoints.create({ url });
    const { event, deliveries } = await emulator.emit('stt.completed');
    await emulator.settled();
    const [attempt] = emulator.attempts.list();
    expect(attempt).toEqual({
      seq: 1,
      deliveryId: deliveries[0]?.id,
      endpointId: id,
      eventId: event.id,
      type: 'stt.completed',
      number: 1,
      redelivery: 0,
      duplicate: false,
      at: 1_000,
      endedAt: 1_000,
      request: { method: 'POST', url, headers: expect.any(Object), body: new Uint8Array(arrived[0]?.body ?? []) },
      answer: { status: 418, headers: expect.objectContaining({ 'x-a': 'b' }), body: 'tea' },
      outcome: 'failed',
      reason: 'non-2xx',
      error: undefined,
      faults: [],
      state: 'waiting',
      nextAt: 31_000,
    });
    expect(arrived[0]?.headers).toMatchObject(attempt?.request.headers ?? {});
  });

  it('attempts can be filtered by delivery, endpoint and event', async () => {
    const { emulator, id } = startWithEndpoint();
    const { id: other } = emulator.endpoints.create({ url: HOOK, events: ['stt.failed'] });
    const { deliveries } = await emulator.emit('stt.failed', { id: 'evt_a' });
    await emulator.emit('stt.completed', { id: 'evt_b' });
    await emulator.runUntilIdle();
    const found = (filter: AttemptFilter) => emulator.attempts.list(filter).length;
    expect([found({}), found({ eventId: 'evt_a' }), found({ endpointId: id })]).toEqual([18, 12, 12]);
    expect([found({ deliveryId: deliveries[0]?.id }), found({ eventId: 'evt_a', endpointId: other })]).toEqual([6, 6]);
    expect([found({ eventId: 'evt_b', endpointId: other }), found({ endpointId: 'wh_other' })]).toEqual([0, 0]);
  });

  it('an unknown filter is refused', () => {
    const { attempts, deliveries } = startEmulator().emulator;
    expect(() => attempts.list({ state: 'dead' } as never)).toThrow(
      "Unknown option 'state' in attempts.list. It takes deliveryId, endpointId, eventId",
    );
    expect(() => deliveries.list({ status: 'dead' } as never)).toThrow(
      "Unknown option 'status' in deliveries.list. Did you mean 'state'?",
    );
    expect(() => attempts.list(null as never)).toThrow('filter must be an object');
    expect(() => deliveries.list(null as never)).toThrow('filter must be an object');
  });
});

describe('for await over emulator.attempts', () => {
  const iterate = (attempts: AsyncIterable<{ seq: number }>) => {
    const iterator = attempts[Symbol.asyncIterator]();
    const next = async (): Promise<number | undefined> => (await iterator.next()).value?.seq;
    return next;
  };

  it('each loop gets every attempt once, those made before it starts and those made after', async () => {
    const { emulator, attempt } = startAttempting();
    await attempt(1);
    const collect = async () => {
      const seen: number[] = [];
      for await (const { seq } of emulator.attempts) seen.push(seq);
      return seen;
    };
    const [one, two] = [collect(), collect()];
    await emulator.runUntilIdle();
    await emulator.close();
    expect([await one, await two]).toEqual([
      [1, 2, 3, 4, 5, 6],
      [1, 2, 3, 4, 5, 6],
    ]);
  });

  it('break ends a loop after the first attempt', async () => {
    const { emulator, attempt } = startAttempting();
    await attempt(2);
    for await (const { number } of emulator.attempts) {
      expect(number).toBe(1);
      break;
    }
  });

  it('a waiting iterator yields the next attempt', async () => {
    const { emulator, attempt } = startAttempting();
    const next = iterate(emulator.attempts);
    const first = next();
    await attempt(2);
    expect([await first, await next()]).toEqual([1, 2]);
  });

  it('the iterator continues with the oldest kept attempt after keep.attempts dropped some', async () => {
    const { emulator, attempt } = startAttempting({ keep: { attempts: 3 } });
    await attempt(3);
    const next = iterate(emulator.attempts);
    expect(await next()).toBe(1);
    await attempt(1);
    expect(await next()).toBe(2);
    await attempt(3);
    expect([await next(), await next(), await next()]).toEqual([5, 6, 7]);
  });

  it('the iterator continues although attempts after its last one were removed', async () => {
    const { emulator, id, attempt } = startAttempting();
    await attempt(2);
    emulator.endpoints.create({ url: HOOK, events: ['stt.failed'] });
    emulator.endpoints.update(id, { events: ['stt.completed'] });
    await attempt(1, 'stt.failed');
    const next = iterate(emulator.attempts);
    expect(await next()).toBe(1);
    emulator.endpoints.remove(id);
    expect(await next()).toBe(3);
  });

  it('after load() the iterator starts again at the first attempt of the loaded state', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { emulator, attempt } = startAttempting();
    await emulator.save(join(folder, 'state.json'));
    await attempt(2);
    const next = iterate(emulator.attempts);
    expect([await next(), await next()]).toEqual([1, 2]);
    await emulator.load(join(folder, 'state.json'));
    await attempt(1);
    expect(await next()).toBe(1);
    const second = next();
    await attempt(1);
    expect(await second).toBe(2);
  });

  it('after close() the iterator yields the remaining attempts and ends', async () => {
    const { emulator, attempt } = startAttempting();
    await attempt(2);
    const next = iterate(emulator.attempts);
    await emulator.close();
    expect([await next(), await next(), await next()]).toEqual([1, 2, undefined]);
  });

  it('waiting iterators end when the emulator is closed', async () => {
    const { emulator } = startAttempting();
    const ends = [iterate(emulator.attempts)(), iterate(emulator.attempts)()];
    await new Promise((resolve) => setImmediate(resolve));
    await emulator.close();
    expect(await Promise.all(ends)).toEqual([undefined, undefined]);
  });
});

describe("the emulator's option keep", () => {
  it('only the latest attempts are kept, as many as keep.attempts', async () => {
    const { emulator, attempt } = startAttempting({ keep: { attempts: 3 } });
    await attempt(1);
    await emulator.runUntilIdle();
    expect(emulator.attempts.list().map(({ number }) => number)).toEqual([4, 5, 6]);
    expect(emulator.totals.attempts).toBe(6);
  });

  it.each([
    ['attempts', 2_048 + 'done'.length],
    ['deliveries', 1_024],
  ] as const)('as many of the latest %s are kept as fit, with their bodies, in keep.bytes', async (name, overhead) => {
    /** What is kept of three deliveries of the same size. */
    const keptOfThree = async (bytes?: number) => {
      const { emulator, attempt } = startAttempting({ keep: { bytes }, fetch: () => new Response('done') });
      await attempt(3);
      return emulator;
    };
    const size = overhead + ((await keptOfThree()).attempts.list()[0]?.request.body.length ?? 0);
    expect((await keptOfThree(2 * size))[name].list()).toHaveLength(2);
    expect((await keptOfThree(2 * size - 1))[name].list()).toHaveLength(1);
  });

  it('every pending delivery is kept, and only the latest delivered and dead ones', async () => {
    const { emulator, receiver, attempt } = startAttempting({ keep: { delivered: 2, dead: 1 } });
    receiver.status = 200;
    await attempt(3);
    receiver.status = 500;
    await attempt(2);
    await emulator.runUntilIdle();
    await attempt(1);
    const states = emulator.deliveries.list().map(({ state }) => state);
    expect(states).toEqual(['delivered', 'delivered', 'dead', 'waiting']);
  });

  it('a redelivered delivery counts as recent from its second end, so an older one is dropped first', async () => {
    const { emulator } = startWithEndpoint({ keep: { dead: 2 } });
    const die = async (id: string) => {
      await emulator.emit('stt.completed', { id });
      await emulator.runUntilIdle();
    };
    const kept = () => emulator.deliveries.list().map(({ eventId }) => eventId);
    await die('evt_a');
    await die('evt_b');
    emulator.deliveries.redeliver(emulator.deliveries.list()[0]?.id ?? '');
    await emulator.runUntilIdle();
    expect(kept()).toEqual(['evt_a', 'evt_b']);
    await die('evt_c');
    expect(kept()).toEqual(['evt_a', 'evt_c']);
  });
});
