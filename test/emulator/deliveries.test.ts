import { isEvent, sign, verify, verifySignature, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import {
  createEmulator,
  DELIVERY_TRANSITIONS,
  type Emulator,
  type EmulatorOptions,
  ENDPOINT_TRANSITIONS,
  PAUSE_AFTER_DEAD,
  RETRY_WAITS_MS,
} from 'service-webhooks/emulator';
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

describe('an event', () => {
  it('is signed with the secret that the receiver has already, where one is named', async () => {
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

  it.each(WEBHOOK_EVENT_TYPES)('%s arrives signed, as a receiver verifies it', async (type) => {
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

  it('goes to every endpoint that has subscribed to it, under one id, with the secret of each', async () => {
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

  it('of a type that is yet to come reaches whoever has subscribed to it', async () => {
    create();
    const { url, arrived } = await startReceiver();
    emulator.endpoints.create({ url, events: ['music.completed'] });
    await emulator.emit('music.completed', { jobId: 'song_1', data: { songId: 'song_1' } });
    await emulator.settled();
    expect(JSON.parse(String(arrived[0]?.body))).toMatchObject({ type: 'music.completed', data: { songId: 'song_1' } });
  });

  it('of another account does not arrive', async () => {
    create();
    const { url, arrived } = await startReceiver();
    emulator.endpoints.create({ url });
    const other = emulator.accounts.create();
    expect((await emulator.emit('stt.completed', {}, { account: other.id })).deliveries).toEqual([]);
    await emulator.settled();
    expect(arrived).toEqual([]);
  });

  it('goes over the wire with the names of headers as the specification writes them', async () => {
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

describe('the attempts of a delivery', () => {
  it('follow the schedule: at once, then after 30 s, 2 min, 10 min, 1 h and 4 h, then it is dead', async () => {
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

  it('have the same id, Idempotency-Key and body, a rising number, and a fresh t each', async () => {
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

  it('have a timestamp of their own in the envelope, if that is wanted', async () => {
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

  it('end with the first 2xx', async () => {
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
  ])('answered with %i: %s', async (code, state) => {
    create();
    const { url } = await startReceiver(status(code));
    emulator.endpoints.create({ url });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.deliveries.list()[0]?.state).toBe(state);
  });

  it('do not follow a redirect', async () => {
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

describe('an endpoint', () => {
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

  it('is paused by 20 dead deliveries in a row, not by 19', async () => {
    const nineteen = await withDead(PAUSE_AFTER_DEAD - 1);
    expect(emulator.endpoints.get(nineteen.id)).toMatchObject({ state: 'active', deadInARow: 19 });
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.endpoints.get(nineteen.id)).toMatchObject({ state: 'paused', deadInARow: 20 });
  });

  it('starts to count again at each success', async () => {
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

  it('that is paused gets nothing, and what was held back when it is enabled again', async () => {
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

  it('that is paused between two attempts gets the second when it is enabled', async () => {
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

  it('that is removed gets nothing more, and its history is gone', async () => {
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

  it('keeps its secret when its URL changes', async () => {
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

describe('by hand', () => {
  it('a dead delivery is sent again from attempt 1, with the same id, key and body', async () => {
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

  it('only a dead one', async () => {
    create();
    const { url } = await startReceiver();
    emulator.endpoints.create({ url });
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.settled();
    expect(() => emulator.deliveries.redeliver(deliveries[0]?.id ?? '')).toThrow('is not dead');
    expect(() => emulator.deliveries.redeliver('dlv_0')).toThrow('dlv_0');
  });

  it('a test is one attempt, also to a paused endpoint, and does not count as dead', async () => {
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

describe('the tables of states', () => {
  it('have a way out of every state of a delivery but the good end', () => {
    const from = new Set(DELIVERY_TRANSITIONS.map((row) => row.from));
    const ends = DELIVERY_TRANSITIONS.map(({ to }) => to).filter((to) => !from.has(to as never));
    expect(ends).toEqual(['delivered']);
    expect(ENDPOINT_TRANSITIONS.map(({ from, to }) => `${from} ${to}`)).toContain('paused active');
  });

  it('know every combination a delivery can be in', () => {
    const choices = DELIVERY_TRANSITIONS.map(({ from, on, when }) => `${from}/${on}/${when}`);
    expect(new Set(choices).size).toBe(choices.length);
  });
});
