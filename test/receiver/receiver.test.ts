import {
  type HandlerContext,
  PermanentError,
  type Receiver,
  type ReceiverOptions,
  WEBHOOK_EVENT_TYPES,
  type WebhookRequest,
} from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import {
  aReceiver,
  aRequest,
  aStore,
  type DeliveryParts,
  inShort,
  later,
  NOW,
  never,
  now,
  SECRET,
} from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { answerTo, begin } from './answers.js';
import { failing, handlerOf, throwing, trapped } from './traps.js';

const OTHER = 'whsec_another-tenant';

describe('the handlers of a receiver', () => {
  it("the handler of the event's type runs and no other", async () => {
    const on = Object.fromEntries(WEBHOOK_EVENT_TYPES.map((type) => [type, vi.fn()]));
    const { receiver } = aReceiver({ on });
    const data = { clipId: 'clip_1', feature: 'tts', durationSec: 1, downloadUrl: 'https://storage.example/' };
    for (const type of WEBHOOK_EVENT_TYPES) {
      expect(await answerTo(receiver, { event: { id: `evt_${type}`, type, data } })).toBe('200 handled');
    }
    const ran = Object.entries(on).map(([type, handler]) => [type, handler.mock.calls.map(([event]) => event.type)]);
    expect(ran).toEqual(WEBHOOK_EVENT_TYPES.map((type) => [type, [type]]));
  });

  it("'*' runs for an event without a handler of its own, known or not", async () => {
    const [own, rest] = [vi.fn(), vi.fn()];
    const { receiver } = aReceiver({ on: { 'stt.completed': own, 'stt.failed': undefined, '*': rest } });
    const others = ['stt.failed', 'video.completed', '*', 'constructor', '__proto__'];
    for (const type of ['stt.completed', ...others]) {
      expect(await answerTo(receiver, { event: { id: `evt_${type}`, type } })).toBe('200 handled');
    }
    expect(own).toHaveBeenCalledOnce();
    expect(rest.mock.calls.map(([{ type }]) => type)).toEqual(others);
  });

  it.each(['stt.failed', 'video.completed', 'constructor', '__proto__', 'toString', '*'])(
    'an event of the type %j without a handler is ignored, and no store is called',
    async (type) => {
      const store = aStore();
      const handler = vi.fn();
      const { receiver, answers, find } = aReceiver({ on: { 'stt.completed': handler }, dedupe: { store } });
      expect(await answerTo(receiver, { event: { type } })).toBe('200 ignored');
      expect(find('ignored').delivery.event.type).toBe(type);
      expect(answers()).toEqual(['ignored']);
      expect(handler).not.toHaveBeenCalled();
      expect(store.calls).toEqual([]);
    },
  );

  it.each([undefined, {}])('every event is ignored where `on` is %j', async (on) => {
    expect(await answerTo(aReceiver({ on }).receiver)).toBe('200 ignored');
  });

  it('changing the object `on` after creating the receiver has no effect', async () => {
    const on: Record<string, () => void> = { 'stt.completed': vi.fn() };
    const { receiver } = aReceiver({ on });
    Object.assign(on, { 'stt.completed': throwing, 'stt.failed': throwing });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(await answerTo(receiver, { event: { type: 'stt.failed' } })).toBe('200 ignored');
  });

  it('no handler and no store is called for an invalid delivery', async () => {
    const handler = vi.fn();
    const store = aStore();
    const { receiver, answers } = aReceiver({ on: { '*': handler }, dedupe: { store } });
    const refused: Partial<WebhookRequest>[] = [
      { method: 'GET' },
      { headers: {} },
      { body: 'changed' },
      { body: undefined },
      aRequest({ secret: OTHER }),
      aRequest({ at: NOW - 301_000 }),
      aRequest({ scheme: 'legacy' }),
      aRequest({ body: '{}' }),
      aRequest({ event: { id: 'msg_1' } }),
    ];
    for (const parts of refused) {
      expect((await receiver({ ...aRequest(), ...parts })).status).toBeGreaterThanOrEqual(400);
    }
    expect(answers()).toHaveLength(refused.length);
    expect(handler).not.toHaveBeenCalled();
    expect(store.calls).toEqual([]);
  });
});

describe('a receiver and the version of a payload', () => {
  it.each([
    ['2026-07-11', []],
    ['2027-01-01', ['unknown_version']],
  ])('an event of the version %s is handled and gives the notices %j', async (version, expected) => {
    const handler = vi.fn();
    const { receiver, outcomes, notices, answers } = aReceiver({ on: { 'stt.completed': handler } });
    expect(await answerTo(receiver, { event: { version } })).toBe('200 handled');
    expect(handler.mock.calls[0]?.[0].version).toBe(version);
    expect([notices(), answers()]).toEqual([expected, ['handled']]);
    expect(outcomes.map(({ delivery }) => delivery?.event.id)).toContain('evt_1');
  });
});

describe('broken input to a receiver', () => {
  const withGetter = (of: object, name: string) => Object.defineProperty(of, name, { get: throwing, enumerable: true });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['text', 'POST'],
    ['an empty object', {}],
    ['a request with undefined headers', { method: 'POST', headers: undefined, body: '' }],
    ['a request with text as headers', { method: 'POST', headers: 'x', body: '' }],
    ['a request with headers that throw', { ...aRequest(), headers: trapped() }],
    ['a request with a header that throws', { ...aRequest(), headers: withGetter({}, 'content-length') }],
    ['a request with a body getter that throws', withGetter(aRequest(), 'body')],
    ['a request with a method getter that throws', withGetter(aRequest(), 'method')],
    ['a request with a body that throws', { ...aRequest(), body: trapped() }],
    ['a request with a wrong signal', { ...aRequest(), body: new Response('x').body, signal: {} }],
  ])('the receiver answers and never rejects for %s', async (_, broken) => {
    const request = broken as WebhookRequest;
    const ways: ((receiver: Receiver) => ReturnType<Receiver>)[] = [
      (receiver) => receiver(request),
      async (receiver) => ((await receiver.begin(request)) as { response: Awaited<ReturnType<Receiver>> }).response,
    ];
    for (const answerOf of ways) {
      const { receiver, answers } = aReceiver();
      const response = await answerOf(receiver);
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(JSON.parse(response.body)).toHaveProperty('error.code');
      expect(answers()).toHaveLength(1);
    }
  });

  it('a clock that throws is answered with 500', async () => {
    const { receiver, find } = aReceiver({ now: throwing });
    expect((await receiver(aRequest())).status).toBe(500);
    expect(find('failed').error.cause).toBeInstanceOf(Error);
  });
});

describe('a secret function of a receiver', () => {
  it.each<[string, Record<string, string | string[]>, object]>([
    ['the webhook id of the delivery', { 'X-Service-Webhook-Id': 'wh_1' }, { webhookId: 'wh_1' }],
    ['nothing where the delivery has no webhook id', {}, {}],
    ['nothing where the webhook id came twice', { 'x-service-webhook-id': ['a', 'b'] }, {}],
  ])('the function is called with %s', async (_, headers, expected) => {
    const secret = vi.fn(async () => [SECRET]);
    const request = aRequest();
    await aReceiver({ secret }).receiver({ ...request, headers: { ...request.headers, ...headers } });
    expect(secret.mock.calls).toStrictEqual([[expected]]);
  });

  it('secretIndex of the delivery says which of several secrets matched', async () => {
    const { receiver, find } = aReceiver({ secret: async () => [OTHER, SECRET] });
    await receiver(aRequest());
    expect(find('handled').delivery.secretIndex).toBe(1);
  });

  it('the function may return the secrets without a promise', async () => {
    const secret = (() => [SECRET]) as unknown as () => Promise<string[]>;
    expect(await answerTo(aReceiver({ secret }).receiver)).toBe('200 handled');
  });

  it.each([[[]], [undefined], [null]])('the result %j is answered with 401 signature_mismatch', async (secrets) => {
    const { receiver, find } = aReceiver({ secret: async () => secrets as string[] });
    expect(await answerTo(receiver)).toBe('401 signature_mismatch');
    expect(find('rejected').error.message).toContain('0 secrets were tried');
  });

  it.each<[string, unknown]>([
    ['an empty secret', ['']],
    ['a blank secret', ['  ']],
    ['an undefined secret', [undefined]],
    ['a hole', new Array(1)],
    ['empty bytes', [new Uint8Array(0)]],
    ['a number', 42],
    ['an object', {}],
    ['false', false],
    ['an empty text', ''],
  ])('every delivery is refused where the result is %s', async (_, secrets) => {
    const { receiver, answers, find } = aReceiver({ secret: async () => secrets as string[] });
    expect(await answerTo(receiver)).toBe('500 invalid_secret');
    expect(answers()).toEqual(['failed']);
    expect(find('failed').error.message).not.toContain(SECRET);
  });

  it.each<[string, () => unknown]>([
    ['an exception', throwing],
    ['a rejection', () => Promise.reject(new Error('vault is sealed'))],
    ['a rejection with undefined', () => Promise.reject()],
  ])('%s of the function is answered with 503, so that the service retries', async (_, secret) => {
    const { receiver, find } = aReceiver({ secret: secret as () => Promise<string[]> });
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('503 secret_unavailable');
    expect(response.headers['retry-after']).toBe('30');
    expect(find('failed').error).toMatchObject({ code: 'secret_unavailable', retryable: true });
  });

  it('the answer is 503 at the deadline where the function is still pending', async () => {
    vi.useFakeTimers();
    const answer = answerTo(aReceiver({ secret: never, deadlineMs: 3_000 }).receiver);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await answer).toBe('503 secret_unavailable');
  });

  it('the function is not called for a request without a body', async () => {
    const secret = vi.fn(async () => [SECRET]);
    await aReceiver({ secret }).receiver({ ...aRequest(), body: undefined });
    expect(secret).not.toHaveBeenCalled();
  });
});

describe('an observer of a receiver', () => {
  const failingStore = aStore({
    claim: async () => ({ status: 'acquired', fence: 1, attempt: 1 }),
    complete: throwing,
    release: throwing,
  });
  const dedupe = { store: failingStore, name: 'clips' };

  const deliveries: [options: Partial<ReceiverOptions>, parts: DeliveryParts, answer: string][] = [
    [{}, {}, '200 handled'],
    [{ on: { '*': () => ({ status: 202 }) } }, {}, '202 handled'],
    [{ on: {} }, {}, '200 ignored'],
    [{}, { secret: OTHER }, '401 signature_mismatch'],
    [{ on: { '*': throwing } }, {}, '500 handler_failed'],
    [{}, { event: { version: '2020-01-01' } }, '200 handled'],
    [{ dedupe }, {}, '200 handled'],
    [{ on: { '*': throwing }, dedupe }, {}, '500 handler_failed'],
  ];

  it.each<[string, (outcome: object) => unknown]>([
    ['throws', throwing],
    ['throws undefined', failing(undefined)['*']],
    ['rejects', () => Promise.reject(new Error('metrics are down'))],
    ['rejects with undefined', () => Promise.reject()],
    ['never ends', never],
    ['returns a thenable that throws', () => Object.fromEntries([['then', throwing]])],
    ['returns a `then` getter that throws', () => Object.defineProperty({}, 'then', { get: throwing })],
    ['returns a Proxy that throws', () => trapped()],
    ['empties the outcome', (outcome) => Object.keys(outcome).map((name) => Reflect.deleteProperty(outcome, name))],
    ['changes the outcome', (outcome) => Object.assign(outcome, { kind: 'in_progress', status: 500, error: null })],
    ['freezes the outcome', (outcome) => Object.freeze(outcome)],
  ])('every answer stays the same with an observer that %s', async (_, observer) => {
    const observe = observer as () => void;
    for (const [options, parts, expected] of deliveries) {
      expect(await answerTo(aReceiver({ ...options, observe }).receiver, parts)).toBe(expected);
    }
    const { receiver } = aReceiver({ observe });
    expect(inShort(await (await begin(receiver)).settle('ok'))).toBe('200 handled');
    expect(await refusalOf(receiver)).toBe('200 duplicate');
  });

  it('the event is recorded under its own id although the observer changes that id', async () => {
    const store = aStore();
    const { receiver } = aReceiver({
      dedupe: { store },
      observe: ({ delivery }) => {
        if (delivery) delivery.event.id = 'evt_redacted';
      },
    });
    await receiver(aRequest({ event: { version: '2020-01-01' } }));
    expect(store.claims.map(({ key }) => key)).toEqual(['default:evt_1']);
  });

  it('the observer gets exactly one decision for each request', async () => {
    const { receiver, answers } = aReceiver();
    await Promise.all([aRequest(), aRequest({ secret: OTHER }), aRequest({ event: { id: 'evt_2' } })].map(receiver));
    await receiver(aRequest());
    expect(answers().sort()).toEqual(['duplicate', 'handled', 'handled', 'rejected']);
  });
});

/** The answer that `begin` gives instead of a delivery. */
async function refusalOf(receiver: Receiver, request = aRequest()) {
  const begun = await receiver.begin(request);
  return 'response' in begun ? inShort(begun.response) : expect.fail('the delivery has begun');
}

describe('a delivery that a middleware begins with `receiver.begin`', () => {
  it('`begin` returns a delivery that is verified and claimed', async () => {
    const store = aStore();
    const { receiver, answers } = aReceiver({ on: {}, dedupe: { store } });
    const { delivery, context } = await begin(receiver, { event: { type: 'video.completed' } });
    expect(delivery.event).toMatchObject({ id: 'evt_1', type: 'video.completed' });
    expect(context).toMatchObject({ attempt: 1, delivery });
    expect(context.signal.aborted).toBe(false);
    expect(store.calls).toEqual(['claim']);
    expect(answers()).toEqual([]);
  });

  it('a failure that is reported twice gives no notice of a late result', async () => {
    const { receiver, notices } = aReceiver();
    const { settle } = await begin(receiver);
    await Promise.all([settle('failed'), settle('failed'), settle('ok')]);
    expect(notices()).toEqual([]);
  });

  it('`begin` returns the answer to a refused request', async () => {
    const { receiver, answers } = aReceiver();
    expect(await refusalOf(receiver, aRequest({ secret: OTHER }))).toBe('401 signature_mismatch');
    expect(await refusalOf(receiver, { ...aRequest(), method: 'GET' })).toBe('405 method_not_allowed');
    expect(answers()).toEqual(['rejected', 'rejected']);
  });

  it('`begin` returns the answer to a delivery that is in progress or done', async () => {
    const { receiver } = aReceiver();
    const first = await begin(receiver);
    expect(await refusalOf(receiver)).toBe('409 delivery_in_progress');
    await first.settle('ok');
    expect(await refusalOf(receiver)).toBe('200 duplicate');
  });

  it('`begin` returns 503 where the store cannot claim', async () => {
    expect(await refusalOf(aReceiver({ dedupe: { store: aStore({ claim: throwing }) } }).receiver)).toBe(
      '503 store_unavailable',
    );
  });

  it("a response that ended 'ok' completes the claim", async () => {
    const store = aStore();
    const { receiver, answers, find } = aReceiver({ dedupe: { store } });
    expect(inShort(await (await begin(receiver)).settle('ok'))).toBe('200 handled');
    expect(find('handled')).toMatchObject({ attempt: 1, status: 200, delivery: { event: { id: 'evt_1' } } });
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'complete']);
  });

  it.each<[string, unknown]>([
    ['an error', new Error('no disk')],
    ['undefined', undefined],
    ['a Proxy that throws', trapped()],
    ['a frozen error', Object.freeze(new Error('frozen'))],
  ])("a response that ended 'failed' releases the claim; its cause is %s", async (_, cause) => {
    const store = aStore();
    const { receiver, find } = aReceiver({ dedupe: { store } });
    expect(inShort(await (await begin(receiver)).settle('failed', cause))).toBe('500 handler_failed');
    expect(find('failed').error.cause === cause).toBe(true);
    expect(store.calls).toEqual(['claim', 'release']);
    expect((await begin(receiver)).context).toMatchObject({ attempt: 2 });
  });

  it('a PermanentError of the route completes the claim, so that no retry runs', async () => {
    const { receiver, answers } = aReceiver();
    const { settle } = await begin(receiver);
    expect(inShort(await settle('failed', new PermanentError('no such clip')))).toBe('200 discarded');
    expect(await refusalOf(receiver)).toBe('200 duplicate');
    expect(answers()).toEqual(['discarded', 'duplicate']);
  });

  it("a response that ended 'unknown' neither completes nor releases the claim until its lease ends", async () => {
    vi.useFakeTimers();
    const store = aStore();
    const { receiver, answers, find } = aReceiver({ dedupe: { store } });
    expect(inShort(await (await begin(receiver)).settle('unknown'))).toBe('500 handler_failed');
    expect(find('failed').error.message).toContain('connection closed');
    expect(store.calls).toEqual(['claim']);
    await vi.advanceTimersByTimeAsync(24_999);
    expect(await refusalOf(receiver)).toBe('409 delivery_in_progress');
    await vi.advanceTimersByTimeAsync(1);
    expect((await begin(receiver)).context).toMatchObject({ attempt: 2 });
    expect(answers()).toEqual(['failed', 'in_progress']);
    expect(store.calls).not.toContain('extend');
  });

  it('only the first reported end is recorded, also where another is reported meanwhile', async () => {
    const store = aStore();
    const { receiver, answers, notices, find } = aReceiver({ dedupe: { store } });
    const { settle } = await begin(receiver);
    const late = new Error('late');
    const ends = await Promise.all([settle('ok'), settle('failed', late)]);
    expect([...ends, await settle('unknown')].map(inShort)).toEqual(Array(3).fill('200 handled'));
    expect(answers()).toEqual(['handled']);
    expect(notices()).toEqual(['late_result']);
    expect(find('late_result')).toMatchObject({ result: 'failed', error: { code: 'handler_failed', cause: late } });
    expect(store.calls).toEqual(['claim', 'complete']);
  });

  it.each([
    ['ok', '200 handled', 'complete'],
    ['failed', '500 handler_failed', 'release'],
  ] as const)(
    'a store that fails does not change the answer to a response that ended %j',
    async (ended, expected, operation) => {
      const gone = async () => Promise.reject(new Error('ECONNRESET'));
      const { receiver, find } = aReceiver({ dedupe: { store: aStore({ complete: gone, release: gone }) } });
      expect(inShort(await (await begin(receiver)).settle(ended))).toBe(expected);
      expect(find('store_error').operation).toBe(operation);
    },
  );

  it.each<[string | undefined, ReceiverOptions['dedupe']]>([
    ['clips', { name: 'clips' }],
    [undefined, {}],
    [undefined, false],
  ])('the endpoint of the context is %j with dedupe: %j', async (endpoint, dedupe) => {
    const handler = vi.fn();
    await aReceiver({ dedupe, on: { '*': handler } }).receiver(aRequest());
    expect(handler.mock.lastCall?.[1]).toHaveProperty('endpoint', endpoint);
  });

  it('with dedupe: false, every delivery has attempt 1 and fence 0', async () => {
    const { receiver } = aReceiver({ dedupe: false });
    for (let i = 0; i < 2; i++) {
      const { context, settle } = await begin(receiver);
      expect(context).toMatchObject({ attempt: 1, fence: 0 });
      expect(inShort(await settle('ok'))).toBe('200 handled');
    }
  });

  it('the deadline aborts the signal and leaves the answer to the route', async () => {
    vi.useFakeTimers();
    const { receiver, answers } = aReceiver();
    const { context, settle } = await begin(receiver);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(context.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(context.signal.aborted).toBe(true);
    expect(answers()).toEqual([]);
    expect(inShort(await settle('ok'))).toBe('200 handled');
    expect(await refusalOf(receiver)).toBe('200 duplicate');
  });

  it('the signal of a response that ended in time is never aborted', async () => {
    vi.useFakeTimers();
    const { context, settle } = await begin(aReceiver().receiver);
    await settle('ok');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(context.signal.aborted).toBe(false);
  });

  it('the claim is renewed until the response has ended', async () => {
    vi.useFakeTimers();
    const { receiver } = aReceiver();
    const { settle } = await begin(receiver);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(await refusalOf(receiver)).toBe('409 delivery_in_progress');
    await settle('failed');
    expect((await begin(receiver)).context.attempt).toBe(2);
  });
});

it('a receiver calls its option `now` once for a delivery', async () => {
  const clock = vi.fn(now);
  await aReceiver({ now: clock }).receiver(aRequest());
  expect(clock).toHaveBeenCalledOnce();
});

describe('the timers of a receiver and the life of the process', () => {
  /** Returns the timers that were set since and not cleared. */
  function watchTimers() {
    const set = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'setInterval')];
    const clear = [vi.spyOn(globalThis, 'clearTimeout'), vi.spyOn(globalThis, 'clearInterval')];
    return () => {
      const cleared = new Set<unknown>(clear.flatMap(({ mock }) => mock.calls.map(([timer]) => timer)));
      const timers = set.flatMap(({ mock }) => mock.results.map(({ value }) => value));
      return timers.filter((timer) => !cleared.has(timer));
    };
  }

  const keepingAlive = (timers: NodeJS.Timeout[]) => timers.filter((timer) => timer.hasRef());

  it('one timer keeps the process alive until a request is answered', async () => {
    const waiting = watchTimers();
    const [started, work] = [later(), later()];
    const on = handlerOf(() => {
      started.resolve();
      return work.promise;
    });
    const answer = answerTo(aReceiver({ on }).receiver);
    await started.promise;
    expect(keepingAlive(waiting())).toHaveLength(1);
    work.resolve();
    await answer;
    expect(keepingAlive(waiting())).toEqual([]);
  });

  it('one timer keeps the process alive until the response of a middleware has ended', async () => {
    const waiting = watchTimers();
    const { settle } = await begin(aReceiver().receiver);
    expect(keepingAlive(waiting())).toHaveLength(1);
    await settle('failed');
    expect(keepingAlive(waiting())).toEqual([]);
  });

  it('no timer keeps the process alive after the answer', async () => {
    const waiting = watchTimers();
    const { receiver } = aReceiver({
      on: { '*': ({ id }) => (id === 'evt_2' ? never() : undefined) },
      dedupe: { store: aStore({ complete: () => Promise.reject(new Error('gone')) }) },
      deadlineMs: 50,
    });
    const silent = { [Symbol.asyncIterator]: () => ({ next: never }) };
    await receiver({ ...aRequest(), headers: {}, body: silent }); // drains
    await receiver(aRequest()); // completes again later
    await receiver(aRequest({ event: { id: 'evt_2' } })); // renews its claim
    // One for each of these; other tests of this process may add theirs.
    expect(waiting().length).toBeGreaterThanOrEqual(3);
    expect(keepingAlive(waiting())).toEqual([]);
  });
});

it('two receivers without a shared store each handle the same event', async () => {
  for (const { receiver } of [aReceiver(), aReceiver()]) expect(await answerTo(receiver)).toBe('200 handled');
});

it('a receiver handles simultaneous events once each, whichever ends first', async () => {
  const ends = [later(), later(), later()];
  const handled: string[] = [];
  const on = {
    '*': async (_: unknown, { delivery }: HandlerContext) => {
      handled.push(delivery.event.id);
      await ends[handled.length - 1]?.promise;
    },
  };
  const { receiver } = aReceiver({ on });
  const answers = ends.map((_, i) => answerTo(receiver, { event: { id: `evt_${i}` } }));
  await vi.waitFor(() => expect(handled).toHaveLength(3), PATIENTLY);
  for (const end of ends.reverse()) end.resolve();
  expect(await Promise.all(answers)).toEqual(Array(3).fill('200 handled'));
  expect(new Set(handled).size).toBe(3);
});
