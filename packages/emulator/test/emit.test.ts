import { isEvent, PAYLOAD_VERSION, sign, verify, verifySignature, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { createRandom } from '../src/random.js';
import { createWaitingReceiver, HOOK, START, startEmulator, startWithEndpoint } from './emulators.js';

describe('an event emitted by the emulator', () => {
  it.each(WEBHOOK_EVENT_TYPES)('the event %s arrives with a valid V2 and legacy signature', async (type) => {
    const { emulator, id, secret } = startWithEndpoint();
    const { event } = await emulator.emit(type);
    await emulator.settled();
    const { headers, body } = emulator.attempts.list()[0]?.request ?? expect.unreachable();
    const verified = verify({ headers, body, secret, now: emulator.now });
    expect([verified.event, isEvent(verified.event, type)]).toEqual([event, true]);
    expect(headers).toEqual({
      ...sign({ body, secret, at: START }),
      'content-type': 'application/json',
      'x-service-timestamp': String(START / 1_000),
      'x-service-webhook-id': id,
      'x-service-attempt': '1',
      'idempotency-key': createRandom('emulator').uuid('key', 1),
    });
    const legacy = { 'x-service-signature': headers['x-service-signature'] };
    expect(verifySignature({ headers: legacy, body, secret, legacy: 'accept' })).toMatchObject({ scheme: 'legacy' });
  });

  it('every subscribed endpoint gets the event with the same id and key, signed with its own secret', async () => {
    const { emulator, receiver } = startEmulator();
    const endpoints = ['stt.completed', 'stt.completed', 'stt.failed'].map((type) =>
      emulator.endpoints.create({ url: HOOK, events: [type] }),
    );
    const { event, deliveries } = await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(deliveries.map(({ endpointId }) => endpointId)).toEqual(endpoints.slice(0, 2).map(({ id }) => id));
    for (const [i, { request, eventId }] of emulator.attempts.list({ eventId: event.id }).entries()) {
      const { headers, body } = request;
      const secret = endpoints[i]?.signingSecret ?? '';
      expect([verify({ headers, body, secret, now: emulator.now }).event.id, eventId]).toEqual([event.id, event.id]);
    }
    const keys = receiver.requests.map(({ headers }) => headers.get('idempotency-key'));
    expect([keys.length, new Set(keys).size, keys[0] === keys[1]]).toEqual([4, 2, true]);
  });

  it('headerPrefix changes the names of the headers', async () => {
    const { emulator, secret } = startWithEndpoint({ headerPrefix: 'X-Own' });
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { headers, body } = emulator.attempts.list()[0]?.request ?? expect.unreachable();
    expect(verify({ headers, body, secret, now: emulator.now, headerPrefix: 'x-own' })).toBeDefined();
    expect(headers['x-own-attempt']).toBe('1');
  });

  it('an event of an unknown type has an envelope with empty data', async () => {
    const { emulator } = startEmulator();
    emulator.endpoints.create({ url: HOOK, events: ['music.completed'] });
    const { event, deliveries } = await emulator.emit('music.completed');
    expect(event).toEqual({
      id: createRandom('emulator').id('evt', 1),
      type: 'music.completed',
      version: PAYLOAD_VERSION,
      jobId: null,
      data: {},
      timestamp: '2026-07-11T09:00:00.000Z',
    });
    expect(deliveries).toMatchObject([{ type: 'music.completed', eventId: event.id }]);
  });

  it.each(['stt.completed', 'music.completed'])('every field of the event %s can be overridden', async (type) => {
    const { emulator } = startWithEndpoint();
    const overrides = { id: 'evt_a', timestamp: '2020-01-01T00:00:00.000Z', jobId: 'job_a', version: '2020-01-01' };
    emulator.endpoints.create({ url: HOOK, events: [type] });
    const { event } = await emulator.emit(type, overrides);
    await emulator.settled();
    expect(event).toMatchObject({ ...overrides, type });
    const { request } = emulator.attempts.list({ eventId: 'evt_a' })[0] ?? expect.unreachable();
    expect(JSON.parse(new TextDecoder().decode(request.body))).toEqual(event);
  });

  it('ids and times depend on the seed, the number of the event and the clock', async () => {
    const { emulator } = startEmulator({ seed: 'a' });
    await emulator.emit('stt.failed');
    await emulator.advance(1_000);
    const { event } = await emulator.emit('stt.completed');
    expect(event).toMatchObject({ id: createRandom('a').id('evt', 2), timestamp: '2026-07-11T09:00:01.000Z' });
  });

  it('the endpoints of another account receive nothing', async () => {
    const { emulator } = startWithEndpoint();
    const { id: account } = emulator.accounts.create();
    expect((await emulator.emit('stt.completed', {}, { account })).deliveries).toEqual([]);
    emulator.endpoints.create({ url: HOOK, account });
    expect((await emulator.emit('stt.completed', {}, { account })).deliveries).toHaveLength(1);
    await emulator.settled();
    expect(emulator.totals).toMatchObject({ events: 2, deliveries: 1, attempts: 1 });
  });
});

describe('arguments that emulator.emit refuses', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;

  it.each<[message: string, given: unknown[]]>([
    ['type must be an event type, such as stt.completed', ['']],
    ['type must be an event type, such as stt.completed', [7]],
    ['overrides must be an object', ['stt.completed', null]],
    ['overrides cannot be written as JSON', ['stt.completed', { data: cyclic }]],
    ['overrides cannot be written as JSON', ['music.completed', { data: { n: 1n } }]],
    ['overrides cannot be written as JSON', ['music.completed', { toJSON: () => undefined }]],
    ['to must be an object', ['stt.completed', {}, null]],
    ['account acc_0 does not exist', ['stt.completed', {}, { account: 'acc_0' }]],
    [
      "Unknown option 'acount' in the third argument of emit. Did you mean 'account'?",
      ['stt.completed', {}, { acount: 'acc_1' }],
    ],
  ])('the error "%s" is thrown for the arguments %o', async (message, given) => {
    const { emulator } = startWithEndpoint();
    const emit: (...given: unknown[]) => Promise<unknown> = emulator.emit as never;
    await expect(emit(...given)).rejects.toThrow(message);
    expect([emulator.totals.events, emulator.deliveries.list()]).toEqual([0, []]);
  });
});

describe("the emulator's option maxPending", () => {
  /** An emulator and the largest number of deliveries for which it has room. */
  function startWithRoom(maxPending: number) {
    const { emulator, receiver, id } = startWithEndpoint({ maxPending });
    const fill = async () => {
      let started = 0;
      while (
        await emulator.emit('stt.completed').then(
          () => true,
          () => false,
        )
      )
        started += 1;
      return started;
    };
    return { emulator, receiver, id, fill };
  }

  it('emit is refused and starts no delivery where not all of them fit below the limit', async () => {
    const { emulator } = startWithRoom(1);
    emulator.endpoints.create({ url: HOOK });
    await expect(emulator.emit('stt.completed')).rejects.toThrow(
      'maxPending: 0 deliveries are pending; advance the clock until they end, or raise maxPending',
    );
    expect([emulator.deliveries.list(), emulator.totals.events]).toEqual([[], 0]);
  });

  it('dead and delivered deliveries no longer count toward the limit', async () => {
    const { emulator, receiver, fill } = startWithRoom(2);
    expect([await fill(), await fill()]).toEqual([2, 0]);
    await emulator.runUntilIdle();
    expect(await fill()).toBe(2);
    receiver.status = 200;
    await emulator.runUntilIdle();
    expect(await fill()).toBe(2);
  });

  it('a redelivered delivery counts toward the limit again', async () => {
    const { emulator, fill } = startWithRoom(3);
    await fill();
    await emulator.runUntilIdle();
    const [one, two] = emulator.deliveries.list().map(({ id }) => id);
    emulator.deliveries.redeliver(one ?? '');
    expect(await fill()).toBe(2);
    expect(() => emulator.deliveries.redeliver(two ?? '')).toThrow('maxPending: 3 deliveries are pending');
  });

  it('removing an endpoint frees the places of its pending deliveries and no more', async () => {
    const { emulator, receiver, id, fill } = startWithRoom(3);
    receiver.status = 200;
    await emulator.emit('stt.completed');
    receiver.status = 500;
    await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    emulator.endpoints.create({ url: HOOK, events: ['dubbing.failed'] });
    await emulator.emit('dubbing.failed');
    expect(await fill()).toBe(1);
    emulator.endpoints.remove(id);
    emulator.endpoints.create({ url: HOOK, events: ['stt.completed'] });
    expect(await fill()).toBe(2);
  });

  it('emit waits while more requests are queued than concurrency allows to run', async () => {
    const { answers, fetch } = createWaitingReceiver();
    const { emulator } = startWithEndpoint({ concurrency: 1, fetch });
    await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    const resolved = vi.fn();
    const third = emulator.emit('stt.completed').then(resolved);
    await new Promise((resolve) => setImmediate(resolve));
    expect(resolved).not.toHaveBeenCalled();
    answers[0]?.(new Response());
    await third;
    for (const n of [1, 2]) {
      await expect.poll(() => answers[n]).toBeDefined();
      answers[n]?.(new Response());
    }
    await emulator.settled();
  });
});
