import { sign, verify } from 'service-webhooks';
import {
  DELIVERY_TRANSITIONS,
  type DeliveryFilter,
  type EmulatorOptions,
  ENDPOINT_TRANSITIONS,
  RETRY_WAITS_MS,
} from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { createWaitingReceiver, HOOK, START, startEmulator, startWithEndpoint } from './emulators.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An emulator after the first attempt of one delivery. */
async function startWithAttempt(status: number, options: EmulatorOptions = {}) {
  const started = startWithEndpoint(options);
  started.receiver.status = status;
  const { event, deliveries } = await started.emulator.emit('stt.completed');
  await started.emulator.settled();
  return { ...started, event, delivery: deliveries[0]?.id ?? '' };
}

/** An emulator whose only delivery is dead. */
async function startWithDead(options: EmulatorOptions = {}) {
  const started = await startWithAttempt(500, options);
  await started.emulator.runUntilIdle();
  return started;
}

describe('the attempts of an emulator delivery', () => {
  it('attempts follow the schedule until the delivery is dead', async () => {
    const { emulator } = await startWithDead();
    const times = [0, 30_000, 2 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR].map((_, i, waits) =>
      waits.slice(0, i + 1).reduce((sum, ms) => sum + ms, START),
    );
    const attempts = emulator.attempts.list();
    expect(attempts.map(({ seq, number, at, nextAt, state }) => [seq, number, at, nextAt, state])).toEqual(
      times.map((at, i) => [i + 1, i + 1, at, times[i + 1], i < 5 ? 'waiting' : 'dead']),
    );
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'dead', attempts: 6, nextAt: undefined }]);
    expect(emulator.now() - START).toBe(RETRY_WAITS_MS.reduce((sum, ms) => sum + ms));
    expect(emulator.totals).toMatchObject({ attempts: 6, acknowledged: 0, failed: 6, delivered: 0, dead: 1 });
  });

  it('all attempts have the same key and body, and each its own number, time and signature', async () => {
    const { emulator, secret } = await startWithDead({ startAt: START + 345 });
    const attempts = emulator.attempts.list();
    const [first] = attempts;
    for (const [i, { request, at }] of attempts.entries()) {
      expect(request.body).toEqual(first?.request.body);
      expect(request.headers).toMatchObject({
        ...sign({ body: request.body, secret, at }),
        'x-service-timestamp': String(Math.floor(at / 1_000)),
        'x-service-attempt': String(i + 1),
        'idempotency-key': first?.request.headers['idempotency-key'],
      });
    }
    expect(new Set(attempts.map(({ request }) => request.headers['x-service-signature-v2'])).size).toBe(6);
  });

  it('with renewTimestamp, each attempt has and signs a timestamp of its own', async () => {
    const { emulator, secret, event } = await startWithAttempt(500, { renewTimestamp: true });
    await emulator.advance(30_000);
    const { headers, body } = emulator.attempts.list()[1]?.request ?? expect.unreachable();
    const { timestamp, ...rest } = verify({ headers, body, secret, now: emulator.now }).event;
    expect([event.timestamp, timestamp]).toEqual(['2026-07-11T09:00:00.000Z', '2026-07-11T09:00:30.000Z']);
    expect({ ...rest, timestamp: event.timestamp }).toEqual(event);
  });

  it('no attempt follows after the first 2xx answer', async () => {
    const { emulator, receiver } = await startWithAttempt(503);
    await emulator.advance(30_000);
    receiver.status = 204;
    await emulator.runUntilIdle();
    expect(emulator.attempts.list().map(({ reason }) => reason)).toEqual(['non-2xx', 'non-2xx', '2xx']);
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 3, nextAt: undefined }]);
    expect(emulator.totals).toMatchObject({ acknowledged: 1, failed: 2, delivered: 1, dead: 0 });
  });

  it.each([
    [200, 'delivered'],
    [299, 'delivered'],
    [300, 'waiting'],
    [304, 'waiting'],
    [307, 'waiting'],
    [400, 'waiting'],
    [599, 'waiting'],
  ])('after an answer with status %i, the delivery is %s', async (status, state) => {
    const { emulator } = await startWithAttempt(status);
    expect(emulator.deliveries.list()).toMatchObject([{ state, attempts: 1 }]);
  });

  it.each([
    ['an error', new Error('no way'), 'no way'],
    ['an error with a code alone', Object.assign(new Error(), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    ['text', 'nothing', 'nothing'],
    ['undefined', undefined, 'undefined'],
  ])(
    'an attempt whose fetch rejects with %s has the reason connection_error and a text of the error',
    async (_, cause, error) => {
      const { emulator } = await startWithAttempt(500, { fetch: () => Promise.reject(cause) });
      expect(emulator.attempts.list()).toMatchObject([{ reason: 'connection_error', error, outcome: 'failed' }]);
    },
  );
});

describe('emulator.deliveries.redeliver', () => {
  it('a dead delivery is sent again from attempt 1 with the same event, key and body', async () => {
    const { emulator, receiver, delivery } = await startWithDead();
    receiver.status = 200;
    const started = { state: 'sending', attempts: 1, redeliveries: 1 };
    expect(emulator.deliveries.redeliver(delivery)).toMatchObject(started);
    await emulator.settled();
    expect(emulator.deliveries.get(delivery)).toMatchObject({ ...started, state: 'delivered' });
    const attempts = emulator.attempts.list();
    const [first, last] = [attempts[0]?.request, attempts[6]?.request];
    expect(attempts[6]).toMatchObject({ number: 1, redelivery: 1 });
    expect(last?.body).toEqual(first?.body);
    expect(last?.headers).toMatchObject({
      'x-service-attempt': '1',
      'idempotency-key': first?.headers['idempotency-key'],
    });
  });

  it('only a dead delivery can be redelivered', async () => {
    const { emulator, receiver, delivery } = await startWithAttempt(500);
    const expectRefusal = (id: string) =>
      expect(() => emulator.deliveries.redeliver(id)).toThrow(`delivery ${id} is not dead or lost, or no longer kept`);
    expectRefusal('dlv_0');
    expectRefusal(delivery);
    receiver.status = 200;
    await emulator.runUntilIdle();
    expectRefusal(delivery);
  });

  it('a redelivery that dies counts toward the pause of its endpoint, and can be redelivered again', async () => {
    const { emulator, id, delivery } = await startWithDead();
    for (const round of [1, 2]) {
      emulator.deliveries.redeliver(delivery);
      await emulator.runUntilIdle();
      expect(emulator.deliveries.get(delivery)).toMatchObject({ state: 'dead', attempts: 6, redeliveries: round });
      expect(emulator.endpoints.get(id)?.deadInARow).toBe(1 + round);
    }
  });

  it('a redelivery waits while its endpoint is paused', async () => {
    const { emulator, receiver, id, delivery } = await startWithDead();
    emulator.endpoints.pause(id);
    expect(emulator.deliveries.redeliver(delivery)).toMatchObject({ state: 'waiting', attempts: 0 });
    receiver.status = 200;
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('redelivering throws after the emulator was closed', async () => {
    const { emulator, delivery } = await startWithDead();
    await emulator.close();
    expect(() => emulator.deliveries.redeliver(delivery)).toThrow('is not dead');
  });
});

describe('emulator.sendTest', () => {
  it('the event has the first type of the endpoint, or the given type', async () => {
    const { emulator } = startEmulator();
    const { id: endpointId } = emulator.endpoints.create({ url: HOOK, events: ['stt.failed', 'stt.completed'] });
    expect(await emulator.sendTest(endpointId)).toMatchObject({ type: 'stt.failed', test: true, endpointId });
    expect((await emulator.sendTest(endpointId, 'dubbing.failed')).type).toBe('dubbing.failed');
    await emulator.settled();
    expect(emulator.attempts.list().map(({ type }) => type)).toEqual(['stt.failed', 'dubbing.failed']);
  });

  it('a test event is sent once, also to a paused endpoint, and its failure does not count', async () => {
    const { emulator, receiver, id } = startWithEndpoint();
    emulator.endpoints.pause(id);
    const test = await emulator.sendTest(id);
    await emulator.runUntilIdle();
    expect(receiver.requests).toHaveLength(1);
    expect(emulator.deliveries.get(test.id)).toMatchObject({ state: 'dead', test: true, attempts: 1 });
    expect([emulator.endpoints.get(id)?.deadInARow, emulator.totals.dead]).toEqual([0, 1]);
  });

  it('a successful test event resets the count of dead deliveries, and a failed one does not', async () => {
    const { emulator, receiver, id } = await startWithDead();
    for (const [status, deadInARow] of [
      [500, 1],
      [200, 0],
    ] as const) {
      receiver.status = status;
      await emulator.sendTest(id);
      await emulator.settled();
      expect(emulator.endpoints.get(id)).toMatchObject({ deadInARow });
    }
  });

  it('a dead test event can be redelivered, and is sent once again', async () => {
    const { emulator, receiver, id } = startWithEndpoint();
    const test = await emulator.sendTest(id);
    await emulator.settled();
    emulator.deliveries.redeliver(test.id);
    await emulator.runUntilIdle();
    expect(receiver.requests).toHaveLength(2);
    expect(emulator.deliveries.get(test.id)).toMatchObject({ state: 'dead', attempts: 1, redeliveries: 1 });
  });

  it('an unknown type or endpoint is refused', async () => {
    const { emulator, id } = startWithEndpoint();
    await expect(emulator.sendTest(id, 'music.completed' as never)).rejects.toThrow('type must be');
    await expect(emulator.sendTest('wh_0')).rejects.toThrow('endpoint wh_0 does not exist');
  });
});

describe('emulator.deliveries', () => {
  it('deliveries can be filtered by id, state, endpoint and event', async () => {
    const { emulator, receiver } = startEmulator();
    const [one, two] = ['stt.completed', 'stt.failed'].map((type) =>
      emulator.endpoints.create({ url: HOOK, events: [type] }),
    );
    receiver.status = 200;
    await emulator.emit('stt.completed', { id: 'evt_a' });
    await emulator.settled();
    receiver.status = 500;
    await emulator.emit('stt.completed', { id: 'evt_b' });
    await emulator.emit('stt.failed', { id: 'evt_c' });
    await emulator.settled();
    const found = (filter?: DeliveryFilter) => emulator.deliveries.list(filter).map(({ eventId }) => eventId);
    expect(found()).toEqual(['evt_a', 'evt_b', 'evt_c']);
    expect(found({ state: 'delivered' })).toEqual(['evt_a']);
    expect(found({ endpointId: one?.id })).toEqual(['evt_a', 'evt_b']);
    expect(found({ eventId: 'evt_b' })).toEqual(['evt_b']);
    expect(found({ state: 'waiting', endpointId: two?.id })).toEqual(['evt_c']);
    expect(found({ eventId: 'evt_a', endpointId: two?.id })).toEqual([]);
    const [first] = emulator.deliveries.list();
    expect([emulator.deliveries.get(first?.id ?? ''), emulator.deliveries.get('dlv_0')]).toEqual([first, undefined]);
  });

  it('a listed delivery has its event, endpoint, state and the time of its next attempt', async () => {
    const { emulator, id, event, delivery } = await startWithAttempt(500);
    expect(emulator.deliveries.list()).toEqual([
      {
        id: delivery,
        eventId: event.id,
        type: 'stt.completed',
        jobId: event.jobId,
        endpointId: id,
        state: 'waiting',
        attempts: 1,
        redeliveries: 0,
        test: false,
        createdAt: START,
        nextAt: START + 30_000,
      },
    ]);
    expect(delivery).toMatch(/^dlv_/);
  });
});

describe('DELIVERY_TRANSITIONS and ENDPOINT_TRANSITIONS', () => {
  it('a delivery changes its state only as the table says', async () => {
    const seen: (string | undefined)[] = [];
    const { answers, fetch } = createWaitingReceiver();
    const { emulator, id } = startWithEndpoint({ fetch });
    const see = () => seen.push(emulator.deliveries.list()[0]?.state);
    /** Answers a running attempt, and notes the state of the delivery before and after it. */
    const answer = async (status: number) => {
      await expect.poll(() => answers.length).toBe(1);
      see();
      answers.pop()?.(new Response(null, { status }));
      await emulator.settled();
      see();
    };
    emulator.endpoints.pause(id);
    const { deliveries } = await emulator.emit('stt.completed');
    see();
    emulator.endpoints.enable(id);
    await answer(500);
    for (const ms of RETRY_WAITS_MS.filter((wait) => wait > 0)) {
      emulator.advance(ms);
      await answer(500);
    }
    emulator.endpoints.pause(id);
    emulator.deliveries.redeliver(deliveries[0]?.id ?? '');
    see();
    emulator.endpoints.enable(id);
    await answer(200);
    const moves = new Set(seen.slice(1).map((state, i) => `${seen[i]} ${state}`));
    const lossless = DELIVERY_TRANSITIONS.filter((row) => row.from !== 'lost' && row.to !== 'lost');
    expect(moves).toEqual(new Set(lossless.map(({ from, to }) => `${from} ${to}`)));
  });

  it('every state except delivered has a transition to another state', () => {
    const from = new Set(DELIVERY_TRANSITIONS.map((row) => row.from));
    const ends = DELIVERY_TRANSITIONS.map(({ to }) => to).filter((to) => !from.has(to as never));
    expect(ends).toEqual(['delivered']);
    expect(ENDPOINT_TRANSITIONS.map(({ from, to }) => `${from} ${to}`)).toContain('paused active');
  });

  it('no two rows of the table have the same state, cause and condition', () => {
    const choices = DELIVERY_TRANSITIONS.map(({ from, on, when }) => `${from}/${on}/${when}`);
    expect(new Set(choices).size).toBe(choices.length);
  });
});
