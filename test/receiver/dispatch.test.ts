import {
  type HandlerContext,
  type Handlers,
  memoryStore,
  PermanentError,
  verify,
  WebhookError,
} from 'service-webhooks';
import { createProcessor, toQueued } from 'service-webhooks/queue';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aDelivery, aReceiver, aRequest, aStore, inShort, later, never, now, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { answerTo } from './answers.js';
import { countingControllers, failing, handlerOf, throwing, trapped } from './traps.js';

type Settle = (value?: unknown) => void;

/** Something that can be awaited and is no promise. */
const thenable = (then: (resolve: Settle, reject: Settle) => void): object => Object.fromEntries([['then', then]]);

const withGetter = (name: string) => Object.defineProperty({}, name, { get: throwing });

describe('the result of a handler', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, '200 handled'],
    ['null', null, '200 handled'],
    ['a number', 500, '200 handled'],
    ['text', 'failed', '200 handled'],
    ['false', false, '200 handled'],
    ['an object without a status', { id: 1 }, '200 handled'],
    ['a status that is no number', { status: 'failed' }, '200 handled'],
    ['status 200', { status: 200 }, '200 handled'],
    ['status 202', { status: 202 }, '202 handled'],
    ['status 204', { status: 204 }, '204'],
    ['status 205', { status: 205 }, '205'],
    ['status 299', { status: 299 }, '299 handled'],
    ['a promise of a status', Promise.resolve({ status: 202 }), '202 handled'],
    ['a thenable', thenable((resolve) => resolve({ status: 202 })), '202 handled'],
  ])('%s as the result completes the claim with the answer %j', async (_, returned, expected) => {
    const store = aStore();
    const { receiver, answers } = aReceiver({ on: handlerOf(() => returned), dedupe: { store } });
    expect(await answerTo(receiver)).toBe(expected);
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'complete']);
  });

  it.each<[string, () => unknown]>([
    ...[500, 503, 404, 302, 199, 300, 100, 0, -200, 200.5, Number.NaN, Number.POSITIVE_INFINITY].map(
      (status): [string, () => unknown] => [`status ${status}`, () => ({ status })],
    ),
    ['a status getter that throws', () => withGetter('status')],
    ['a Proxy that throws', () => trapped()],
    ['a function that throws', () => trapped(() => {})],
    ['a thenable that throws', () => thenable(throwing)],
    ['a thenable that rejects', () => thenable((_, reject) => reject(new Error('later')))],
    ['a `then` getter that throws', () => withGetter('then')],
  ])('%s as the result is a failure, and releases the claim', async (what, returned) => {
    const store = aStore();
    const { receiver, answers, find } = aReceiver({ on: handlerOf(returned), dedupe: { store } });
    expect(await answerTo(receiver)).toBe('500 handler_failed');
    expect(answers()).toEqual(['failed']);
    expect(store.calls).toEqual(['claim', 'release']);
    if (what.startsWith('status ')) {
      expect((find('failed').error.cause as Error).message).toContain('To refuse a delivery, throw');
    }
  });
});

describe('an exception of a handler', () => {
  it.each<[string, unknown]>([
    ['an error', new Error('no disk')],
    ['undefined', undefined],
    ['null', null],
    ['text', 'no disk'],
    ['zero', 0],
    ['a symbol', Symbol('no disk')],
    ['a frozen error', Object.freeze(new Error('no disk'))],
    ['an object without a prototype', Object.create(null)],
    ['a Proxy that throws', trapped()],
    ['a function that throws', trapped(() => {})],
    ['an error with a status of its own', Object.assign(new Error('x'), { status: 200, code: 'permanent_failure' })],
    ['an error of this library', new WebhookError('signature_mismatch')],
    ['an error that cannot be retried', new WebhookError('invalid_envelope')],
  ])('the answer is 500 and the claim is released after %s', async (_, thrown) => {
    const store = aStore();
    for (const on of [failing(thrown), handlerOf(() => Promise.reject(thrown))]) {
      const { receiver, find, answers } = aReceiver({ on, dedupe: { store, name: 'clips' } });
      expect(await answerTo(receiver)).toBe('500 handler_failed');
      expect(answers()).toEqual(['failed']);
      expect(find('failed').error.cause === thrown).toBe(true);
      expect(find('failed').delivery?.event.id).toBe('evt_1');
    }
    expect(store.calls).toEqual(['claim', 'release', 'claim', 'release']);
  });

  it.each<[string, unknown, string]>([
    ['data that is not as promised', new WebhookError('unexpected_data'), '500 unexpected_data'],
    ['an event in progress', new WebhookError('delivery_in_progress'), '409 delivery_in_progress'],
    [
      'an error that cannot be read',
      new Proxy(new WebhookError('handler_failed'), {
        get: (target, name) => (typeof name === 'symbol' ? Reflect.get(target, name) : throwing()),
      }),
      '500 handler_failed',
    ],
  ])('the answer is that of the error where a handler throws a WebhookError about %s', async (_, thrown, expected) => {
    const store = aStore();
    const { receiver } = aReceiver({ on: failing(thrown), dedupe: { store } });
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe(expected);
    expect(response.headers['retry-after']).toBe(response.status === 409 ? '1' : undefined);
    expect(store.calls).toEqual(['claim', 'release']);
  });

  const unlike = { event: { type: 'generation.completed', data: { clipId: 1 } } };

  it('a handler does not run with data that its types do not promise', async () => {
    const { receiver, find } = aReceiver({ on: { 'generation.completed': expect.fail } });
    expect(await answerTo(receiver, unlike)).toBe('500 unexpected_data');
    expect(find('failed').error.message).toContain(
      "data.clipId of generation.completed is not a string, which the handler's types promise.",
    );
  });

  it("the handler '*', whose types promise nothing, runs with any data", async () => {
    expect(await answerTo(aReceiver().receiver, unlike)).toBe('200 handled');
  });

  it('the outcome has the error itself where a handler throws `handler_failed`', async () => {
    const thrown = new WebhookError('handler_failed', { message: 'The disk is full.' });
    const { receiver, find } = aReceiver({ on: failing(thrown) });
    await receiver(aRequest());
    expect(find('failed').error).toBe(thrown);
  });

  it('the handler of the next attempt gets its attempt number and a higher fence', async () => {
    const seen: Pick<HandlerContext, 'attempt' | 'fence'>[] = [];
    const on: Handlers = {
      '*': (_, { attempt, fence }) => {
        seen.push({ attempt, fence });
        if (attempt < 3) throw new Error('not yet');
      },
    };
    const { receiver } = aReceiver({ on });
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(await answerTo(receiver));
    expect(answers).toEqual(['500 handler_failed', '500 handler_failed', '200 handled', '200 duplicate']);
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const fences = seen.map(({ fence }) => fence);
    expect(new Set(fences).size).toBe(3);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  });
});

describe('a handler that throws a PermanentError', () => {
  it.each<[string, PermanentError]>([
    ['a reason', new PermanentError('no such clip')],
    ['a cause', new PermanentError('no such clip', { cause: new Error('404') })],
    ['no reason', new PermanentError()],
    ['frozen properties', Object.freeze(new PermanentError('no such clip'))],
  ])('a PermanentError with %s discards the event', async (_, error) => {
    const store = aStore();
    const { receiver, find, answers } = aReceiver({ on: failing(error), dedupe: { store } });
    expect(await answerTo(receiver)).toBe('200 discarded');
    expect(find('discarded')).toMatchObject({ error, delivery: { event: { id: 'evt_1' } } });
    expect(await answerTo(receiver)).toBe('200 duplicate');
    expect(answers()).toEqual(['discarded', 'duplicate']);
    expect(store.calls).toEqual(['claim', 'complete', 'claim']);
  });

  it('a PermanentError of another copy of the package is recognised', async () => {
    vi.resetModules();
    const other = await import('../../src/errors.js');
    expect(other.PermanentError).not.toBe(PermanentError);
    expect(await answerTo(aReceiver({ on: failing(new other.PermanentError('gone')) }).receiver)).toBe('200 discarded');
  });

  it('with dedupe: false, a PermanentError discards each delivery of an event', async () => {
    const { receiver } = aReceiver({ on: failing(new PermanentError()), dedupe: false });
    expect([await answerTo(receiver), await answerTo(receiver)]).toEqual(['200 discarded', '200 discarded']);
  });
});

it.each<[string, () => unknown, string]>([
  ['done', () => {}, '200 handled'],
  ['failed', throwing, '500 handler_failed'],
  ['discarded', failing(new PermanentError())['*'], '200 discarded'],
])(
  'the answer to a delivery whose handler has %s waits until the store has recorded the result',
  async (_, work, expected) => {
    const gate = later();
    const inner = memoryStore();
    const methods = {
      complete: (...request: Parameters<typeof inner.complete>) => gate.promise.then(() => inner.complete(...request)),
      release: (...request: Parameters<typeof inner.release>) => gate.promise.then(() => inner.release(...request)),
    };
    const store = aStore(methods, inner);
    const answer = vi.fn();
    const answered = answerTo(aReceiver({ on: handlerOf(work), dedupe: { store } }).receiver).then(answer);
    await vi.waitFor(() => expect(store.calls).toHaveLength(2), PATIENTLY);
    expect(answer).not.toHaveBeenCalled();
    gate.resolve();
    await answered;
    expect(answer).toHaveBeenCalledWith(expected);
  },
);

describe('the context of a handler', () => {
  it('keyFor returns the same key on every attempt, and in a worker', async () => {
    const keys: string[] = [];
    const on = {
      '*': (_: unknown, { keyFor }: HandlerContext) => {
        keys.push(keyFor('mail'));
        throw new Error('no mail');
      },
    };
    const { receiver } = aReceiver({ on, dedupe: { name: 'clips' } });
    for (const _ of [1, 2]) await receiver(aRequest());
    const queued = toQueued(verify({ ...aDelivery(), secret: SECRET, now }), 'clips:evt_1', 1);
    await createProcessor({ on, logger: false })(queued, { attempt: 7 });
    expect(keys).toEqual(Array(3).fill('clips:evt_1:mail'));
  });

  it('the context has the attempt, the signal and all that is known of the delivery', async () => {
    const handler = vi.fn();
    const { receiver } = aReceiver({ on: { 'stt.completed': handler } });
    await receiver(aRequest({ headers: { 'idempotency-key': 'key-1' } }));
    const [event, context] = handler.mock.calls[0] as [unknown, HandlerContext];
    expect(event).toBe(context.delivery.event);
    expect(context).toMatchObject({ attempt: 1 });
    expect(context.delivery).toMatchObject({ scheme: 'v2', secretIndex: 0, unsigned: { idempotencyKey: 'key-1' } });
    expect(context.signal.aborted).toBe(false);
  });

  it('with dedupe: false, each delivery has attempt 1, fence 0 and its own signal', async () => {
    const contexts: HandlerContext[] = [];
    const { receiver } = aReceiver({ on: { '*': (_, context) => void contexts.push(context) }, dedupe: false });
    await receiver(aRequest());
    await receiver(aRequest());
    expect(contexts).toMatchObject(Array(2).fill({ attempt: 1, fence: 0 }));
    expect(contexts[0]?.signal).not.toBe(contexts[1]?.signal);
  });

  it('a signal is made for a handler, and for no refusal, duplicate or event without a handler', async () => {
    const made = countingControllers();
    const { receiver } = aReceiver({ on: { 'stt.completed': () => {} } });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(made.count).toBe(1);
    expect(await answerTo(receiver)).toBe('200 duplicate');
    expect(await answerTo(receiver, { secret: 'a guess' })).toBe('401 signature_mismatch');
    expect(await answerTo(receiver, { event: { type: 'stt.failed' } })).toBe('200 ignored');
    expect(made.count).toBe(1);
  });

  it('the outcome stays the same although the handler changes its context', async () => {
    const on: Handlers = {
      '*': (_, context) => void Object.assign(context, { attempt: 99, fence: -1, delivery: undefined }),
    };
    const { receiver, find } = aReceiver({ on });
    await receiver(aRequest());
    expect(find('handled')).toMatchObject({ attempt: 1, delivery: { event: { id: 'evt_1' } } });
    expect(find('handled').fence).toBeGreaterThan(0);
  });
});

describe('the deadline of a handler', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  /** A receiver whose handler ends when the test says so. */
  function aSlowReceiver(options: Parameters<typeof aReceiver>[0] = {}) {
    const work = later<void>();
    const handler = vi.fn((_: unknown, _context: HandlerContext) => work.promise);
    return { work, handler, ...aReceiver({ on: { '*': handler }, ...options }) };
  }

  /** Such a receiver after it has answered at the deadline; its handler has yet to end. */
  async function aLateReceiver(options?: Parameters<typeof aReceiver>[0]) {
    const slow = aSlowReceiver(options);
    const answer = answerTo(slow.receiver);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await answer).toBe('503 handler_timeout');
    return slow;
  }

  const settled = () => vi.advanceTimersByTimeAsync(0);

  it('the answer is 503 after 15 s, and the signal is aborted', async () => {
    const { receiver, handler, answers, find } = aSlowReceiver();
    const answer = vi.fn();
    receiver(aRequest()).then(answer);
    await vi.advanceTimersByTimeAsync(14_999);
    const signal = handler.mock.calls[0]?.[1].signal;
    expect(answer).not.toHaveBeenCalled();
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const [response] = answer.mock.calls[0] as [Awaited<ReturnType<typeof receiver>>];
    expect([inShort(response), response.headers['retry-after']]).toEqual(['503 handler_timeout', '30']);
    expect(signal?.aborted).toBe(true);
    expect(answers()).toEqual(['past_deadline']);
    expect(find('past_deadline').error.message).toContain(
      'Your handler is still running at deadlineMs (15000 ms). It goes on, and its result is recorded.',
    );
  });

  it('the time counts from the arrival of the request, with body, secret and claim', async () => {
    const slow = <T>(value: T | Promise<T>) => new Promise<T>((resolve) => setTimeout(resolve, 1_500, value));
    const inner = memoryStore();
    const store = aStore({ claim: async (request) => await slow(inner.claim(request)) }, inner);
    const body = async function* () {
      yield await slow(new TextEncoder().encode(String(aRequest().body)));
    };
    const { receiver } = aSlowReceiver({ deadlineMs: 6_000, dedupe: { store }, secret: () => slow([SECRET]) });
    const answer = vi.fn();
    receiver({ ...aRequest(), body: body() }).then((response) => answer(inShort(response)));
    await vi.advanceTimersByTimeAsync(5_999);
    expect(answer).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(answer).toHaveBeenCalledWith('503 handler_timeout');
  });

  it('a handler that succeeds after the deadline makes the next attempt a duplicate', async () => {
    const store = aStore();
    const { receiver, work, handler, answers, find } = await aLateReceiver({ dedupe: { store } });
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await answerTo(receiver)).toBe('409 delivery_in_progress');
    expect(store.calls).not.toContain('release');
    work.resolve();
    await settled();
    expect(find('late_result')).toMatchObject({ result: 'handled', delivery: { event: { id: 'evt_1' } } });
    expect(await answerTo(receiver)).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledOnce();
    expect(answers()).toEqual(['past_deadline', 'in_progress', 'duplicate']);
  });

  it.each<[string, unknown]>([
    ['an error', new Error('too late, and wrong')],
    ['undefined', undefined],
    ['a Proxy that throws', trapped()],
  ])('after a handler fails late with %s, the next attempt runs', async (_, thrown) => {
    const { receiver, work, handler, find } = await aLateReceiver();
    work.reject(thrown);
    await settled();
    expect(find('late_result')).toMatchObject({ result: 'failed', error: { code: 'handler_failed' } });
    handler.mockImplementation(async () => {});
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(handler.mock.calls[1]?.[1].attempt).toBe(2);
  });

  it('a PermanentError after the deadline is recorded, and the next attempt is a duplicate', async () => {
    const { receiver, work, find } = await aLateReceiver();
    work.reject(new PermanentError());
    await settled();
    expect(find('late_result').result).toBe('discarded');
    expect(await answerTo(receiver)).toBe('200 duplicate');
  });

  it('a handler that never ends is answered once, and gives no notice', async () => {
    const { answers, notices } = await aLateReceiver();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(answers()).toEqual(['past_deadline']);
    expect(notices()).toEqual([]);
  });

  it('the answer is 503 where a store that hangs delays the handler beyond the deadline', async () => {
    const store = aStore({ claim: never });
    const { receiver, work, find } = aSlowReceiver({ deadlineMs: 1_000, dedupe: { store, onStoreError: 'process' } });
    const answer = answerTo(receiver);
    await vi.advanceTimersByTimeAsync(1_002);
    expect(await answer).toBe('503 handler_timeout');
    work.resolve();
    await settled();
    expect(find('late_result').result).toBe('handled');
  });

  it('the outcome late_result names its event although the handler emptied its context', async () => {
    const { receiver, work, handler, find } = aSlowReceiver();
    handler.mockImplementation((_, context) => {
      for (const name of Object.keys(context)) Reflect.deleteProperty(context, name);
      return work.promise;
    });
    const answer = answerTo(receiver);
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await answer).toBe('503 handler_timeout');
    work.resolve();
    await settled();
    expect(find('late_result').delivery.event.id).toBe('evt_1');
    expect(find('past_deadline').delivery.event.id).toBe('evt_1');
  });

  it.each([15_000, 2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER])(
    'a handler in time is answered with 200 and leaves no timer for a deadlineMs of %d',
    async (deadlineMs) => {
      const { receiver, work } = aSlowReceiver({ deadlineMs });
      const answer = answerTo(receiver);
      await vi.advanceTimersByTimeAsync(14_999);
      work.resolve();
      expect(await answer).toBe('200 handled');
      expect(vi.getTimerCount()).toBe(0);
    },
  );

  it('with a memory store, a delivery has the timers of its deadline and of its lease', async () => {
    const { receiver, work } = aSlowReceiver();
    const answer = answerTo(receiver);
    await vi.advanceTimersByTimeAsync(0);
    expect(vi.getTimerCount()).toBe(2);
    work.resolve();
    expect(await answer).toBe('200 handled');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the answer is 200 where the handler is done and only its record in the store is slow', async () => {
    const { receiver, answers } = aReceiver({ deadlineMs: 1_000, dedupe: { store: aStore({ complete: never }) } });
    const answer = answerTo(receiver);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await answer).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
  });
});
