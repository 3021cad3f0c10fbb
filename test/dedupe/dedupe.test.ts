import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type ClaimResult,
  createReceiver,
  type DedupeOptions,
  type DedupeStore,
  type Handler,
  memoryStore,
} from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  aReceiver,
  aRequest,
  aStore,
  bodyOf,
  type DeliveryParts,
  inShort,
  later,
  never,
  now,
  type RecordedStore,
  SECRET,
} from '../support/deliveries.js';

beforeEach(() => {
  vi.useFakeTimers();
});
const tick = () => vi.advanceTimersByTimeAsync(0);
const refuse = () => Promise.reject(new Error('ECONNREFUSED'));
const throwing = (): never => {
  throw new Error('no client');
};

/** A receiver over a store, with a handler that can be counted. */
function setUp(
  store: RecordedStore = aStore(),
  dedupe: Partial<DedupeOptions> = {},
  options: Parameters<typeof aReceiver>[0] = {},
) {
  const handler = vi.fn<Handler>();
  const watched = aReceiver({ on: { '*': handler }, dedupe: { store, ...dedupe }, ...options });
  const deliver = async (parts?: DeliveryParts) => inShort(await watched.receiver(aRequest(parts)));
  const keys = () => store.claims.map(({ key }) => key);
  return { store, handler, deliver, keys, ...watched };
}

const withKey = (idempotencyKey: string) => ({ headers: { 'idempotency-key': idempotencyKey } });

describe('a delivery', () => {
  it('a delivery is claimed once and completed once', async () => {
    const { deliver, store, handler } = setUp();
    expect(await deliver()).toBe('200 handled');
    expect(store.calls).toEqual(['claim', 'complete']);
    expect(handler).toHaveBeenCalledOnce();
  });

  it('a delivery that is retried is a duplicate, however often it is retried', async () => {
    const { deliver, handler, answers } = setUp();
    await deliver();
    for (let i = 0; i < 5; i++) expect(await deliver()).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledOnce();
    expect(answers()).toEqual(['handled', ...Array(5).fill('duplicate')]);
  });

  it('a delivery that arrives while it is handled is answered 409, and runs when the first has failed', async () => {
    const { receiver, deliver, handler, answers, find } = setUp();
    const work = later();
    handler.mockImplementationOnce(() => work.promise);
    const first = deliver();
    await tick();
    const second = await receiver(aRequest());
    expect(inShort(second)).toBe('409 delivery_in_progress');
    expect(find('in_progress').error.message).toContain('Another attempt of this event is being handled.');
    expect(second.headers['retry-after']).toBe('25');
    work.reject(new Error('no disk'));
    expect(await first).toBe('500 handler_failed');
    expect(await deliver()).toBe('200 handled');
    const [failed, retried] = handler.mock.calls.map(([, context]) => context);
    expect([failed?.attempt, retried?.attempt]).toEqual([1, 2]);
    expect(retried?.fence).toBeGreaterThan(failed?.fence ?? Number.POSITIVE_INFINITY);
    expect(answers()).toEqual(['in_progress', 'failed', 'handled']);
  });

  it('a delivery with many attempts at the same time is handled once', async () => {
    const { deliver, handler } = setUp();
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver()));
    expect(handler).toHaveBeenCalledOnce();
    expect(answers.filter((answer) => answer === '200 handled')).toHaveLength(1);
    expect(new Set(answers)).toEqual(new Set(['200 handled', '409 delivery_in_progress']));
  });

  it('a delivery whose handler changes the event is recorded unchanged', async () => {
    const { deliver, handler, keys } = setUp();
    handler.mockImplementationOnce((event, { delivery }) => {
      Object.assign(event, { id: 'evt_other', type: 'x' });
      delivery.body.fill(0);
      delivery.unsigned.idempotencyKey = 'other';
    });
    expect(await deliver(withKey('key-1'))).toBe('200 handled');
    expect(await deliver(withKey('key-1'))).toBe('200 duplicate');
    expect(keys()).toEqual(['default:evt_1', 'default:evt_1']);
    expect(await deliver({ event: { id: 'evt_other' } })).toBe('200 handled');
  });

  it('a delivery is not claimed at all with dedupe: false', async () => {
    const handler = vi.fn();
    const { receiver } = aReceiver({ on: { '*': handler }, dedupe: false });
    for (let i = 0; i < 3; i++) expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(handler).toHaveBeenCalledTimes(3);
  });
});

describe('what a store is asked', () => {
  it('a call of the store has a random token of 32 hex digits, another for each delivery', async () => {
    const { deliver, store } = setUp();
    for (let i = 0; i < 20; i++) await deliver({ event: { id: `evt_${i}` } });
    const tokens = store.claims.map(({ token }) => token);
    expect(new Set(tokens).size).toBe(20);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
  });

  it('a call of the store has a fingerprint of the body: SHA-256 in hex', async () => {
    const { deliver, store } = setUp();
    await deliver({
      body: '{"id":"evt_1","type":"a","version":"2026-07-11","jobId":null,"data":{},"timestamp":"2026-07-11"}',
    });
    await deliver({
      body: '{"id":"evt_1","type":"b","version":"2026-07-11","jobId":null,"data":{},"timestamp":"2026-07-11"}',
    });
    const [first, second] = store.claims.map(({ fingerprint }) => fingerprint);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).not.toBe(first);
  });

  it('later names the claim as it was made, with the fence that the store gave', async () => {
    const inner = memoryStore();
    const complete = vi.fn(inner.complete);
    const { deliver, store } = setUp(
      aStore({ complete, claim: async () => ({ status: 'acquired', fence: 7, attempt: 3 }) }, inner),
    );
    await deliver(withKey('key-1'));
    const [{ key, token, fingerprint, alias }] = store.claims as [RecordedStore['claims'][0]];
    expect(complete.mock.calls).toEqual([
      [
        expect.objectContaining({ key, token, fingerprint, alias, fence: 7 }),
        expect.objectContaining({ retainMs: 259_200_000 }),
      ],
    ]);
  });

  it('a call of the store has the lease and the retention of the options', async () => {
    const { deliver, store } = setUp(aStore(), { leaseMs: 5_000, retainMs: 21_600_000 });
    await deliver();
    expect(store.claims).toMatchObject([{ leaseMs: 5_000, retainMs: 21_600_000 }]);
  });

  it('a call of the store cannot be changed by the store that is asked', async () => {
    const inner = memoryStore();
    const claim = vi.fn(inner.claim).mockImplementationOnce((request) => {
      request.key = 'stolen';
      return refuse();
    });
    const { deliver, keys } = setUp(aStore({ claim }, inner));
    expect(await deliver()).toBe('200 handled');
    expect(keys()[1]).toBe('default:evt_1');
  });
});

describe('the key', () => {
  it('the key is the name of the endpoint and the signed event id', async () => {
    const { deliver, keys } = setUp(aStore(), { name: 'billing' });
    await deliver();
    expect(keys()).toEqual(['billing:evt_1']);
  });

  it('the key keeps two endpoints on one store apart', async () => {
    const store = aStore();
    const [billing, mail] = [setUp(store, { name: 'billing' }), setUp(store, { name: 'mail' })];
    expect(await billing.deliver()).toBe('200 handled');
    expect(await mail.deliver()).toBe('200 handled');
    expect(await billing.deliver()).toBe('200 duplicate');
    expect(await mail.deliver()).toBe('200 duplicate');
  });

  it('the key is what two receivers of one endpoint share', async () => {
    const store = aStore();
    const dedupe = { name: 'billing' };
    expect(await setUp(store, dedupe).deliver()).toBe('200 handled');
    expect(await setUp(store, dedupe).deliver()).toBe('200 duplicate');
  });

  const ODD_IDS = [
    `evt_${'x'.repeat(10_000)}`,
    `evt_${'x'.repeat(10_001)}`,
    `evt_${'x'.repeat(117)}`,
    `evt_${'x'.repeat(118)}`,
    'evt_\0',
    'evt_\0\0',
    'evt_\u0001',
    'evt_ ',
    'evt_a b',
    'evt_\n',
    'evt_é',
    'evt_e\u0301',
    'evt_☃',
    'evt_🎧',
    'evt_\ufffd',
    'evt_\ud83c',
    'evt_\udfa7',
    'evt_\u007f',
    'evt_1',
    'evt_1:2',
    'evt_{1}',
    "evt_'%",
    'evt_A',
    'evt_a',
  ];

  it('the key is at most 200 bytes of visible ASCII, whatever the id', async () => {
    const { deliver, keys } = setUp(aStore(), { name: 'n'.repeat(64) });
    for (const id of ODD_IDS) expect(await deliver({ event: { id } })).toBe('200 handled');
    for (const key of keys()) expect(key).toMatch(/^[!-~]{1,200}$/);
  });

  it('the key keeps odd ids apart, and knows each of them again', async () => {
    const { deliver, keys, handler } = setUp();
    for (const id of ODD_IDS) expect(await deliver({ event: { id } }), JSON.stringify(id)).toBe('200 handled');
    for (const id of ODD_IDS) expect(await deliver({ event: { id } })).toBe('200 duplicate');
    expect(new Set(keys()).size).toBe(ODD_IDS.length);
    expect(handler).toHaveBeenCalledTimes(ODD_IDS.length);
  });

  it('the key has the id as it is up to 120 characters, so that an operator finds it', async () => {
    const { deliver, keys } = setUp();
    const id = `evt_${'x'.repeat(116)}`;
    await deliver({ event: { id } });
    await deliver({ event: { id: `${id}x` } });
    expect(keys()).toEqual([`default:${id}`, expect.stringMatching(/^default:sha256:[0-9a-f]{64}$/)]);
  });

  describe('made of the Idempotency-Key', () => {
    const byHeader = () => setUp(aStore(), { key: 'idempotency-key' });

    it('the key derived from the Idempotency-Key is that header, so that a fresh one runs the event again', async () => {
      const { deliver, keys } = byHeader();
      expect(await deliver(withKey('key-1'))).toBe('200 handled');
      expect(await deliver(withKey('key-1'))).toBe('200 duplicate');
      expect(await deliver(withKey('key-2'))).toBe('200 handled');
      expect(keys()).toEqual(['default:key:key-1', 'default:key:key-1', 'default:key:key-2']);
    });

    it('the key derived from the Idempotency-Key is the event id where the header is missing or not usable', async () => {
      const { deliver, keys } = byHeader();
      await deliver();
      await deliver(withKey(''));
      await deliver(withKey('a, b'));
      expect(keys()).toEqual(Array(3).fill('default:evt_1'));
    });

    it('the key derived from the Idempotency-Key cannot name an event that comes without a header', async () => {
      const { deliver } = byHeader();
      expect(await deliver({ event: { id: 'evt_2' }, ...withKey('evt_1') })).toBe('200 handled');
      expect(await deliver()).toBe('200 handled');
    });

    it('the key derived from the Idempotency-Key is the same with and without quotes', async () => {
      const { deliver } = byHeader();
      expect(await deliver(withKey('"key-1"'))).toBe('200 handled');
      expect(await deliver(withKey('key-1'))).toBe('200 duplicate');
    });

    it('the key derived from the Idempotency-Key may have 255 characters', async () => {
      const { deliver, keys } = byHeader();
      await deliver(withKey('k'.repeat(255)));
      expect(keys()[0]).toMatch(/^default:sha256:[0-9a-f]{64}$/);
    });
  });

  describe('made by a function', () => {
    it('the key made by a function is what it returns for the delivery', async () => {
      const { deliver, keys } = setUp(aStore(), { key: ({ event }) => `${event.type}/${event.jobId}` });
      expect(await deliver()).toBe('200 handled');
      expect(await deliver({ event: { id: 'evt_2' } })).toBe('200 duplicate');
      expect(keys()[0]).toBe('default:stt.completed/clip_1');
    });

    it('the key made by a function is hashed where a store could not take it', async () => {
      const { deliver, keys } = setUp(aStore(), { key: () => 'clip 1\0' });
      await deliver();
      expect(keys()[0]).toMatch(/^default:sha256:[0-9a-f]{64}$/);
    });

    it.each<[string, unknown]>([
      ['undefined', undefined],
      ['null', null],
      ['an empty text', ''],
      ['a number', 7],
      ['a promise', Promise.resolve('key')],
    ])(
      'the key made by a function is refused where it is %s: nothing runs, and the error says so',
      async (_, returned) => {
        const { deliver, handler, find } = setUp(aStore(), { key: (() => returned) as () => string });
        expect(await deliver()).toBe('500 invalid_option');
        expect(find('failed').error.message).toContain('dedupe.key');
        expect(handler).not.toHaveBeenCalled();
      },
    );

    it('the key made by a function that throws fails the delivery, and nothing runs', async () => {
      const { deliver, handler, store } = setUp(aStore(), { key: throwing });
      expect(await deliver()).toBe('500 handler_failed');
      expect(handler).not.toHaveBeenCalled();
      expect(store.calls).toEqual([]);
    });
  });
});

describe('the Idempotency-Key as a witness', () => {
  it('an Idempotency-Key next to the event id is stored hashed, and never looked up', async () => {
    const { deliver, store, keys } = setUp();
    await deliver(withKey('key-1'));
    expect(keys()).toEqual(['default:evt_1']);
    expect(store.claims[0]?.alias).toMatch(/^[0-9a-f]{64}$/);
    expect(JSON.stringify(store.claims)).not.toContain('key-1');
  });

  it('an Idempotency-Key that differs from the first one is noticed, and changes nothing', async () => {
    const { deliver, handler, notices, find } = setUp();
    expect(await deliver(withKey('key-1'))).toBe('200 handled');
    expect(await deliver(withKey('fresh'))).toBe('200 duplicate');
    expect(notices()).toEqual(['idempotency_key_mismatch']);
    expect(find('idempotency_key_mismatch').delivery.unsigned.idempotencyKey).toBe('fresh');
    expect(handler).toHaveBeenCalledOnce();
  });

  it('an Idempotency-Key that differs is noticed while the first attempt runs, and when the event runs again', async () => {
    const { deliver, handler, notices } = setUp();
    const work = later();
    handler.mockImplementationOnce(() => work.promise);
    const first = deliver(withKey('key-1'));
    await tick();
    expect(await deliver(withKey('key-2'))).toBe('409 delivery_in_progress');
    work.reject(new Error('no disk'));
    await first;
    expect(await deliver(withKey('key-3'))).toBe('200 handled');
    expect(notices()).toEqual(['idempotency_key_mismatch', 'idempotency_key_mismatch']);
  });

  it('an Idempotency-Key that one attempt lacks is no mismatch', async () => {
    const { deliver, notices } = setUp();
    await deliver();
    expect(await deliver(withKey('key-1'))).toBe('200 duplicate');
    expect(await deliver()).toBe('200 duplicate');
    expect(notices()).toEqual([]);
  });

  it('stripped, changed or swapped runs nothing twice and suppresses nothing', async () => {
    const { deliver, handler } = setUp();
    const [a, b] = [{ event: { id: 'evt_a' } }, { event: { id: 'evt_b' } }];
    expect(await deliver({ ...a, ...withKey('key-a') })).toBe('200 handled');
    expect(await deliver(a)).toBe('200 duplicate'); // stripped
    expect(await deliver({ ...a, ...withKey('fresh') })).toBe('200 duplicate'); // changed
    expect(await deliver({ ...a, ...withKey('key-b') })).toBe('200 duplicate'); // swapped
    expect(await deliver({ ...b, ...withKey('key-b') })).toBe('200 handled');
    expect(await deliver({ ...b, ...withKey('key-a') })).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledTimes(2);
  });

  it.each(['', ' ', 'a b', 'a, b', 'a\tb', 'é', '🎧', 'a"b', '""', '"', 'k'.repeat(256), 'k\0', 'k\n'])(
    'an Idempotency-Key of another form is ignored: %j',
    async (value) => {
      const { deliver, store } = setUp();
      expect(await deliver(withKey(value))).toBe('200 handled');
      expect(store.claims[0]?.alias).toBeUndefined();
    },
  );

  it('an Idempotency-Key that occurs twice is ignored', async () => {
    const { receiver, store } = setUp();
    const request = aRequest();
    await receiver({ ...request, headers: { ...request.headers, 'idempotency-key': ['a', 'a'] } });
    expect(store.claims[0]?.alias).toBeUndefined();
  });
});

describe('another body under the same id', () => {
  it('another body under the same id is a duplicate all the same, and is noticed', async () => {
    const { deliver, notices, find } = setUp();
    await deliver();
    expect(await deliver({ event: { data: { clipId: 'clip_2' } } })).toBe('200 duplicate');
    expect(notices()).toEqual(['payload_mismatch']);
    expect(find('payload_mismatch').delivery.event.data).toEqual({ clipId: 'clip_2' });
  });

  it('another body under the same id is no mismatch where only the timestamp differs, which is the time of sending', async () => {
    const { deliver, notices } = setUp();
    await deliver();
    expect(await deliver({ event: { timestamp: '2026-07-11T13:00:00Z' } })).toBe('200 duplicate');
    expect(notices()).toEqual([]);
  });

  it('another body under the same id is compared also where it is nested too deeply to be serialised', async () => {
    const deep = (depth: number) =>
      bodyOf().replace('"data":{', `"data":{"deep":${'['.repeat(depth)}${']'.repeat(depth)},`);
    const { deliver, notices } = setUp();
    expect(await deliver({ body: deep(20_000) })).toBe('200 handled');
    expect(await deliver({ body: deep(20_000) })).toBe('200 duplicate');
    expect(notices()).toEqual([]);
    expect(await deliver({ body: deep(20_001) })).toBe('200 duplicate');
    expect(notices()).toEqual(['payload_mismatch']);
  });
});

describe('the lease', () => {
  const LEASE = 25_000;
  const beats = (store: RecordedStore) => store.calls.filter((name) => name === 'extend').length;

  it('the lease is kept alive every third of it while the handler runs, and no longer', async () => {
    const { deliver, store, handler } = setUp();
    const work = later();
    handler.mockImplementationOnce(() => work.promise);
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(LEASE / 3 - 10);
    expect(beats(store)).toBe(0);
    await vi.advanceTimersByTimeAsync(20);
    expect(beats(store)).toBe(1);
    await vi.advanceTimersByTimeAsync(LEASE / 3);
    expect(beats(store)).toBe(2);
    work.resolve();
    await tick();
    await vi.advanceTimersByTimeAsync(10 * LEASE);
    expect(beats(store)).toBe(2);
    await answer;
  });

  it('the lease is renewed for its full length', async () => {
    const inner = memoryStore();
    const extend = vi.fn(inner.extend);
    const { deliver, handler } = setUp(aStore({ extend }, inner), { leaseMs: 9_000 });
    handler.mockImplementationOnce(never);
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(extend).toHaveBeenCalledWith(
      expect.objectContaining({ key: 'default:evt_1', fence: expect.any(Number) }),
      expect.objectContaining({ leaseMs: 9_000 }),
    );
    await vi.advanceTimersByTimeAsync(12_000);
    await answer;
  });

  it('the lease outlives its length as long as the handler runs', async () => {
    const { deliver, handler } = setUp();
    handler.mockImplementationOnce(never);
    void deliver();
    for (let i = 0; i < 20; i++) {
      await vi.advanceTimersByTimeAsync(LEASE);
      expect(await deliver()).toBe('409 delivery_in_progress');
    }
    expect(handler).toHaveBeenCalledOnce();
  });

  it('the lease is no longer kept alive after 10 minutes, so that a handler that hangs does not hold the event without limit', async () => {
    const { deliver, store, handler } = setUp();
    handler.mockImplementationOnce(never);
    void deliver();
    await vi.advanceTimersByTimeAsync(600_000 + LEASE);
    const count = beats(store);
    expect(count).toBe(72);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(beats(store)).toBe(count);
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[1]?.[1]).toMatchObject({ attempt: 2 });
  });

  it('the lease ends by itself where its owner has died: the next attempt runs', async () => {
    const inner = memoryStore();
    const dead = { key: 'default:evt_1', token: 'dead', fingerprint: 'x', leaseMs: LEASE, retainMs: 1e9 };
    await inner.claim(dead);
    const { deliver, handler } = setUp(aStore({}, inner));
    expect(await deliver()).toBe('409 delivery_in_progress');
    await vi.advanceTimersByTimeAsync(LEASE - 1);
    expect(await deliver()).toBe('409 delivery_in_progress');
    await vi.advanceTimersByTimeAsync(1);
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[0]?.[1]).toMatchObject({ attempt: 2 });
  });

  it('the lease that is lost to another owner is noticed and no longer kept alive; the work is acknowledged', async () => {
    const { deliver, store, handler, notices, answers } = setUp(
      aStore({ extend: async () => 'lost', complete: async () => 'lost' }),
      { leaseMs: 9_000 }, // four beats within the time of the handler
    );
    const work = later();
    handler.mockImplementationOnce(() => work.promise);
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(14_000);
    expect(notices()).toEqual(['lease_lost']);
    expect(beats(store)).toBe(1);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'extend', 'complete']);
  });

  it('the lease that could not be renewed is tried again at the next beat', async () => {
    const extend = vi.fn<DedupeStore['extend']>().mockImplementationOnce(refuse).mockImplementationOnce(throwing);
    const { deliver, handler, notices, find } = setUp(aStore({ extend: extend.mockImplementation(async () => 'ok') }));
    handler.mockImplementationOnce(never);
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(15_000);
    await answer;
    await vi.advanceTimersByTimeAsync(11_000);
    expect(extend).toHaveBeenCalledTimes(3);
    expect(find('store_error')).toMatchObject({ operation: 'extend' });
    expect(notices()).toEqual(['store_error', 'store_error']);
  });

  it('the lease is not said to be lost by a renewal that was overtaken by the completion', async () => {
    const renewal = later<'lost'>();
    const { deliver, handler, notices } = setUp(aStore({ extend: () => renewal.promise }));
    const work = later();
    handler.mockImplementationOnce(() => work.promise);
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(LEASE / 3 + 1);
    work.resolve();
    expect(await answer).toBe('200 handled');
    renewal.resolve('lost');
    await tick();
    expect(notices()).toEqual([]);
  });

  it('the lease may be longer than a timer can count', async () => {
    const { deliver, store, handler } = setUp(aStore(), { leaseMs: 2 ** 40, retainMs: 2 ** 40 });
    const work = later();
    handler.mockImplementationOnce(() => work.promise);
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(1_000);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(store.calls).toEqual(['claim', 'complete']);
  });
});

describe('a store that fails to complete', () => {
  it.each<[string, () => Promise<never>]>([
    ['rejects', refuse],
    ['rejects with undefined', () => Promise.reject()],
    ['throws', throwing],
  ])('and %s does not undo the work: 2xx, and never a release', async (_, complete) => {
    const { deliver, store, find, answers } = setUp(aStore({ complete }));
    expect(await deliver()).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
    expect(find('store_error')).toMatchObject({ operation: 'complete', delivery: { event: { id: 'evt_1' } } });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(store.calls).not.toContain('release');
  });

  it('and hangs is waited for 2 s', async () => {
    const { deliver } = setUp(aStore({ complete: never }));
    const answer = vi.fn();
    deliver().then(answer);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(answer).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(answer).toHaveBeenCalledWith('200 handled');
  });

  it('a store that fails to complete is asked again in the background until it has it', async () => {
    const inner = memoryStore();
    const complete = vi
      .fn(inner.complete)
      .mockImplementationOnce(refuse)
      .mockImplementationOnce(throwing)
      .mockImplementationOnce(never);
    const { deliver, handler } = setUp(aStore({ complete }, inner));
    expect(await deliver()).toBe('200 handled');
    expect(complete).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(complete).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(complete).toHaveBeenCalledTimes(3);
    await vi.advanceTimersByTimeAsync(22_000);
    expect(complete).toHaveBeenCalledTimes(4);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(complete).toHaveBeenCalledTimes(4);
    expect(new Set(complete.mock.calls.map(([ref]) => ref.token)).size).toBe(1);
    expect(await deliver()).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledOnce();
  });

  it('a store that fails to complete is no longer called after five times', async () => {
    const complete = vi.fn(refuse);
    const { deliver, notices } = setUp(aStore({ complete }));
    await deliver();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(complete).toHaveBeenCalledTimes(5);
    expect(notices()).toEqual(Array(5).fill('store_error'));
  });

  it('since another owner has it by now is told so, once: 2xx', async () => {
    const complete = vi.fn(async () => 'lost' as const);
    const { deliver, notices } = setUp(aStore({ complete }));
    expect(await deliver()).toBe('200 handled');
    await vi.advanceTimersByTimeAsync(600_000);
    expect(notices()).toEqual(['lease_lost']);
    expect(complete).toHaveBeenCalledOnce();
  });
});

describe('a store that fails to release', () => {
  const failure = new Error('no disk');

  it.each<[string, () => Promise<never>]>([
    ['rejects', refuse],
    ['throws', throwing],
    ['hangs', never],
  ])('and %s does not hide the error of the handler', async (_, release) => {
    const { deliver, handler, find, answers } = setUp(aStore({ release }));
    handler.mockImplementationOnce(() => Promise.reject(failure));
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await answer).toBe('500 handler_failed');
    expect(find('failed').error.cause).toBe(failure);
    expect(find('store_error').operation).toBe('release');
    expect(answers()).toEqual(['failed']);
  });

  it('a store that fails to release leaves the claim to its lease, which is not renewed', async () => {
    const { deliver, handler, store } = setUp(aStore({ release: refuse }));
    handler.mockImplementationOnce(() => Promise.reject(failure));
    await deliver();
    await vi.advanceTimersByTimeAsync(24_999);
    expect(await deliver()).toBe('409 delivery_in_progress');
    await vi.advanceTimersByTimeAsync(1);
    expect(await deliver()).toBe('200 handled');
    expect(store.calls).not.toContain('extend');
  });
});

describe('a store that fails to claim', () => {
  it.each<[string, () => Promise<never>]>([
    ['rejects', refuse],
    ['rejects with undefined', () => Promise.reject()],
    ['throws', throwing],
  ])('and %s is asked twice, with the same token; then the sender is told to come back', async (_, claim) => {
    const { receiver, handler, store, find, notices } = setUp(aStore({ claim }));
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('503 store_unavailable');
    expect(response.headers['retry-after']).toBe('30');
    expect(handler).not.toHaveBeenCalled();
    expect(store.claims).toHaveLength(2);
    expect(store.claims[1]).toEqual(store.claims[0]);
    expect(find('store_error').operation).toBe('claim');
    expect(notices()).toEqual(['store_error']);
  });

  it('a store that fails to claim reports the cause to the observer, not to the sender', async () => {
    const cause = new Error('CANARY');
    const { receiver, find } = setUp(aStore({ claim: () => Promise.reject(cause) }));
    expect(JSON.stringify(await receiver(aRequest()))).not.toContain('CANARY');
    expect(find('failed').error.cause).toBe(cause);
    expect(find('store_error').error).toBe(cause);
  });

  it('once is asked again, and the delivery is handled', async () => {
    const inner = memoryStore();
    const claim = vi.fn(inner.claim).mockImplementationOnce(refuse);
    const { deliver, notices } = setUp(aStore({ claim }, inner));
    expect(await deliver()).toBe('200 handled');
    expect(notices()).toEqual([]);
  });

  it('and only lost its reply finds the claim to be ours', async () => {
    const inner = memoryStore();
    const claim = vi.fn(inner.claim).mockImplementationOnce(async (request) => {
      await inner.claim(request);
      throw new Error('ECONNRESET');
    });
    const { deliver, handler } = setUp(aStore({ claim }, inner));
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[0]?.[1]).toMatchObject({ attempt: 1 });
  });

  it('since it hangs is given up after two times 2 s', async () => {
    const { deliver, store } = setUp(aStore({ claim: never }));
    const answer = vi.fn();
    deliver().then(answer);
    await vi.advanceTimersByTimeAsync(3_999);
    expect(answer).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(answer).toHaveBeenCalledWith('503 store_unavailable');
    expect(store.claims).toHaveLength(2);
  });

  it('since it hangs is given up at the deadline, where that is sooner', async () => {
    const { deliver } = setUp(aStore({ claim: never }), {}, { deadlineMs: 1_000 });
    const answer = vi.fn();
    deliver().then(answer);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(answer).toHaveBeenCalledWith('503 store_unavailable');
  });

  it('a store that fails to claim in time, but succeeds too late, is called to release the claim', async () => {
    const inner = memoryStore();
    const gate = later();
    const claim = vi.fn(inner.claim).mockImplementation(async (request) => {
      await gate.promise;
      return inner.claim(request);
    });
    const { deliver } = setUp(aStore({ claim }, inner));
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await answer).toBe('503 store_unavailable');
    gate.resolve();
    await tick();
    expect((await inner.inspect?.('default:evt_1'))?.state).toBe('released');
    claim.mockImplementation(inner.claim);
    expect(await deliver()).toBe('200 handled');
  });

  it('a store that fails to claim in time, but had applied the one and never answers the other, is called to release as well', async () => {
    const inner = memoryStore();
    const gate = later();
    const claim = vi
      .fn(inner.claim)
      .mockImplementationOnce(async (request) => {
        await gate.promise;
        return inner.claim(request);
      })
      .mockImplementationOnce(never);
    const { deliver } = setUp(aStore({ claim }, inner));
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(4_000);
    await answer;
    gate.resolve();
    await tick();
    expect((await inner.inspect?.('default:evt_1'))?.state).toBe('released');
  });

  it('a store that fails to claim in time, and lands after the event was handled in vain, leaves the event released', async () => {
    const inner = memoryStore();
    const gate = later();
    const claim = vi.fn(inner.claim).mockImplementationOnce(async (request) => {
      await gate.promise;
      return inner.claim(request);
    });
    const { deliver, handler } = setUp(aStore({ claim }, inner));
    handler.mockRejectedValueOnce(new Error('no disk'));
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await answer).toBe('500 handler_failed');
    expect((await inner.inspect?.('default:evt_1'))?.state).toBe('released');
    gate.resolve();
    await tick();
    expect((await inner.inspect?.('default:evt_1'))?.state).toBe('released');
    expect(await deliver()).toBe('200 handled');
  });

  it('a store that fails to claim in time, and lands after the event was handled, leaves the event completed', async () => {
    const inner = memoryStore();
    const gate = later();
    const claim = vi.fn(inner.claim).mockImplementationOnce(async (request) => {
      await gate.promise;
      return inner.claim(request);
    });
    const { deliver } = setUp(aStore({ claim }, inner));
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await answer).toBe('200 handled');
    gate.resolve();
    await tick();
    expect(await deliver()).toBe('200 duplicate');
  });

  it('a store that fails to claim with thenables is called to release a claim that it has refused', async () => {
    const release = vi.fn(memoryStore().release);
    const then: Promise<never>['then'] = (_, rejected) => refuse().then(undefined, rejected);
    const claim = () => Object.fromEntries([['then', then]]) as unknown as Promise<never>;
    expect(await setUp(aStore({ claim, release })).deliver()).toBe('503 store_unavailable');
    await tick();
    expect(release).toHaveBeenCalledTimes(2);
  });

  it('too late does not take the event from somebody else', async () => {
    const inner = memoryStore();
    const gate = later();
    const claim = vi.fn(inner.claim).mockImplementation(async (request) => {
      await gate.promise;
      return inner.claim(request);
    });
    const slow = setUp(aStore({ claim }, inner));
    const answer = slow.deliver();
    await vi.advanceTimersByTimeAsync(4_000);
    await answer;
    expect(await setUp(aStore({}, inner)).deliver()).toBe('200 handled');
    gate.resolve();
    await tick();
    expect((await inner.inspect?.('default:evt_1'))?.state).toBe('completed');
  });

  it('and to release leaves no stray rejection behind', async () => {
    for (const release of [refuse, throwing, never]) {
      expect(await setUp(aStore({ claim: refuse, release })).deliver()).toBe('503 store_unavailable');
      await vi.advanceTimersByTimeAsync(60_000);
    }
  });

  const seen = { fingerprint: 'x' };

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['text', 'acquired'],
    ['an empty object', {}],
    ['an object that is no promise', { status: 'acquired', fence: 1, attempt: 1, seen }],
    ['a status nobody knows', Promise.resolve({ status: 'released', fence: 1, seen })],
    ['a status in the wrong case', Promise.resolve({ status: 'ACQUIRED', fence: 1, attempt: 1, seen })],
    [
      'a name of Object.prototype as its status',
      Promise.resolve({ status: 'constructor', fence: 1, attempt: 1, seen }),
    ],
    ['a list', Promise.resolve(['acquired', 1, 1])],
    ['no fence', Promise.resolve({ status: 'acquired', attempt: 1, seen })],
    ['a fence that is text', Promise.resolve({ status: 'acquired', fence: '1', attempt: 1, seen })],
    ['a fence that is NaN', Promise.resolve({ status: 'completed', fence: Number.NaN, seen })],
    ['no attempt', Promise.resolve({ status: 'acquired', fence: 1, seen })],
    ['no time to wait', Promise.resolve({ status: 'in_progress', fence: 1, seen })],
    [
      'a time to wait that is NaN',
      Promise.resolve({ status: 'in_progress', fence: 1, retryAfterMs: Number.NaN, seen }),
    ],
  ])('and answers %s is not believed', async (_, answer) => {
    const { receiver, handler } = setUp(aStore({ claim: (() => answer) as () => Promise<ClaimResult> }));
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('503 store_unavailable');
    expect(handler).not.toHaveBeenCalled();
  });

  it('and answers no ClaimResult is told so by way of the observer', async () => {
    const { deliver, find } = setUp(aStore({ claim: async () => ({ status: 'acquired' }) as ClaimResult }));
    await deliver();
    expect(find('store_error').error).toMatchObject({ message: expect.stringContaining('not a ClaimResult') });
  });

  describe("with onStoreError: 'process'", () => {
    const process = { onStoreError: 'process' } as const;

    it("a receiver whose store fails to claim, with onStoreError: 'process', lets the handler run, and says so", async () => {
      const { deliver, handler, answers, notices } = setUp(aStore({ claim: refuse }), process);
      expect(await deliver()).toBe('200 handled');
      expect(handler).toHaveBeenCalledOnce();
      expect(answers()).toEqual(['handled']);
      expect(notices()).toEqual(['store_error']);
    });

    it("a receiver whose store fails to claim, with onStoreError: 'process', has the memory of the process as an insurance", async () => {
      const { deliver, handler } = setUp(aStore({ claim: refuse }), process);
      await deliver();
      expect(await deliver()).toBe('200 duplicate');
      handler.mockImplementationOnce(throwing);
      expect(await deliver({ event: { id: 'evt_2' } })).toBe('500 handler_failed');
      expect(await deliver({ event: { id: 'evt_2' } })).toBe('200 handled');
    });

    it("a receiver whose store fails to claim, with onStoreError: 'process', completes where it claimed, and goes back to the store when that is back", async () => {
      const inner = memoryStore();
      const claim = vi.fn(inner.claim).mockImplementation(refuse);
      const { deliver, store } = setUp(aStore({ claim }, inner), process);
      await deliver();
      expect(store.calls).not.toContain('complete');
      claim.mockImplementation(inner.claim);
      expect(await deliver({ event: { id: 'evt_2' } })).toBe('200 handled');
      expect(store.calls).toContain('complete');
    });

    it("a receiver whose store fails to claim, with onStoreError: 'process', runs the handler within the deadline also where the store hangs", async () => {
      const { deliver } = setUp(aStore({ claim: never }), process);
      const answer = deliver();
      await vi.advanceTimersByTimeAsync(4_000);
      expect(await answer).toBe('200 handled');
    });
  });
});

describe('the init of a store', () => {
  it('the init of a store is awaited before the first claim, and called once', async () => {
    const ready = later();
    const init = vi.fn(() => ready.promise);
    const { deliver, store } = setUp(aStore({ init }));
    const answers = [deliver(), deliver({ event: { id: 'evt_2' } })];
    await tick();
    expect(store.calls).toEqual([]);
    ready.resolve();
    expect(await Promise.all(answers)).toEqual(['200 handled', '200 handled']);
    await deliver({ event: { id: 'evt_3' } });
    expect(init).toHaveBeenCalledOnce();
  });

  it.each<[string, () => Promise<void>]>([
    ['rejects', refuse],
    ['throws', throwing],
  ])('the init of a store that %s is 503, and is tried again with the next delivery', async (_, failing) => {
    const init = vi.fn(async () => {}).mockImplementationOnce(failing);
    const { deliver, store, find } = setUp(aStore({ init }));
    expect(await deliver()).toBe('503 store_unavailable');
    expect(find('store_error').operation).toBe('claim');
    expect(store.calls).toEqual([]);
    expect(await deliver()).toBe('200 handled');
    expect(init).toHaveBeenCalledTimes(2);
  });

  it('the init of a store that hangs is abandoned as soon as a claim would be, and is tried again with the next delivery', async () => {
    const init = vi.fn(async () => {}).mockImplementationOnce(never);
    const { deliver } = setUp(aStore({ init }));
    const first = vi.fn();
    deliver().then(first);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(first).toHaveBeenCalledWith('503 store_unavailable');
    expect(await deliver()).toBe('200 handled');
    expect(init).toHaveBeenCalledTimes(2);
  });

  it("the init of a store that hangs leaves time to run the handler with onStoreError: 'process'", async () => {
    const { deliver, handler } = setUp(aStore({ init: never }), { onStoreError: 'process' });
    handler.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 5_000)));
    const answer = deliver();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await answer).toBe('200 handled');
  });
});

it('an event that is remembered in memory takes a few hundred bytes', async () => {
  vi.useRealTimers();
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  // Its handler and its logger keep nothing.
  const receiver = createReceiver({ secret: SECRET, now, logger: false, on: { '*': () => {} } });
  const EVENTS = 2_000;
  const heapAfter = async (round: number) => {
    for (let i = 0; i < EVENTS; i++) {
      const id = `evt_${round}_${i}`;
      expect((await receiver(aRequest({ event: { id }, ...withKey(id) }))).status).toBe(200);
    }
    // A finalizer runs in a turn of its own, and what it frees is collected after it.
    for (let turn = 0; turn < 10; turn++) {
      collect();
      await new Promise(setImmediate);
    }
    return process.memoryUsage().heapUsed;
  };
  // The least of several: what else the process does can take memory in one round, an event takes it in each.
  const taken: number[] = [];
  let before = await heapAfter(0);
  for (const round of [1, 2, 3]) {
    const after = await heapAfter(round);
    taken.push((after - before) / EVENTS);
    before = after;
  }
  expect(Math.min(...taken)).toBeLessThan(500);
});
