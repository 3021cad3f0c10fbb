import { verify, WEBHOOK_EVENT_TYPES } from 'service-webhooks';
import { type EmulatorOptions, PAUSE_AFTER_DEAD } from 'service-webhooks-emulator';
import { describe, expect, it } from 'vitest';
import { createWaitingReceiver, HOOK, startEmulator, startWithEndpoint } from './emulators.js';
import { startReceiver, status } from './receivers.js';

describe('emulator.endpoints', () => {
  it('an endpoint subscribes to all event types or to those given, each once', () => {
    const { endpoints } = startEmulator().emulator;
    expect(endpoints.create({ url: HOOK }).events).toEqual(WEBHOOK_EVENT_TYPES);
    expect(endpoints.create({ url: HOOK, events: ['a.b', 'c.d', 'a.b'] }).events).toEqual(['a.b', 'c.d']);
  });

  it('only creation returns the secret, and every view is a copy', () => {
    const { endpoints, accounts, totals } = startEmulator().emulator;
    const { signingSecret, ...shown } = endpoints.create({ url: HOOK, events: ['a.b'] });
    const expected = { id: shown.id, accountId: accounts.list()[0]?.id, url: HOOK, events: ['a.b'] };
    expect(shown).toEqual({ ...expected, state: 'active', deadInARow: 0 });
    expect([shown.id, signingSecret]).toEqual([expect.stringMatching(/^wh_/), expect.stringMatching(/^whsec_/)]);
    for (const seen of [endpoints.get(shown.id), endpoints.update(shown.id, {}), endpoints.list()[0]]) {
      expect(seen).toEqual(shown);
    }
    endpoints.pause(shown.id);
    const other = endpoints.create({ url: HOOK });
    expect([shown.state, other.id === shown.id, other.signingSecret === signingSecret]).toEqual([
      'active',
      false,
      false,
    ]);
    expect(totals.endpoints).toBe(2);
  });

  it('a secret given at creation signs the deliveries', async () => {
    const { emulator } = startEmulator();
    const secret = 'of the receiver';
    expect(emulator.endpoints.create({ url: HOOK, signingSecret: secret }).signingSecret).toBe(secret);
    await emulator.emit('stt.completed');
    await emulator.settled();
    const { headers, body } = emulator.attempts.list()[0]?.request ?? expect.unreachable();
    expect(verify({ headers, body, secret, now: emulator.now }).event.type).toBe('stt.completed');
  });

  it('an update changes the given settings alone', () => {
    const { endpoints } = startEmulator().emulator;
    const { id } = endpoints.create({ url: HOOK, events: ['a.b'] });
    expect(endpoints.update(id, { url: `${HOOK}2` })).toMatchObject({ url: `${HOOK}2`, events: ['a.b'] });
    expect(endpoints.update(id, { events: ['c.d'] })).toMatchObject({ url: `${HOOK}2`, events: ['c.d'] });
    expect(endpoints.update(id, { url: HOOK, events: ['e.f'] })).toMatchObject({ url: HOOK, events: ['e.f'] });
    expect(endpoints.update(id, {})).toEqual(endpoints.get(id));
  });

  it('retries of a pending delivery go to the changed URL, signed with the same secret', async () => {
    const { emulator, id, secret } = startWithEndpoint();
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.update(id, { url: 'https://new.example/', events: ['stt.failed'] });
    await emulator.advance(30_000);
    const [first, second] = emulator.attempts.list().map(({ request }) => request);
    expect([first?.url, second?.url]).toEqual([HOOK, 'https://new.example/']);
    const { headers, body } = second ?? expect.unreachable();
    expect(verify({ headers, body, secret, now: emulator.now })).toBeDefined();
  });

  it('an unknown endpoint is not found, and every change to it is refused', () => {
    const { endpoints } = startEmulator().emulator;
    expect(endpoints.get('wh_0')).toBe(undefined);
    for (const change of ['update', 'remove', 'pause', 'enable'] as const) {
      expect(() => endpoints[change]('wh_0', {})).toThrow('endpoint wh_0 does not exist');
    }
  });

  it.each<[message: string, settings: unknown]>([
    ['endpoint must be an object', null],
    ['endpoint must be an object', undefined],
    ["Unknown option 'event' in endpoints.create. Did you mean 'events'?", { url: HOOK, event: [] }],
    ['account acc_0 does not exist', { url: HOOK, account: 'acc_0' }],
    ['url must be a string', { url: new URL(HOOK) }],
    ['url is not public: loopback (allowLoopback allows it)', { url: 'https://localhost/' }],
    ['url is not public: private. Correct it', { url: 'https://10.0.0.1/' }],
    ...[[], 'a.b', [''], ['a.b', ''], ['a.b', 7], new Array(2)].map((events): [string, unknown] => [
      'events must be a list of event types',
      { url: HOOK, events },
    ]),
    ['signingSecret must be a string', { url: HOOK, signingSecret: new Uint8Array(32) }],
    ['secret begins with a space. Trim it. (invalid_secret)', { url: HOOK, signingSecret: ' padded' }],
    ['(invalid_secret)', { url: HOOK, signingSecret: '' }],
  ])('the error "%s" is thrown for the settings %j', (message, settings) => {
    const { endpoints } = startEmulator().emulator;
    expect(() => endpoints.create(settings as never)).toThrow(message);
    expect(endpoints.list()).toEqual([]);
  });

  it.each<[message: string, changes: unknown]>([
    ['url is not public: private', { url: 'https://10.0.0.1/', events: ['a.b'] }],
    ['events must be a list', { url: `${HOOK}2`, events: [] }],
    ['changes must be an object', null],
    ["Unknown option 'signingSecret' in endpoints.update. It takes url, events", { signingSecret: 'x' }],
  ])('the error "%s" is thrown for the changes %j', (message, changes) => {
    const { endpoints } = startEmulator().emulator;
    const { signingSecret: _, ...made } = endpoints.create({ url: HOOK });
    expect(() => endpoints.update(made.id, changes as never)).toThrow(message);
    expect(endpoints.list()).toEqual([made]);
  });
});

describe('emulator.endpoints.remove', () => {
  it('the deliveries and attempts of the removed endpoint alone are removed', async () => {
    const { emulator, id } = startWithEndpoint();
    const { id: stays } = emulator.endpoints.create({ url: HOOK });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.remove(id);
    const { endpoints, deliveries, attempts } = emulator;
    expect(endpoints.list()).toMatchObject([{ id: stays }]);
    expect(deliveries.list()).toMatchObject([{ endpointId: stays }]);
    expect(attempts.list()).toMatchObject([{ endpointId: stays }]);
  });

  it('no retry is sent to the removed endpoint, and no virtual time passes for it', async () => {
    const { emulator, receiver, id } = startWithEndpoint();
    await emulator.emit('stt.completed');
    await emulator.settled();
    const before = emulator.now();
    emulator.endpoints.remove(id);
    await emulator.runUntilIdle();
    expect([receiver.requests.length, emulator.now()]).toEqual([1, before]);
  });

  it('a running attempt to the removed endpoint is counted in the totals but not listed', async () => {
    const { answers, fetch } = createWaitingReceiver();
    const { emulator, id } = startWithEndpoint({ fetch });
    await emulator.emit('stt.completed');
    emulator.endpoints.remove(id);
    answers[0]?.(new Response(null, { status: 500 }));
    await emulator.runUntilIdle();
    expect([emulator.attempts.list(), emulator.totals.attempts, answers.length]).toEqual([[], 1, 1]);
  });

  it.each([
    ['a request that reorder holds back', { reorder: 1 }, 0],
    ['a duplicate', { duplicate: { rate: 1, afterMs: 1_500 } }, 1],
  ])('the removed endpoint does not receive %s', async (_, faults, sent) => {
    const { emulator, receiver, id } = startWithEndpoint({ faults });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.remove(id);
    await emulator.runUntilIdle();
    expect([receiver.requests.length, emulator.totals.duplicates]).toEqual([sent, 0]);
  });
});

describe("an endpoint's count of consecutive dead deliveries in the emulator", () => {
  /** An endpoint after that many dead deliveries. */
  async function startWithDead(count: number) {
    const started = startWithEndpoint();
    const emit = async (n: number) => {
      for (let i = 0; i < n; i += 1) await started.emulator.emit('stt.completed');
      await started.emulator.runUntilIdle();
    };
    await emit(count);
    return { ...started, emit, shown: () => started.emulator.endpoints.get(started.id) };
  }

  it('20 dead deliveries pause the endpoint, and 19 do not', async () => {
    const { emit, shown } = await startWithDead(PAUSE_AFTER_DEAD - 1);
    expect(shown()).toMatchObject({ state: 'active', deadInARow: 19 });
    await emit(1);
    expect(shown()).toMatchObject({ state: 'paused', deadInARow: 20 });
  });

  it('a delivered event sets the count to 0', async () => {
    const { receiver, emit, shown } = await startWithDead(19);
    receiver.status = 200;
    await emit(1);
    expect(shown()?.deadInARow).toBe(0);
    receiver.status = 500;
    await emit(19);
    expect(shown()).toMatchObject({ state: 'active', deadInARow: 19 });
  });

  it('enabling sets the count to 0 where the endpoint was paused, and only there', async () => {
    const { emulator, id, shown } = await startWithDead(3);
    emulator.endpoints.enable(id);
    expect(shown()).toMatchObject({ state: 'active', deadInARow: 3 });
    for (let i = 0; i < 2; i += 1) emulator.endpoints.pause(id);
    expect(shown()).toMatchObject({ state: 'paused', deadInARow: 3 });
    emulator.endpoints.enable(id);
    expect(shown()).toMatchObject({ state: 'active', deadInARow: 0 });
  });
});

describe('a paused endpoint of the emulator', () => {
  /** An endpoint whose receiver fails, and the requests that start while it is paused. */
  function startFailing(options: EmulatorOptions = {}) {
    const late: Request[] = [];
    const fetch = (request: Request) => {
      if (emulator.endpoints.get(id)?.state === 'paused') late.push(request);
      return new Response(null, { status: 500 });
    };
    const { emulator, id } = startWithEndpoint({ fetch, ...options });
    const states = () => emulator.deliveries.list().map(({ state, attempts }) => `${state} ${attempts}`);
    return { emulator, id, late, states };
  }

  it('deliveries wait until their own endpoint is enabled', async () => {
    const { emulator, receiver, id } = startWithEndpoint();
    const { id: other } = emulator.endpoints.create({ url: HOOK });
    for (const paused of [id, other]) emulator.endpoints.pause(paused);
    const { deliveries } = await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect([receiver.requests.length, deliveries.map(({ state }) => state)]).toEqual([0, ['waiting', 'waiting']]);
    receiver.status = 200;
    emulator.endpoints.enable(other);
    await emulator.settled();
    expect(emulator.attempts.list()).toMatchObject([{ endpointId: other }]);
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(emulator.totals.delivered).toBe(2);
  });

  it('enabling starts a retry once: at once where it is due, otherwise at its time', async () => {
    const { emulator, receiver, id } = startWithEndpoint();
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(receiver.requests).toHaveLength(1);
    emulator.endpoints.pause(id);
    await emulator.runUntilIdle();
    expect(receiver.requests).toHaveLength(1);
    receiver.status = 200;
    for (let i = 0; i < 2; i += 1) emulator.endpoints.enable(id);
    await emulator.settled();
    expect(emulator.attempts.list().map(({ number }) => number)).toEqual([1, 2]);
  });

  it.each([
    ['100 deliveries that are due together', 100, 64, 64],
    ['25 deliveries that are sent one by one', 25, 1, 20],
  ])('no request of %s starts after the pause', async (_, count, concurrency, dead) => {
    const { emulator, id, late, states } = startFailing({ concurrency });
    for (let i = 0; i < count; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect([emulator.endpoints.get(id), late]).toMatchObject([{ state: 'paused', deadInARow: dead }, []]);
    expect(states()).toEqual([...Array(dead).fill('dead 6'), ...Array(count - dead).fill('waiting 5')]);
    expect(emulator.totals).toMatchObject({ attempts: 5 * count + dead, dead });
    emulator.endpoints.enable(id);
    await emulator.settled();
    expect(states()).toEqual(Array(count).fill('dead 6'));
  });

  it('no request over HTTP starts after the pause', async () => {
    const { emulator } = startEmulator({ allowLoopback: true, fetch: undefined });
    const { url, arrived } = await startReceiver(status(500));
    emulator.endpoints.create({ url });
    for (let i = 0; i < 100; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    const last = arrived.filter(({ headers }) => headers['x-service-attempt'] === '6');
    expect(emulator.deliveries.list({ state: 'waiting' })).toHaveLength(100 - last.length);
    // At most the 64 that were running, and one for each of the 19 that ended before the pause.
    expect(last.length).toBeLessThanOrEqual(83);
  });

  it('a request that the fault reorder holds back does not start after the pause', async () => {
    const { emulator, id, late, states } = startFailing({ faults: { reorder: 1 } });
    await emulator.emit('stt.completed');
    emulator.endpoints.pause(id);
    await emulator.advance(1_000);
    expect([late, states(), emulator.totals.attempts]).toEqual([[], ['waiting 0'], 0]);
    emulator.endpoints.enable(id);
    await emulator.advance(1_000);
    expect(emulator.attempts.list()).toMatchObject([{ number: 1, faults: ['reorder'] }]);
  });

  it('the second request of the fault duplicate does not start after the pause', async () => {
    const { emulator, id, late } = startFailing({ faults: { duplicate: { rate: 1, afterMs: 5_000 } } });
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.pause(id);
    await emulator.advance(5_000);
    expect([late, emulator.totals]).toMatchObject([[], { attempts: 1, duplicates: 0 }]);
  });

  it('the result of a request that started before the pause counts, and enabling does not repeat it', async () => {
    const { answers, fetch } = createWaitingReceiver();
    const { emulator, id, states } = startFailing({ fetch });
    await emulator.emit('stt.completed');
    emulator.endpoints.pause(id);
    emulator.endpoints.enable(id);
    expect(states()).toEqual(['sending 1']);
    emulator.endpoints.pause(id);
    answers[0]?.(new Response());
    await emulator.settled();
    expect([states(), answers.length]).toEqual([['delivered 1'], 1]);
  });

  it('a test event is sent to a paused endpoint, also when it had to queue', async () => {
    const { emulator, id, late, states } = startFailing({ concurrency: 1, faults: { reorder: 1 } });
    emulator.endpoints.pause(id);
    for (let i = 0; i < 2; i += 1) await emulator.sendTest(id);
    await emulator.runUntilIdle();
    expect([late.length, states()]).toEqual([2, ['dead 1', 'dead 1']]);
  });
});
