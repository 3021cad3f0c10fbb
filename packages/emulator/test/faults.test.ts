import { sign, verify } from 'service-webhooks';
import { eventJson } from 'service-webhooks/testing';
import { type EmulatorOptions, FAULT_NAMES, type Faults } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { createFaults } from '../src/faults.js';
import { HOOK, START, startEmulator, startWithEndpoint } from './emulators.js';
import { startReceiver, startServer } from './receivers.js';

/** An emulator with these faults that has emitted one event to a receiver which acknowledges it. */
async function startWithFaults(faults: Faults, options: EmulatorOptions = {}) {
  const started = startWithEndpoint({ faults, ...options });
  started.receiver.status = 200;
  const { event } = await started.emulator.emit('stt.completed');
  const body = new TextEncoder().encode(eventJson(event));
  const ends = () => started.emulator.attempts.list().map(({ reason, endedAt }) => [reason, endedAt - START]);
  return { ...started, body, ends };
}

/** The same over HTTP. */
async function startOverHttp(faults: Faults, options: EmulatorOptions = {}) {
  const { emulator } = startEmulator({ allowLoopback: true, fetch: undefined, faults, ...options });
  const { url, arrived } = await startReceiver();
  const { signingSecret: secret } = emulator.endpoints.create({ url });
  await emulator.emit('stt.completed');
  return { emulator, arrived, secret };
}

describe('the emulator faults drop and delay', () => {
  it('a dropped request does not arrive, and its attempt times out after 20 s', async () => {
    const { emulator, receiver, ends } = await startWithFaults({ drop: { rate: 1, times: 1 } });
    await emulator.advance(20_000);
    expect([receiver.requests.length, ends()]).toEqual([0, [['timeout', 20_000]]]);
    expect(emulator.attempts.list()).toMatchObject([{ error: 'the request was lost', answer: undefined }]);
    await emulator.runUntilIdle();
    expect([receiver.requests.length, emulator.totals.delivered]).toEqual([1, 1]);
  });

  it.each([
    [19_000, '2xx', 19_000, undefined],
    [20_000, '2xx', 20_000, undefined],
    [20_001, 'timeout', 20_000, 'the answer came too late'],
  ])('an attempt whose answer is delayed by %i ms ends with the reason %s', async (ms, reason, endedAt, error) => {
    const { emulator, ends } = await startWithFaults({ delay: { rate: 1, ms } });
    await emulator.advance(ms);
    expect(ends()).toEqual([[reason, endedAt]]);
    expect(emulator.attempts.list()).toMatchObject([{ error, answer: { status: 200 } }]);
  });

  it('a request that is reset fails at once, without the delay', async () => {
    const { emulator, ends } = await startWithFaults({ delay: 1, reset: { rate: 1, at: 'answer' } });
    await emulator.settled();
    expect(ends()).toEqual([['connection_error', 0]]);
  });
});

describe('the emulator fault never', () => {
  it('a lost delivery is sent neither at once nor later, and the next one is delivered', async () => {
    const { emulator, receiver } = await startWithFaults({ never: { rate: 1, times: 1 } });
    await emulator.settled();
    await emulator.emit('stt.failed');
    await emulator.runUntilIdle();
    expect(receiver.requests).toHaveLength(1);
    expect(emulator.deliveries.list()).toMatchObject([
      { type: 'stt.completed', state: 'lost', attempts: 0, nextAt: undefined },
      { type: 'stt.failed', state: 'delivered', attempts: 1 },
    ]);
    expect(emulator.deliveries.list({ state: 'lost' })).toHaveLength(1);
    expect(emulator.attempts.list()).toMatchObject([{ type: 'stt.failed' }]);
    expect(emulator.totals).toMatchObject({ deliveries: 2, attempts: 1, lost: 1, delivered: 1, dead: 0 });
  });

  it('emit returns a lost delivery as lost, also one to a paused endpoint, and its endpoint stays as it was', async () => {
    const { emulator, id } = startWithEndpoint({ faults: { never: 1 } });
    emulator.endpoints.pause(id);
    const { deliveries } = await emulator.emit('stt.completed');
    expect(deliveries).toMatchObject([{ state: 'lost', attempts: 0 }]);
    emulator.endpoints.enable(id);
    await emulator.runUntilIdle();
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'lost' }]);
    expect(emulator.endpoints.get(id)).toMatchObject({ state: 'active', deadInARow: 0 });
  });

  it('a lost test event is not sent', async () => {
    const { emulator, receiver, id } = startWithEndpoint({ faults: { never: 1 } });
    expect(await emulator.sendTest(id)).toMatchObject({ state: 'lost', test: true });
    await emulator.runUntilIdle();
    expect(receiver.requests).toEqual([]);
  });

  it('a lost delivery that is redelivered is a normal delivery, with its retries', async () => {
    const { emulator, receiver } = await startWithFaults({ never: 1 });
    const [{ id } = expect.unreachable()] = emulator.deliveries.list();
    receiver.status = 500;
    expect(emulator.deliveries.redeliver(id)).toMatchObject({ state: 'sending', attempts: 1, redeliveries: 1 });
    await emulator.settled();
    receiver.status = 200;
    await emulator.runUntilIdle();
    expect(emulator.attempts.list()).toMatchObject([
      { number: 1, redelivery: 1, faults: [], state: 'waiting' },
      { number: 2, redelivery: 1, faults: [], state: 'delivered' },
    ]);
    expect(emulator.totals).toMatchObject({ lost: 1, delivered: 1 });
    expect(() => emulator.deliveries.redeliver(id)).toThrow('is not dead or lost');
  });

  it('lost deliveries are not pending, and as many are kept as of the dead ones', async () => {
    const { emulator } = startWithEndpoint({ faults: { never: 1 }, maxPending: 1, keep: { dead: 2 } });
    for (const id of ['evt_a', 'evt_b', 'evt_c']) await emulator.emit('stt.completed', { id });
    expect(emulator.deliveries.list().map(({ eventId }) => eventId)).toEqual(['evt_b', 'evt_c']);
    expect(emulator.totals.lost).toBe(3);
  });
});

describe('the emulator faults duplicate and reorder', () => {
  it.each([0, 1_500])('a duplicate after %i ms is the same request, and the first answer counts', async (afterMs) => {
    let n = 0;
    const fetch = () => new Response(null, { status: n++ === 0 ? 200 : 500 });
    const { emulator } = await startWithFaults({ duplicate: { rate: 1, afterMs } }, { fetch });
    await (afterMs === 0 ? emulator.settled() : emulator.runUntilIdle());
    const attempts = emulator.attempts.list();
    expect(attempts).toMatchObject([
      { duplicate: false, number: 1, at: START, outcome: 'acknowledged' },
      { duplicate: true, number: 1, at: START + afterMs, outcome: 'failed' },
    ]);
    expect(attempts[1]?.request).toEqual(attempts[0]?.request);
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
    expect(emulator.totals).toMatchObject({ attempts: 2, duplicates: 1, acknowledged: 1, failed: 1, delivered: 1 });
  });

  it('reorder signs the request for the time when it is sent, not when it was due', async () => {
    const { emulator, receiver, body, secret } = await startWithFaults({ reorder: { rate: 1, withinMs: 60_000 } });
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'sending', attempts: 1 }]);
    expect(receiver.requests).toHaveLength(0);
    await emulator.runUntilIdle();
    const [{ at, request } = expect.unreachable()] = emulator.attempts.list();
    expect(at).toBe(emulator.now());
    expect(at).toBeGreaterThan(START + 1_000);
    expect(request.headers).toMatchObject(sign({ body, secret, at }));
  });

  it('reorder lets later events arrive before earlier ones', async () => {
    const { emulator } = await startWithFaults({ reorder: { rate: 1, withinMs: 60_000 } });
    for (let i = 0; i < 9; i += 1) await emulator.emit('stt.completed', { id: `evt_${i}` });
    await emulator.runUntilIdle();
    const ids = emulator.attempts.list().map(({ eventId }) => eventId);
    expect([ids.length, new Set(ids).size]).toEqual([10, 10]);
    expect(ids).not.toEqual([...ids].sort());
  });
});

describe('the emulator faults truncate and corrupt', () => {
  it.each(['truncate', 'corrupt'] as const)(
    '%s changes the body and leaves the signature of the original body',
    async (name) => {
      const { emulator, body, secret } = await startWithFaults({ [name]: 1 });
      await emulator.settled();
      const { request } = emulator.attempts.list()[0] ?? expect.unreachable();
      expect(request.body).not.toEqual(body);
      expect(request.headers).toMatchObject(sign({ body, secret, at: START }));
      expect(() => verify({ ...request, secret, now: emulator.now })).toThrow('signature_mismatch');
    },
  );

  it('truncate sets Content-Length to the shortened body', async () => {
    const { emulator, arrived } = await startOverHttp({ truncate: 1 });
    await emulator.settled();
    const { request } = emulator.attempts.list()[0] ?? expect.unreachable();
    expect(arrived).toMatchObject([{ headers: { 'content-length': String(request.body.length) } }]);
    expect(new Uint8Array(arrived[0]?.body ?? [])).toEqual(request.body);
  });
});

describe('the emulator fault slowBody', () => {
  it('the complete body arrives in pieces', async () => {
    const { emulator, arrived, secret } = await startOverHttp({ slowBody: { rate: 1, ms: 8_000, pieces: 4 } });
    await emulator.runUntilIdle();
    const { headers, body } = arrived[0] ?? expect.unreachable();
    expect(verify({ headers, body, secret, now: emulator.now }).event.type).toBe('stt.completed');
    expect(emulator.attempts.list()).toMatchObject([{ reason: '2xx', endedAt: START + 8_000 }]);
  });

  it('a body that takes longer than 20 s times out', async () => {
    const { emulator } = await startOverHttp({ slowBody: { rate: 1, ms: 40_000 } });
    await emulator.advance(20_000);
    expect(emulator.attempts.list()).toMatchObject([{ reason: 'timeout', endedAt: START + 20_000 }]);
  });

  it('a slow body and its answer have 20 s in total', async () => {
    const fetch = (request: Request) => request.text().then(() => new Promise<never>(() => {}));
    const { emulator, ends } = await startWithFaults({ slowBody: { rate: 1, ms: 15_000 } }, { fetch, hangAfterMs: 50 });
    await emulator.advance(20_000);
    expect(ends()).toEqual([['timeout', 20_000]]);
  });

  it('an answer that arrives while the body is still being sent counts', async () => {
    const fetch = (request: Request) => {
      request.text().catch(() => {});
      return new Response(null, { status: 401 });
    };
    const faults = { slowBody: { rate: 1, ms: 15_000, pieces: 1 }, delay: { rate: 1, ms: 10 } };
    const { emulator, ends } = await startWithFaults(faults, { fetch });
    await new Promise((resolve) => setImmediate(resolve));
    await emulator.advance(10);
    expect(ends()).toEqual([['non-2xx', 10]]);
  });

  it('an answer over HTTP that arrives while the body is still being sent counts', async () => {
    const faults = { slowBody: { rate: 1, ms: 200, pieces: 2 }, delay: { rate: 1, ms: 10 } };
    const { emulator } = startEmulator({
      allowLoopback: true,
      clock: 'real',
      startAt: undefined,
      fetch: undefined,
      faults,
    });
    emulator.endpoints.create({ url: await startServer((_, response) => response.writeHead(401).end()) });
    await emulator.emit('stt.completed');
    const { value } = await emulator.attempts[Symbol.asyncIterator]().next();
    expect(value).toMatchObject({ reason: 'non-2xx', answer: { status: 401 } });
    await emulator.settled();
  });
});

describe('the emulator fault reset', () => {
  it.each([
    ['request', 0, undefined],
    ['answer', 1, { status: 200 }],
  ] as const)(
    'a reset at the %s is a connection error, and %i whole requests have arrived',
    async (at, count, answer) => {
      const { emulator, arrived } = await startOverHttp({ reset: { rate: 1, at } });
      await emulator.settled();
      expect(emulator.attempts.list()).toMatchObject([{ reason: 'connection_error', answer }]);
      if (at === 'answer') expect(arrived).toHaveLength(count);
    },
  );
});

describe('emulator attempts with a fault', () => {
  it.each(FAULT_NAMES.filter((name) => name !== 'never'))(
    'an attempt that was struck lists the fault %s',
    async (name) => {
      const fetch = async (request: Request) => new Response(await request.text().catch(() => ''));
      const { emulator } = await startWithFaults({ [name]: 1 }, { fetch });
      await emulator.advance(25_000);
      expect(emulator.attempts.list()[0]?.faults).toEqual([name]);
    },
  );

  it.each(['a', 'b'])('the seed %s gives each delivery, redelivery and attempt number its own faults', async (seed) => {
    const faults = { corrupt: 0.5, reset: 0.5 };
    const { emulator } = startEmulator({ seed, faults });
    for (let i = 0; i < 2; i += 1) emulator.endpoints.create({ url: HOOK });
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    emulator.deliveries.redeliver(deliveries[1]?.id ?? '');
    await emulator.runUntilIdle();
    const { planOf } = createFaults(faults, seed);
    const places = emulator.attempts
      .list()
      .map(
        ({ deliveryId, redelivery, number }) => [deliveryId === deliveries[0]?.id ? 1 : 2, redelivery, number] as const,
      );
    expect(places).toHaveLength(18);
    expect(emulator.attempts.list().map(({ faults }) => faults)).toEqual(places.map((place) => planOf(...place).names));
  });

  it('setFaults starts and ends faults while the emulator runs, with the same seed', async () => {
    const { emulator } = await startWithFaults({});
    await emulator.settled();
    for (const faults of [{ reset: 1, corrupt: 0.5 }, {}]) {
      emulator.setFaults(faults);
      await emulator.emit('stt.completed');
      await emulator.settled();
    }
    const attempts = emulator.attempts.list();
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['acknowledged', 'failed', 'acknowledged']);
    expect(attempts[1]?.faults).toEqual(createFaults({ reset: 1, corrupt: 0.5 }, 'emulator').planOf(2, 0, 1).names);
    expect(() => emulator.setFaults({ drop: 2 })).toThrow('faults.drop.rate must be from 0 to 1');
  });
});
