import { type ClaimResult, memoryStore } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, bodyOf, inShort, never, type RecordedStore } from '../support/deliveries.js';
import { elapse, FAILURES, heldClaim, lateClaims, refuse, setUp, throwing, tick, withKey } from './set-up.js';

const HASHED_KEY = /^default:sha256:[0-9a-f]{64}$/;

beforeEach(() => {
  vi.useFakeTimers();
});

describe('deliveries of one event to a receiver with dedupe', () => {
  it('the first delivery is claimed once and completed once', async () => {
    const { deliver, store, handler } = setUp();
    expect(await deliver()).toBe('200 handled');
    expect(store.calls).toEqual(['claim', 'complete']);
    expect(handler).toHaveBeenCalledOnce();
  });

  it('each retry after the first is a duplicate', async () => {
    const { deliver, handler, answers } = setUp();
    await deliver();
    for (let i = 0; i < 5; i++) expect(await deliver()).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledOnce();
    expect(answers()).toEqual(['handled', ...Array(5).fill('duplicate')]);
  });

  it('a retry is answered with 409 while the handler runs', async () => {
    const { receiver, find } = await heldClaim();
    const retry = await receiver(aRequest());
    expect(inShort(retry)).toBe('409 delivery_in_progress');
    expect(retry.headers['retry-after']).toBe('25');
    expect(find('in_progress').error.message).toContain('Another attempt of this event is being handled.');
  });

  it('a retry runs after the handler has failed, with a higher attempt and fence', async () => {
    const { work, answer, deliver, handler, answers } = await heldClaim();
    work.reject(new Error('no disk'));
    expect(await answer).toBe('500 handler_failed');
    expect(await deliver()).toBe('200 handled');
    const [failed, retried] = handler.mock.calls.map(([, context]) => context);
    expect([failed?.attempt, retried?.attempt]).toEqual([1, 2]);
    expect(retried?.fence).toBeGreaterThan(failed?.fence ?? Number.POSITIVE_INFINITY);
    expect(answers()).toEqual(['failed', 'handled']);
  });

  it('of 50 simultaneous attempts one runs the handler', async () => {
    const { deliver, handler } = setUp();
    const answers = await Promise.all(Array.from({ length: 50 }, () => deliver()));
    expect(handler).toHaveBeenCalledOnce();
    expect(answers.filter((answer) => answer === '200 handled')).toHaveLength(1);
    expect(new Set(answers)).toEqual(new Set(['200 handled', '409 delivery_in_progress']));
  });

  it('the event is recorded under its own id although the handler changes the event', async () => {
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

  it('every delivery runs with dedupe: false', async () => {
    const handler = vi.fn();
    const { receiver } = aReceiver({ on: { '*': handler }, dedupe: false });
    for (let i = 0; i < 3; i++) expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(handler).toHaveBeenCalledTimes(3);
  });
});

describe('the calls that a receiver makes to its dedupe store', () => {
  it('each claim has a token of 32 hex digits of its own', async () => {
    const { deliver, store } = setUp();
    for (let i = 0; i < 20; i++) await deliver({ event: { id: `evt_${i}` } });
    const tokens = store.claims.map(({ token }) => token);
    expect(new Set(tokens).size).toBe(20);
    for (const token of tokens) expect(token).toMatch(/^[0-9a-f]{32}$/);
  });

  it('a claim has a SHA-256 fingerprint of the body', async () => {
    const { deliver, store } = setUp();
    await deliver({ event: { type: 'a' } });
    await deliver({ event: { type: 'b' } });
    const [first, second] = store.claims.map(({ fingerprint }) => fingerprint);
    expect(first).toMatch(/^[0-9a-f]{64}$/);
    expect(second).not.toBe(first);
  });

  it('complete() gets the claim as it was made, with the fence that the store gave', async () => {
    const inner = memoryStore();
    const complete = vi.fn(inner.complete);
    const claim = async () => ({ status: 'acquired', fence: 7, attempt: 3 }) as ClaimResult;
    const { deliver, store } = setUp(aStore({ complete, claim }, inner));
    await deliver(withKey('key-1'));
    const [{ key, token, fingerprint, alias }] = store.claims as [RecordedStore['claims'][0]];
    expect(complete.mock.calls).toEqual([
      [
        expect.objectContaining({ key, token, fingerprint, alias, fence: 7 }),
        expect.objectContaining({ retainMs: 259_200_000 }),
      ],
    ]);
  });

  it('a claim has leaseMs and retainMs of the options', async () => {
    const { deliver, store } = setUp(aStore(), { leaseMs: 5_000, retainMs: 21_600_000 });
    await deliver();
    expect(store.claims).toMatchObject([{ leaseMs: 5_000, retainMs: 21_600_000 }]);
  });

  it('a store that changes the object it is called with does not change the next call', async () => {
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

describe('the key under which a receiver claims an event', () => {
  it('an event is claimed under the name of the endpoint and its signed id', async () => {
    const { deliver, keys } = setUp(aStore(), { name: 'billing' });
    await deliver();
    expect(keys()).toEqual(['billing:evt_1']);
  });

  it.each([
    ['mail', 'handled'],
    ['billing', 'duplicate'],
  ])('at a receiver named %s, an event that the receiver named billing has handled is %s', async (name, outcome) => {
    const store = aStore();
    const [first, second] = [setUp(store, { name: 'billing' }), setUp(store, { name })];
    expect(await first.deliver()).toBe('200 handled');
    expect(await second.deliver()).toBe(`200 ${outcome}`);
    expect(await first.deliver()).toBe('200 duplicate');
  });

  const ODD_IDS = [
    ...[10_000, 10_001, 117, 118].map((length) => `evt_${'x'.repeat(length)}`),
    ...[
      '\0',
      '\0\0',
      '\u0001',
      ' ',
      'a b',
      '\n',
      'é',
      'e\u0301',
      '☃',
      '🎧',
      '\ufffd',
      '\ud83c',
      '\udfa7',
      '\u007f',
    ].map((end) => `evt_${end}`),
    ...['evt_1', 'evt_1:2', 'evt_{1}', "evt_'%", 'evt_A', 'evt_a'],
  ];

  it('unusual event ids have distinct keys of at most 200 visible ASCII characters', async () => {
    const { deliver, keys, handler } = setUp(aStore(), { name: 'n'.repeat(64) });
    for (const id of ODD_IDS) expect(await deliver({ event: { id } }), JSON.stringify(id)).toBe('200 handled');
    for (const id of ODD_IDS) expect(await deliver({ event: { id } })).toBe('200 duplicate');
    for (const key of keys()) expect(key).toMatch(/^[!-~]{1,200}$/);
    expect(new Set(keys()).size).toBe(ODD_IDS.length);
    expect(handler).toHaveBeenCalledTimes(ODD_IDS.length);
  });

  it('an id of up to 120 characters is in the key as it is, and a longer one as a hash', async () => {
    const { deliver, keys } = setUp();
    const id = `evt_${'x'.repeat(116)}`;
    await deliver({ event: { id } });
    await deliver({ event: { id: `${id}x` } });
    expect(keys()).toEqual([`default:${id}`, expect.stringMatching(HASHED_KEY)]);
  });
});

describe("the option dedupe.key as 'idempotency-key'", () => {
  const byHeader = () => setUp(aStore(), { key: 'idempotency-key' });

  it.each([
    ['key-1', 'key:key-1'],
    ['"key-1"', 'key:key-1'],
    ['', 'evt_1'],
    ['a, b', 'evt_1'],
    [undefined, 'evt_1'],
  ])('an event with the header %j is claimed as %s', async (header, key) => {
    const { deliver, keys } = byHeader();
    await deliver(header === undefined ? {} : withKey(header));
    expect(keys()).toEqual([`default:${key}`]);
  });

  it('the key has a hash of a header of 255 characters', async () => {
    const { deliver, keys } = byHeader();
    await deliver(withKey('k'.repeat(255)));
    expect(keys()[0]).toMatch(HASHED_KEY);
  });

  it('an event is handled again under another header', async () => {
    const { deliver } = byHeader();
    expect(await deliver(withKey('key-1'))).toBe('200 handled');
    expect(await deliver(withKey('key-1'))).toBe('200 duplicate');
    expect(await deliver(withKey('key-2'))).toBe('200 handled');
  });

  it('a header with the id of an event does not suppress that event sent without a header', async () => {
    const { deliver } = byHeader();
    expect(await deliver({ event: { id: 'evt_2' }, ...withKey('evt_1') })).toBe('200 handled');
    expect(await deliver()).toBe('200 handled');
  });
});

describe('the option dedupe.key as a function', () => {
  it('deliveries with the same result are one event', async () => {
    const { deliver, keys } = setUp(aStore(), { key: ({ event }) => `${event.type}/${event.jobId}` });
    expect(await deliver()).toBe('200 handled');
    expect(await deliver({ event: { id: 'evt_2' } })).toBe('200 duplicate');
    expect(keys()[0]).toBe('default:stt.completed/clip_1');
  });

  it('the key has a hash of a result with characters that a store could refuse', async () => {
    const { deliver, keys } = setUp(aStore(), { key: () => 'clip 1\0' });
    await deliver();
    expect(keys()[0]).toMatch(HASHED_KEY);
  });

  it.each([undefined, null, '', 7, Promise.resolve('key')])(
    'a delivery is refused and no handler runs for the result %j',
    async (returned) => {
      const { deliver, handler, find } = setUp(aStore(), { key: (() => returned) as () => string });
      expect(await deliver()).toBe('500 invalid_option');
      expect(find('failed').error.message).toContain('dedupe.key');
      expect(handler).not.toHaveBeenCalled();
    },
  );

  it('an error of the function fails the delivery, and no handler runs', async () => {
    const { deliver, handler, store } = setUp(aStore(), { key: throwing });
    expect(await deliver()).toBe('500 handler_failed');
    expect(handler).not.toHaveBeenCalled();
    expect(store.calls).toEqual([]);
  });
});

describe('an Idempotency-Key next to the event id', () => {
  const aliasOf = (store: RecordedStore) => store.claims[0]?.alias;

  it('the store gets the header as it is, and the key is the event id', async () => {
    const { deliver, store, keys } = setUp();
    await deliver(withKey('key-1'));
    expect(keys()).toEqual(['default:evt_1']);
    expect(aliasOf(store)).toBe('key-1');
  });

  it.each([
    ['255 characters', 'k'.repeat(255), 'k'.repeat(255)],
    ['quotes around it', '"key-1"', 'key-1'],
    ['256 characters', 'k'.repeat(256), undefined],
    ['a space', 'key 1', undefined],
    ['a character beyond ASCII', 'clé', undefined],
    ['no characters', '', undefined],
  ])('the alias of a header with %s is what the store can keep', async (_, header, alias) => {
    const { deliver, store } = setUp();
    await deliver(withKey(header));
    expect(aliasOf(store)).toBe(alias);
  });

  it('a duplicate with another header gives the notice idempotency_key_mismatch', async () => {
    const { deliver, notices, find } = setUp();
    expect(await deliver(withKey('key-1'))).toBe('200 handled');
    expect(await deliver(withKey('fresh'))).toBe('200 duplicate');
    expect(notices()).toEqual(['idempotency_key_mismatch']);
    expect(find('idempotency_key_mismatch').delivery.unsigned.idempotencyKey).toBe('fresh');
  });

  it('a retry with another header gives the notice, while the handler runs and after it failed', async () => {
    const { work, answer, deliver, notices } = await heldClaim(aStore(), {}, withKey('key-1'));
    expect(await deliver(withKey('key-2'))).toBe('409 delivery_in_progress');
    work.reject(new Error('no disk'));
    await answer;
    expect(await deliver(withKey('key-3'))).toBe('200 handled');
    expect(notices()).toEqual(['idempotency_key_mismatch', 'idempotency_key_mismatch']);
  });

  it('an attempt without the header gives no notice', async () => {
    const { deliver, notices } = setUp();
    await deliver();
    expect(await deliver(withKey('key-1'))).toBe('200 duplicate');
    expect(await deliver()).toBe('200 duplicate');
    expect(notices()).toEqual([]);
  });

  it('removing, changing or swapping the header neither repeats nor suppresses an event', async () => {
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
    'the store gets no hash of the malformed header %j',
    async (value) => {
      const { deliver, store } = setUp();
      expect(await deliver(withKey(value))).toBe('200 handled');
      expect(aliasOf(store)).toBeUndefined();
    },
  );

  it('the store gets no hash of a header that occurs twice', async () => {
    const { receiver, store } = setUp();
    const request = aRequest();
    await receiver({ ...request, headers: { ...request.headers, 'idempotency-key': ['a', 'a'] } });
    expect(store.claims).toHaveLength(1);
    expect(aliasOf(store)).toBeUndefined();
  });
});

describe('a delivery with another body under the same event id', () => {
  it('the delivery is a duplicate, and gives the notice payload_mismatch', async () => {
    const { deliver, notices, find } = setUp();
    await deliver();
    expect(await deliver({ event: { data: { clipId: 'clip_2' } } })).toBe('200 duplicate');
    expect(notices()).toEqual(['payload_mismatch']);
    expect(find('payload_mismatch').delivery.event.data).toEqual({ clipId: 'clip_2' });
  });

  it('a body that differs in its timestamp alone gives no notice', async () => {
    const { deliver, notices } = setUp();
    await deliver();
    expect(await deliver({ event: { timestamp: '2026-07-11T13:00:00Z' } })).toBe('200 duplicate');
    expect(notices()).toEqual([]);
  });

  it.each([
    ['text of its timestamp in the data', { data: { at: '2026-07-11T12:00:00Z' } }],
    ['characters beyond ASCII before its timestamp', { data: { text: 'Grüße 🎧' } }],
  ])('an event with %s is known again at another time, and a change of it is found', async (_, event) => {
    const { deliver, notices } = setUp();
    await deliver({ event: { ...event, timestamp: '2026-07-11T12:00:00Z' } });
    expect(await deliver({ event: { ...event, timestamp: '2026-07-11T12:00:30Z' } })).toBe('200 duplicate');
    expect(notices()).toEqual([]);
    expect(await deliver({ event: { ...event, jobId: 'other' } })).toBe('200 duplicate');
    expect(notices()).toEqual(['payload_mismatch']);
  });

  it('a timestamp that is written with escapes is compared with the rest of the body', async () => {
    const body = bodyOf().replace('"timestamp":"2', '"timestamp":"\\u0032');
    expect(body).toContain('u0032');
    const { deliver, notices } = setUp();
    expect([await deliver({ body }), await deliver({ body })]).toEqual(['200 handled', '200 duplicate']);
    expect(notices()).toEqual([]);
  });

  it('bodies that are nested too deeply to be serialised are compared too', async () => {
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

describe('a dedupe store that fails to claim', () => {
  it.each(FAILURES)('claim() is called twice where it %s, and then the answer is 503', async (_, claim) => {
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

  it('the observer gets the cause, and the sender does not', async () => {
    const cause = new Error('CANARY');
    const { receiver, find } = setUp(aStore({ claim: () => Promise.reject(cause) }));
    expect(JSON.stringify(await receiver(aRequest()))).not.toContain('CANARY');
    expect(find('failed').error.cause).toBe(cause);
    expect(find('store_error').error).toBe(cause);
  });

  it.each([
    ['was refused', false],
    ['was made and whose reply was lost', true],
  ])('the event is handled after a first claim that %s', async (_, isMade) => {
    const inner = memoryStore();
    const claim = vi.fn(inner.claim).mockImplementationOnce(async (request) => {
      if (isMade) await inner.claim(request);
      return refuse();
    });
    const { deliver, handler, notices } = setUp(aStore({ claim }, inner));
    expect(await deliver()).toBe('200 handled');
    expect(handler.mock.calls[0]?.[1]).toMatchObject({ attempt: 1 });
    expect(notices()).toEqual([]);
  });

  it('the answer to a store that hangs is 503 after 2 s for each of two claims', async () => {
    const { deliver, store } = setUp(aStore({ claim: never }));
    const answer = vi.fn();
    deliver().then(answer);
    await elapse(3_999);
    expect(answer).not.toHaveBeenCalled();
    await elapse(1);
    expect(answer).toHaveBeenCalledWith('503 store_unavailable');
    expect(store.claims).toHaveLength(2);
  });

  it('the answer to a store that hangs is 503 at the deadline where that is sooner', async () => {
    const answer = vi.fn();
    setUp(aStore({ claim: never }), {}, { deadlineMs: 1_000 })
      .deliver()
      .then(answer);
    await elapse(1_001);
    expect(answer).toHaveBeenCalledWith('503 store_unavailable');
  });

  it.each([refuse, throwing, never])('a release() that fails too leaves no unhandled rejection', async (release) => {
    expect(await setUp(aStore({ claim: refuse, release })).deliver()).toBe('503 store_unavailable');
    await elapse(60_000);
  });

  it('a claim() that returns a rejecting thenable is released after each of the two calls', async () => {
    const release = vi.fn(memoryStore().release);
    const then: Promise<never>['then'] = (_, rejected) => refuse().then(undefined, rejected);
    const claim = () => Object.fromEntries([['then', then]]) as unknown as Promise<never>;
    expect(await setUp(aStore({ claim, release })).deliver()).toBe('503 store_unavailable');
    await tick();
    expect(release).toHaveBeenCalledTimes(2);
  });
});

describe('a claim that the store makes only after the call has timed out', () => {
  it.each([
    ['lands late as well', undefined],
    ['never answers', never<never>],
  ])('the event is released when the second claim() %s', async (_, second) => {
    const { deliver, land, state } = lateClaims({ second });
    const answer = deliver();
    await elapse(4_000);
    expect(await answer).toBe('503 store_unavailable');
    await land();
    expect(await state()).toBe('released');
    expect(await deliver()).toBe('200 handled');
  });

  it('an event whose handler failed before the claim arrived stays released', async () => {
    const { deliver, handler, land, state } = lateClaims({ count: 1 });
    handler.mockRejectedValueOnce(new Error('no disk'));
    const answer = deliver();
    await elapse(2_000);
    expect(await answer).toBe('500 handler_failed');
    expect(await state()).toBe('released');
    await land();
    expect(await state()).toBe('released');
    expect(await deliver()).toBe('200 handled');
  });

  it('an event that was handled before the claim arrived stays completed', async () => {
    const { deliver, land } = lateClaims({ count: 1 });
    const answer = deliver();
    await elapse(2_000);
    expect(await answer).toBe('200 handled');
    await land();
    expect(await deliver()).toBe('200 duplicate');
  });

  it('an event that another receiver handled before the claim arrived stays completed', async () => {
    const { deliver, inner, land, state } = lateClaims({});
    const answer = deliver();
    await elapse(4_000);
    await answer;
    expect(await setUp(aStore({}, inner)).deliver()).toBe('200 handled');
    await land();
    expect(await state()).toBe('completed');
  });
});

describe('a dedupe store that answers a claim with no ClaimResult', () => {
  const right = { status: 'acquired', fence: 1, attempt: 1, retryAfterMs: 1, seen: { fingerprint: 'x' } };
  const answerWith = (changes: Record<string, unknown>) => Promise.resolve({ ...right, ...changes });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['true', true],
    ['text', 'acquired'],
    ['an empty object', {}],
    ['an object that is no promise', right],
    ['an unknown status', answerWith({ status: 'released' })],
    ['a status in the wrong case', answerWith({ status: 'ACQUIRED' })],
    ['a name of Object.prototype as its status', answerWith({ status: 'constructor' })],
    ['a list', Promise.resolve(['acquired', 1, 1])],
    ['no fence', answerWith({ fence: undefined })],
    ['a fence that is text', answerWith({ fence: '1' })],
    ['a fence that is NaN', answerWith({ status: 'completed', fence: Number.NaN })],
    ['no attempt', answerWith({ attempt: undefined })],
    ['no time to wait', answerWith({ status: 'in_progress', retryAfterMs: undefined })],
    ['a time to wait that is NaN', answerWith({ status: 'in_progress', retryAfterMs: Number.NaN })],
  ])('the delivery is answered 503 for %s', async (_, answer) => {
    const { deliver, handler } = setUp(aStore({ claim: (() => answer) as () => Promise<ClaimResult> }));
    expect(await deliver()).toBe('503 store_unavailable');
    expect(handler).not.toHaveBeenCalled();
  });

  it('the observer gets an error that says that the answer is no ClaimResult', async () => {
    const { deliver, find } = setUp(aStore({ claim: async () => ({ status: 'acquired' }) as ClaimResult }));
    await deliver();
    expect(find('store_error').error).toMatchObject({ message: expect.stringContaining('not a ClaimResult') });
  });
});

describe("the option dedupe.onStoreError as 'process'", () => {
  const process = { onStoreError: 'process' } as const;

  it('the handler runs although the store fails, and the notice store_error is given', async () => {
    const { deliver, handler, answers, notices } = setUp(aStore({ claim: refuse }), process);
    expect(await deliver()).toBe('200 handled');
    expect(handler).toHaveBeenCalledOnce();
    expect(answers()).toEqual(['handled']);
    expect(notices()).toEqual(['store_error']);
  });

  it('while the store fails, retries are recognised in the memory of the process', async () => {
    const { deliver, handler } = setUp(aStore({ claim: refuse }), process);
    await deliver();
    expect(await deliver()).toBe('200 duplicate');
    handler.mockImplementationOnce(throwing);
    expect(await deliver({ event: { id: 'evt_2' } })).toBe('500 handler_failed');
    expect(await deliver({ event: { id: 'evt_2' } })).toBe('200 handled');
  });

  it('a store that works again completes events claimed in it, and none from the memory', async () => {
    const inner = memoryStore();
    const claim = vi.fn(inner.claim).mockImplementation(refuse);
    const { deliver, store } = setUp(aStore({ claim }, inner), process);
    await deliver();
    expect(store.calls).not.toContain('complete');
    claim.mockImplementation(inner.claim);
    expect(await deliver({ event: { id: 'evt_2' } })).toBe('200 handled');
    expect(store.calls).toContain('complete');
  });

  it.each([
    ['claim', { claim: never }],
    ['init', { init: never }],
  ])('the handler has 5 s before the deadline although %s() of the store hangs', async (_, methods) => {
    const { deliver, handler } = setUp(aStore(methods), process);
    handler.mockImplementation(() => new Promise((resolve) => setTimeout(resolve, 5_000)));
    const answer = deliver();
    await elapse(15_000);
    expect(await answer).toBe('200 handled');
  });
});

describe('init() of a dedupe store', () => {
  it('the first claim waits for init(), which is called once', async () => {
    let ready = () => {};
    const init = vi.fn(() => new Promise<void>((resolve) => (ready = resolve)));
    const { deliver, store } = setUp(aStore({ init }));
    const answers = [deliver(), deliver({ event: { id: 'evt_2' } })];
    await tick();
    expect(store.calls).toEqual([]);
    ready();
    expect(await Promise.all(answers)).toEqual(['200 handled', '200 handled']);
    await deliver({ event: { id: 'evt_3' } });
    expect(init).toHaveBeenCalledOnce();
  });

  it.each([
    ['rejects', refuse],
    ['throws', throwing],
    ['hangs for 4 s', never<never>],
  ])('a delivery is answered with 503 where init() %s, and the next one calls it again', async (_, failing) => {
    const init = vi.fn(async () => {}).mockImplementationOnce(failing);
    const { deliver, store, find } = setUp(aStore({ init }));
    const first = vi.fn();
    deliver().then(first);
    await elapse(failing === never ? 4_000 : 0);
    expect(first).toHaveBeenCalledWith('503 store_unavailable');
    expect(find('store_error').operation).toBe('claim');
    expect(store.calls).toEqual([]);
    expect(await deliver()).toBe('200 handled');
    expect(init).toHaveBeenCalledTimes(2);
  });
});
