import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { createRandom } from '../src/random.js';

const START = Date.UTC(2026, 6, 11, 9);
const LAST = Date.UTC(9999, 11, 31);
const URL = 'https://app.example/';

let emulator: Emulator;
afterEach(() => emulator.close());

function create(options: EmulatorOptions = {}) {
  emulator = createEmulator({ seed: 'emulator', startAt: START, fetch: () => new Response(), ...options });
  return emulator;
}
/** Lets other work run: a few turns of the event loop. */
async function turn() {
  for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('createEmulator', () => {
  it('an emulator with the same seed repeats its ids and secrets, and returns the seed', () => {
    const parts = () => {
      const { seed, apiKey, endpoints, accounts } = create();
      return { seed, apiKey, endpoint: endpoints.create({ url: URL }), accounts: accounts.list() };
    };
    const one = parts();
    expect([one.seed, one]).toEqual(['emulator', parts()]);
    expect(create({ seed: 'other' }).apiKey).not.toBe(one.apiKey);
  });

  it.each([
    ['a new one', {}, /^acct_/],
    ['that which is given', { apiKey: 'acct_given_key' }, /^acct_given_key$/],
  ])('an emulator has a first key: %s', async (_, options, form) => {
    const { apiKey } = create(options);
    expect(apiKey).toMatch(form);
    const request = new Request('http://api/api/v1/account/webhooks', { headers: { 'x-api-key': apiKey } });
    expect((await emulator.fetch(request)).status).toBe(200);
  });

  it('totals count every event, with and without subscribers', async () => {
    create();
    const { event, deliveries } = await emulator.emit('stt.completed');
    expect([deliveries, emulator.totals.events, emulator.totals.deliveries]).toEqual([[], 1, 0]);
    emulator.endpoints.create({ url: URL, events: ['stt.completed'] });
    emulator.endpoints.create({ url: URL, events: ['stt.completed', 'stt.failed'] });
    const second = await emulator.emit('stt.completed');
    expect(second.event.id).not.toBe(event.id);
    expect([second.deliveries.length, emulator.totals.events, emulator.totals.deliveries]).toEqual([2, 2, 2]);
    expect((await emulator.emit('stt.failed')).deliveries).toHaveLength(1);
    await emulator.settled();
    expect(emulator.totals).toMatchObject({ events: 3, deliveries: 3, attempts: 3, delivered: 3 });
  });

  it('the ids of events depend on the seed and their number', async () => {
    const random = createRandom(create().seed);
    const ids = [await emulator.emit('stt.completed'), await emulator.emit('stt.failed')].map(({ event }) => event.id);
    expect(ids).toEqual([random.id('evt', 1), random.id('evt', 2)]);
  });

  it.each([{ attempts: 1 }, { bytes: 1 }])('the emulator keeps no more attempts than keep allows: %j', async (keep) => {
    create({ keep });
    emulator.endpoints.create({ url: URL });
    for (const id of ['evt_a', 'evt_b']) await emulator.emit('stt.completed', { id });
    await emulator.settled();
    expect(emulator.attempts.list().length).toBeLessThan(2);
  });

  it('emit starts no delivery if there is no room for all of them', async () => {
    create({ maxPending: 1 });
    for (let i = 0; i < 2; i += 1) emulator.endpoints.create({ url: URL });
    await expect(emulator.emit('stt.completed')).rejects.toThrow('maxPending: 0 deliveries are pending');
    expect([emulator.deliveries.list(), emulator.totals.events]).toEqual([[], 0]);
  });

  it('emit waits while too many requests are queued', async () => {
    const answers: (() => void)[] = [];
    const fetch = () => new Promise<Response>((resolve) => answers.push(() => resolve(new Response())));
    create({ concurrency: 1, fetch });
    emulator.endpoints.create({ url: URL });
    await emulator.emit('stt.completed');
    await emulator.emit('stt.completed');
    let third = false;
    emulator.emit('stt.completed').then(() => {
      third = true;
    });
    await turn();
    await turn();
    expect(third).toBe(false);
    answers[0]?.();
    await turn();
    await turn();
    expect(third).toBe(true);
    for (const more of [1, 2]) {
      await turn();
      answers[more]?.();
      await turn();
    }
    await emulator.settled();
  });

  it('advance accepts 0 ms up to the end of the year 9999', async () => {
    create();
    await emulator.advance(0);
    expect(emulator.now()).toBe(START);
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY, '1' as never]) {
      await expect(emulator.advance(ms)).rejects.toThrow('ms must be 0 or more');
    }
    await expect(emulator.advance(LAST - START + 1)).rejects.toThrow('ms goes beyond the year 9999');
    await emulator.advance(LAST - START);
    expect(emulator.now()).toBe(LAST);
  });

  it('emit refuses overrides and accounts that are invalid', async () => {
    create();
    await expect(emulator.emit('stt.completed', null as never)).rejects.toThrow('overrides must be an object');
    await expect(emulator.emit('stt.completed', {}, null as never)).rejects.toThrow('to must be an object');
    await expect(emulator.emit('stt.completed', {}, { account: 'acc_0' })).rejects.toThrow('acc_0 does not exist');
    expect(emulator.totals.events).toBe(0);
  });

  it('faults depend on the seed, those of the options and those of setFaults', async () => {
    const struck = async (seed: string, faults: EmulatorOptions['faults'], later?: EmulatorOptions['faults']) => {
      create({ seed, faults });
      emulator.endpoints.create({ url: URL });
      if (later !== undefined) emulator.setFaults(later);
      for (let i = 0; i < 40; i += 1) await emulator.emit('stt.completed');
      await emulator.settled();
      const all = emulator.attempts.list().map(({ deliveryId, faults }) => [deliveryId, ...faults].join());
      await emulator.close();
      return all.map((line) => line.slice(line.indexOf(',') + 1 || line.length));
    };
    const faults = { corrupt: 0.5 };
    const first = await struck('a', faults);
    expect(new Set(first).size).toBe(2);
    expect(await struck('a', {}, faults)).toEqual(first);
    expect(await struck('b', {}, faults)).not.toEqual(first);
    expect(new Set(await struck('a', faults, {})).size).toBe(1);
  });
});

describe('emulator.sendTest', () => {
  it('a test has the first type that the endpoint has subscribed to, or the given type', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL, events: ['stt.failed', 'stt.completed'] });
    const first = await emulator.sendTest(id);
    expect(first).toMatchObject({ type: 'stt.failed', test: true, endpointId: id });
    expect((await emulator.sendTest(id, 'dubbing.failed')).type).toBe('dubbing.failed');
    await emulator.settled();
    expect(emulator.attempts.list().map(({ type }) => type)).toEqual(['stt.failed', 'dubbing.failed']);
  });

  it('an unknown type or endpoint is refused', async () => {
    create();
    const { id } = emulator.endpoints.create({ url: URL });
    await expect(emulator.sendTest(id, 'music.completed' as never)).rejects.toThrow('type must be');
    await expect(emulator.sendTest('wh_0')).rejects.toThrow('endpoint wh_0 does not exist');
  });
});

describe('emulator.endpoints.remove', () => {
  it('removing an endpoint removes its deliveries and attempts, and no others', async () => {
    create();
    const [one, two] = [emulator.endpoints.create({ url: URL }), emulator.endpoints.create({ url: URL })];
    await emulator.emit('stt.completed');
    await emulator.settled();
    emulator.endpoints.remove(one.id);
    const { endpoints, deliveries, attempts } = emulator;
    expect(endpoints.list().map(({ id }) => id)).toEqual([two.id]);
    expect(deliveries.list().map(({ endpointId }) => endpointId)).toEqual([two.id]);
    expect(attempts.list().map(({ endpointId }) => endpointId)).toEqual([two.id]);
  });
});

describe('emulator.close', () => {
  it('a closed emulator sends nothing and refuses to start', async () => {
    create({ fetch: () => new Response(null, { status: 500 }) });
    const { id } = emulator.endpoints.create({ url: URL });
    await emulator.emit('stt.completed');
    await emulator.settled();
    await emulator.close();
    await emulator.runUntilIdle();
    expect(emulator.attempts.list()).toHaveLength(1);
    for (const call of [() => emulator.emit('stt.completed'), () => emulator.sendTest(id), () => emulator.listen()]) {
      await expect(call()).rejects.toThrow('the emulator is closed');
    }
  });
});
