import { isEvent, sign, verify, verifySignature, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import {
  createEmulator,
  DELIVERY_TRANSITIONS,
  type Emulator,
  type EmulatorOptions,
  ENDPOINT_TRANSITIONS,
  PAUSE_AFTER_DEAD,
  RETRY_WAITS_MS,
} from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { type Arrived, startReceiver, status } from './receivers.js';

const START = Date.UTC(2026, 6, 11, 9);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const NOTHING: Arrived = { headers: {}, rawHeaders: [], body: Buffer.alloc(0) };

let emulator: Emulator;
afterEach(() => emulator.close());

function create(options: EmulatorOptions = {}): Emulator {
  emulator = createEmulator({ allowLoopback: true, startAt: START, seed: 'deliveries', ...options });
  return emulator;
}

const failing = () => startReceiver(status(500));

describe('emulator.emit', () => {
  it('an event is signed with the given secret of the endpoint', async () => {
    create();
    const receiver = await startReceiver();
    const made = emulator.endpoints.create({ url: receiver.url, signingSecret: 'of the receiver' });
    expect(made.signingSecret).toBe('of the receiver');
    const { event } = await emulator.emit('stt.completed');
    await emulator.settled();
    const [{ headers, body } = NOTHING] = receiver.arrived;
    expect(verify({ headers, body, secret: 'of the receiver', now: emulator.now }).event).toEqual(event);
    for (const signingSecret of ['', ' padded', 7 as never]) {
      const create = () => emulator.endpoints.create({ url: receiver.url, signingSecret });
      expect(create).toThrow(/invalid_secret|signingSecret must be a string/);
    }
    expect(emulator.endpoints.list()).toHaveLength(1);
  });

  it.each(WEBHOOK_EVENT_TYPES)('the event %s arrives with a valid signature', async (type) => {
    create();
    const receiver = await startReceiver();
    const { signingSecret: secret, id } = emulator.endpoints.create({ url: receiver.url, events: [type] });
    const { event } = await emulator.emit(type);
    await emulator.settled();
    const [{ headers, body } = NOTHING] = receiver.arrived;
    const verified = verify({ headers, body, secret, now: emulator.now });
    expect(verified.event).toEqual(event);
    expect(isEvent(verified.event, type)).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-timestamp': String(START / 1000),
      'x-service-webhook-id': id,
      'x-service-attempt': '1',
      'idempotency-key': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const legacy = { 'x-service-signature': headers['x-service-signature'] };
    expect(verifySignature({ headers: legacy, body, secret, legacy: 'accept' })).toMatchObject({ scheme: 'legacy' });
  });

  it('an event goes to every subscribed endpoint under one id, signed with the secret of each', async () => {
    create();
    const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()]);
    const [a, b] = receivers.map(({ url }, i) =>
      emulator.endpoints.create({ url, events: [i === 2 ? 'stt.failed' : 'stt.completed'] }),
    );
    const { event, deliveries } = await emulator.emit('stt.completed', { id: 'evt_fan' });
    await emulator.settled();
    expect(deliveries.map(({ endpointId }) => endpointId)).toEqual([a?.id, b?.id]);
    expect(receivers.map(({ arrived }) => arrived.length)).toEqual([1, 1, 0]);
    for (const [i, endpoint] of [a, b].entries()) {
      const [{ headers, body } = { headers: {}, body: '' }] = receivers[i]?.arrived ?? [];
      const secret = endpoint?.signingSecret ?? '';
      expect(verify({ headers, body, secret, now: emulator.now }).event.id).toBe(event.id);
    }
    expect(a?.signingSecret).not.toBe(b?.signingSecret);
  });

  it('an event of a future type reaches the endpoints that have subscribed to it', async () => {
    create();
    const { url, arrived } = await startReceiver();
    emulator.endpoints.create({ url, events: ['music.completed'] });
    await emulator.emit('music.completed', { jobId: 'song_1', data: { songId: 'song_1' } });
    await emulator.settled();
    expect(JSON.parse(String(arrived[0]?.body))).toMatchObject({ type: 'music.completed', data: { songId: 'song_1' } });
  });

  it('an event of another account does not arrive', async () => {
    create();
    const { url, arrived } = await startReceiver();
    emulator.endpoints.create({ url });
    const other = emulator.accounts.create();
    expect((await emulator.emit('stt.completed', {}, { account: other.id })).deliveries).toEqual([]);
    await emulator.settled();
    expect(arrived).toEqual([]);
  });

  it('header names are written as in the specification', async () => {
    create();
    const { url, arrived } = await startReceiver();
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(arrived[0]?.rawHeaders).toEqual(
      expect.arrayContaining(['X-Service-Signature-V2', 'X-Service-Attempt', 'Idempotency-Key', 'Content-Type']),
    );
  });
});

describe('attempts of a delivery', () => {
  it('attempts follow the schedule: at once, then after 30 s, 2 min, 10 min, 1 h and 4 h, then the delivery is dead', async () => {
    create();
    const { url } = await failing();
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const attempts = emulator.attempts.list();
    const waits = attempts.slice(1).map(({ at }, i) => at - (attempts[i]?.endedAt ?? 0));
    expect(waits).toEqual([30_000, 2 * MINUTE, 10 * MINUTE, HOUR, 4 * HOUR]);
    expect(attempts.map(({ state }) => state)).toEqual([...Array(5).fill('waiting'), 'dead']);
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'dead', attempts: 6, nextAt: undefined }]);
    expect(emulator.now() - START).toBe(RETRY_WAITS_MS.reduce((sum, ms) => sum + ms));
  });

  it('attempts have the same id, Idempotency-Key and body, a rising number and a time of their own', async () => {
    create();
    const { url, arrived } = await failing();
    const { signingSecret } = emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(6);
    expect(new Set(arrived.map(({ body }) => body.toString('hex'))).size).toBe(1);
    expect(new Set(arrived.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(arrived.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2', '3', '4', '5', '6']);
    const times = emulator.attempts.list().map(({ at }) => at);
    for (const [i, { headers, body }] of arrived.entries()) {
      const expected = sign({ body, secret: signingSecret, at: times[i] ?? 0 });
      expect(headers).toMatchObject({ ...expected, 'x-service-timestamp': String((times[i] ?? 0) / 1000) });
    }
    expect(new Set(arrived.map(({ headers }) => headers['x-service-signature-v2'])).size).toBe(6);
  });

  it('with renewTimestamp, attempts have a timestamp of their own in the envelope', async () => {
    create({ renewTimestamp: true });
    const { url, arrived } = await failing();
    const { signingSecret: secret } = emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.advance(30_000);
    await emulator.settled();
    const [first, second] = arrived.map(({ body }) => JSON.parse(body.toString()));
    expect([first.timestamp, second.timestamp]).toEqual(['2026-07-11T09:00:00.000Z', '2026-07-11T09:00:30.000Z']);
    expect({ ...second, timestamp: first.timestamp }).toEqual(first);
    const { headers, body } = arrived[1] ?? { headers: {}, body: '' };
    expect(verify({ headers, body, secret, now: emulator.now }).event.id).toBe(first.id);
  });

  it('attempts end with the first 2xx', async () => {
    create();
    const { url, arrived } = await startReceiver((response, _, n) => status(n < 4 ? 503 : 204)(response));
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(4);
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 4 }]);
    expect(emulator.attempts.list().map(({ reason }) => reason)).toEqual(['non-2xx', 'non-2xx', 'non-2xx', '2xx']);
  });

  it.each([
    [199 + 1, 'delivered'],
    [299, 'delivered'],
    [300, 'waiting'],
    [304, 'waiting'],
    [400, 'waiting'],
    [599, 'waiting'],
  ])('after the answer %i, the delivery is %s', async (code, state) => {
    create();
    const { url } = await startReceiver(status(code));
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.deliveries.list()[0]?.state).toBe(state);
  });

  it('attempts do not follow a redirect', async () => {
    create();
    const other = await startReceiver();
    const { url } = await startReceiver((response) => response.writeHead(307, { location: other.url }).end());
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(other.arrived).toEqual([]);
    expect(emulator.attempts.list()).toMatchObject([{ reason: 'non-2xx', answer: { status: 307 } }]);
  });
});

describe('endpoints', () => {
  async function withDead(count: number) {
    create();
    let code = 500;
    const receiver = await startReceiver((response) => status(code)(response));
    const { id } = emulator.endpoints.create({ url: receiver.url });
    for (let i = 0; i < count; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    return { ...receiver, id, answerWith: (changed: number) => (code = changed) };
  }
  const paused = (id: string) => emulator.endpoints.get(id)?.state === 'paused';

  it('20 consecutive dead deliveries pause an endpoint, and 19 do not', async () => {
    const nineteen = await withDead(PAUSE_AFTER_DEAD - 1);
    expect(emulator.endpoints.get(nineteen.id)).toMatchObject({ state: 'active', deadInARow: 19 });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.endpoints.get(nineteen.id)).toMatchObject({ state: 'paused', deadInARow: 20 });
  });

  it('each success restarts the count of dead deliveries', async () => {
    const { id, answerWith } = await withDead(19);
    answerWith(200);
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.endpoints.get(id)?.deadInARow).toBe(0);
    answerWith(500);
    for (let i = 0; i < 19; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(paused(id)).toBe(false);
  });

  it('a paused endpoint receives nothing until it is enabled, then the deliveries that were held back', async () => {
    const { id, arrived, answerWith } = await withDead(20);
    answerWith(200);
    const before = arrived.length;
    const { event } = await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(arrived.length).toBe(before);
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(arrived.slice(before).map(({ body }) => JSON.parse(body.toString()).id)).toEqual([event.id]);
    expect(emulator.endpoints.get(id)).toMatchObject({ state: 'active', deadInARow: 0 });
  });

  it('an endpoint that is paused between two attempts receives the second when it is enabled', async () => {
    create();
    const { url, arrived } = await startReceiver((response, _, n) => status(n === 1 ? 500 : 200)(response));
    const { id } = emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.pause(id);
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(1);
    emulator.endpoints.enable(id);
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(arrived.map(({ headers }) => headers['x-service-attempt'])).toEqual(['1', '2']);
  });

  it('a removed endpoint receives nothing, and its history is gone', async () => {
    create();
    const { url, arrived } = await failing();
    const { id } = emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.remove(id);
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(1);
    expect([emulator.endpoints.list(), emulator.deliveries.list(), emulator.attempts.list()]).toEqual([[], [], []]);
  });

  it('an endpoint keeps its secret when its URL changes', async () => {
    create();
    const [before, after] = [await startReceiver(), await startReceiver()];
    const { id, signingSecret: secret } = emulator.endpoints.create({ url: before.url });
    emulator.endpoints.update(id, { url: after.url, events: ['stt.failed'] });
    await emulator.emit('stt.failed');
    await emulator.settled();
    expect(before.arrived).toEqual([]);
    const { headers, body } = after.arrived[0] ?? { headers: {}, body: '' };
    expect(verify({ headers, body, secret, now: emulator.now }).event.type).toBe('stt.failed');
    expect(JSON.stringify(emulator.endpoints.list())).not.toContain(secret);
  });
});

describe('a paused endpoint', () => {
  /** An endpoint whose receiver always fails, and the requests that start while it is paused. */
  function createFailing(options: EmulatorOptions = {}) {
    const late: Request[] = [];
    create({
      fetch: (request) => {
        if (emulator.endpoints.get(id)?.state === 'paused') late.push(request);
        return new Response(null, { status: 500 });
      },
      ...options,
    });
    const { id } = emulator.endpoints.create({ url: 'https://app.example/' });
    return { id, late };
  }
  const states = () => emulator.deliveries.list().map(({ state, attempts }) => `${state} ${attempts}`);

  it.each([
    ['100 deliveries that are due together', 100, 64, 64],
    ['25 deliveries that are sent one by one', 25, 1, 20],
  ])('no request of %s starts after the pause', async (_, count, concurrency, dead) => {
    const { id, late } = createFailing({ concurrency });
    for (let i = 0; i < count; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect([emulator.endpoints.get(id)?.state, late]).toEqual(['paused', []]);
    expect(states()).toEqual([...Array(dead).fill('dead 6'), ...Array(count - dead).fill('waiting 5')]);
    expect(emulator.totals).toMatchObject({ attempts: 5 * count + dead, dead });
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(states()).toEqual(Array(count).fill('dead 6'));
  });

  it('no request over HTTP starts after the pause', async () => {
    create();
    const { url, arrived } = await failing();
    emulator.endpoints.create({ url });
    for (let i = 0; i < 100; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const last = arrived.filter(({ headers }) => headers['x-service-attempt'] === '6');
    expect(emulator.deliveries.list({ state: 'waiting' })).toHaveLength(100 - last.length);
    // At most the 64 that were running, and one for each of the 19 that ended before the pause.
    expect(last.length).toBeLessThanOrEqual(83);
  });

  it('a request that reorder holds back does not start after the pause', async () => {
    const { id, late } = createFailing({ faults: { reorder: 1 } });
    await emulator.emit('stt.completed');
    emulator.endpoints.pause(id);
    await emulator.advance(1_000);
    expect([late, states(), emulator.totals.attempts]).toEqual([[], ['waiting 0'], 0]);
    emulator.endpoints.enable(id);
    await emulator.advance(1_000);
    expect(emulator.attempts.list()).toMatchObject([{ number: 1, faults: ['reorder'] }]);
  });

  it('a duplicate does not start after the pause', async () => {
    const { id, late } = createFailing({ faults: { duplicate: { rate: 1, afterMs: 5_000 } } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.pause(id);
    await emulator.advance(5_000);
    expect([late, emulator.totals]).toMatchObject([[], { attempts: 1, duplicates: 0 }]);
  });

  it('a request that started before the pause still counts', async () => {
    let answer = (_: Response) => {};
    create({ fetch: () => new Promise((resolve) => (answer = resolve)) });
    const { id } = emulator.endpoints.create({ url: 'https://app.example/' });
    const { deliveries } = await emulator.emit('stt.completed');
    emulator.endpoints.pause(id);
    answer(new Response());
    await emulator.settled();
    expect([deliveries[0]?.state, states()]).toEqual(['sending', ['delivered 1']]);
  });

  it('a test reaches a paused endpoint although it has to queue', async () => {
    const { id, late } = createFailing({ concurrency: 1, faults: { reorder: 1 } });
    emulator.endpoints.pause(id);
    for (let i = 0; i < 2; i += 1) await emulator.sendTest(id);
    await emulator.runUntilIdle();
    expect([late.length, states()]).toEqual([2, ['dead 1', 'dead 1']]);
  });
});

describe('redeliveries and tests', () => {
  it('a redelivery starts from attempt 1, with the same id, key and body', async () => {
    create();
    const { url, arrived } = await startReceiver((response, _, n) => status(n <= 6 ? 500 : 200)(response));
    emulator.endpoints.create({ url });
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const id = deliveries[0]?.id ?? '';
    emulator.deliveries.redeliver(id);
    await emulator.settled();
    expect(emulator.deliveries.get(id)).toMatchObject({ state: 'delivered', attempts: 1, redeliveries: 1 });
    const [first, last] = [arrived[0], arrived[6]];
    expect(last?.body).toEqual(first?.body);
    expect(last?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(last?.headers['x-service-attempt']).toBe('1');
  });

  it('only a dead delivery can be redelivered', async () => {
    create();
    const { url } = await startReceiver();
    emulator.endpoints.create({ url });
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.settled();
    expect(() => emulator.deliveries.redeliver(deliveries[0]?.id ?? '')).toThrow('is not dead');
    expect(() => emulator.deliveries.redeliver('dlv_0')).toThrow('dlv_0');
  });

  it('a test is one attempt, also to a paused endpoint, and its failure does not count', async () => {
    create();
    const { url, arrived } = await failing();
    const { id } = emulator.endpoints.create({ url, events: ['dubbing.failed'] });
    emulator.endpoints.pause(id);
    const sent = await emulator.sendTest(id);
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(1);
    expect(JSON.parse(String(arrived[0]?.body)).type).toBe('dubbing.failed');
    expect(emulator.deliveries.get(sent.id)).toMatchObject({ state: 'dead', test: true, attempts: 1 });
    expect(emulator.endpoints.get(id)?.deadInARow).toBe(0);
  });
});

describe('DELIVERY_TRANSITIONS and ENDPOINT_TRANSITIONS', () => {
  it('every state but delivered has a way out', () => {
    const from = new Set(DELIVERY_TRANSITIONS.map((row) => row.from));
    const ends = DELIVERY_TRANSITIONS.map(({ to }) => to).filter((to) => !from.has(to as never));
    expect(ends).toEqual(['delivered']);
    expect(ENDPOINT_TRANSITIONS.map(({ from, to }) => `${from} ${to}`)).toContain('paused active');
  });

  it('no two rows have the same state, cause and condition', () => {
    const choices = DELIVERY_TRANSITIONS.map(({ from, on, when }) => `${from}/${on}/${when}`);
    expect(new Set(choices).size).toBe(choices.length);
  });
});
