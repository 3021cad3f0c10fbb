import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { startReceiver } from './receivers.js';

let emulator: Emulator;
afterEach(() => emulator.close());

function create(options: EmulatorOptions = {}) {
  emulator = createEmulator({ fetch: () => new Response('busy', { status: 503 }), ...options });
  return emulator.endpoints.create({ url: 'https://app.example/' });
}

describe('emulator.attempts', () => {
  it('an attempt has its request, answer, time and reason', async () => {
    emulator = createEmulator({ allowLoopback: true, startAt: 1_000, seed: 1 });
    const { url, arrived } = await startReceiver((response) => response.writeHead(418, { 'x-a': 'b' }).end('tea'));
    const { id } = emulator.endpoints.create({ url });
    const { event, deliveries } = await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.attempts.list()).toEqual([
      {
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
        request: { method: 'POST', url, headers: expect.any(Object), body: expect.any(Uint8Array) },
        answer: { status: 418, headers: expect.objectContaining({ 'x-a': 'b' }), body: 'tea' },
        outcome: 'failed',
        reason: 'non-2xx',
        error: undefined,
        faults: [],
        state: 'waiting',
        nextAt: 31_000,
      },
    ]);
    const { headers, body } = emulator.attempts.list()[0]?.request ?? { headers: {}, body: new Uint8Array() };
    expect(arrived[0]?.headers).toMatchObject(headers);
    expect(Buffer.from(body)).toEqual(arrived[0]?.body);
  });

  it('attempts are found by delivery, endpoint and event', async () => {
    const { id: endpointId } = create();
    const { deliveries } = await emulator.emit('stt.completed', { id: 'evt_a' });
    await emulator.emit('stt.completed', { id: 'evt_b' });
    await emulator.runUntilIdle();
    const { attempts } = emulator;
    expect(attempts.list({ eventId: 'evt_a' })).toHaveLength(6);
    expect(attempts.list({ deliveryId: deliveries[0]?.id })).toEqual(attempts.list({ eventId: 'evt_a' }));
    expect(attempts.list({ endpointId })).toHaveLength(12);
    expect(attempts.list({ endpointId: 'wh_other' })).toEqual([]);
  });
});

describe('the iterator of emulator.attempts', () => {
  it('each iterator yields every attempt once when it ends, and finishes when the emulator is closed', async () => {
    create();
    const collect = async () => {
      const seen: number[] = [];
      for await (const { seq } of emulator.attempts) seen.push(seq);
      return seen;
    };
    const [one, two] = [collect(), collect()];
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    await emulator.close();
    expect(await one).toEqual([1, 2, 3, 4, 5, 6]);
    expect(await two).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('a loop over the iterator can be left', async () => {
    create();
    await emulator.emit('stt.completed');
    for await (const { number } of emulator.attempts) {
      expect(number).toBe(1);
      break;
    }
  });

  it('the iterator continues after attempts that are no longer kept', async () => {
    create({ keep: { attempts: 2 } });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const iterator = emulator.attempts[Symbol.asyncIterator]();
    expect([(await iterator.next()).value?.seq, (await iterator.next()).value?.seq]).toEqual([5, 6]);
  });
});

describe('the option keep', () => {
  it('the emulator keeps the latest attempts', async () => {
    create({ keep: { attempts: 3 } });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.attempts.list().map(({ number }) => number)).toEqual([4, 5, 6]);
    expect(emulator.totals.attempts).toBe(6);
  });

  it('the kept attempts fit in keep.bytes', async () => {
    create({ keep: { bytes: 20_000 } });
    await emulator.emit('stt.completed', { data: { text: 'x'.repeat(7_000) } });
    await emulator.runUntilIdle();
    expect(emulator.attempts.list().map(({ number }) => number)).toEqual([5, 6]);
  });

  it('the emulator keeps all pending deliveries and the latest of the others', async () => {
    let code = 200;
    create({ keep: { delivered: 2, dead: 1 }, fetch: () => new Response(null, { status: code }) });
    for (const id of ['evt_1', 'evt_2', 'evt_3']) await emulator.emit('stt.completed', { id });
    await emulator.settled();
    code = 500;
    for (const id of ['evt_4', 'evt_5']) await emulator.emit('stt.completed', { id });
    await emulator.runUntilIdle();
    await emulator.emit('stt.completed', { id: 'evt_6' });
    await emulator.settled();
    const kept = emulator.deliveries.list().map(({ eventId, state }) => [eventId, state]);
    expect(kept).toEqual([
      ['evt_2', 'delivered'],
      ['evt_3', 'delivered'],
      ['evt_5', 'dead'],
      ['evt_6', 'waiting'],
    ]);
    expect(emulator.deliveries.list({ state: 'dead' })).toHaveLength(1);
  });

  it('emit rejects when too many deliveries are pending, and none is lost', async () => {
    create({ maxPending: 2 });
    await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    await expect(emulator.emit('stt.completed')).rejects.toThrow('maxPending: 2 deliveries are pending');
    await emulator.runUntilIdle();
    await emulator.emit('stt.completed');
    expect(emulator.totals.deliveries).toBe(3);
  });
});
