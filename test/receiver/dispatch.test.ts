import {
  type Handler,
  type HandlerContext,
  type Handlers,
  memoryStore,
  PermanentError,
  WebhookError,
} from 'service-webhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, later, never, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';

type Returned = ReturnType<Handler>;

/** A handler that does something types do not allow. */
const handlerOf = (does: () => unknown) => ({ '*': does as () => Returned });
const failing = (thrown: unknown) =>
  handlerOf(() => {
    throw thrown;
  });

const throwing = (): never => {
  throw new Error('a trap');
};

/** Throws at whatever is done with it. */
const hostile = () =>
  new Proxy(() => {}, {
    get: throwing,
    has: throwing,
    set: throwing,
    ownKeys: throwing,
    getPrototypeOf: throwing,
    getOwnPropertyDescriptor: throwing,
    defineProperty: throwing,
    isExtensible: throwing,
    apply: throwing,
  });

type Settle = (value?: unknown) => void;

/** Something that can be awaited and is no promise. */
const thenable = (then: (resolve: Settle, reject: Settle) => void): object => Object.fromEntries([['then', then]]);

const hostileObject = () =>
  new Proxy(
    {},
    { get: throwing, has: throwing, ownKeys: throwing, getPrototypeOf: throwing, getOwnPropertyDescriptor: throwing },
  );

describe('a handler that returns', () => {
  it.each<[string, unknown, string]>([
    ['nothing', undefined, '200 handled'],
    ['null', null, '200 handled'],
    ['a number', 500, '200 handled'],
    ['text', 'failed', '200 handled'],
    ['false', false, '200 handled'],
    ['an object without a status', { id: 1 }, '200 handled'],
    ['a status that is no number', { status: 'failed' }, '200 handled'],
    ['status 200', { status: 200 }, '200 handled'],
    ['status 202, as a queue would', { status: 202 }, '202 handled'],
    ['status 204', { status: 204 }, '204'],
    ['status 205', { status: 205 }, '205'],
    ['status 299', { status: 299 }, '299 handled'],
    ['a promise of a status', Promise.resolve({ status: 202 }), '202 handled'],
    ['a thenable', thenable((resolve) => resolve({ status: 202 })), '202 handled'],
  ])('%s is answered as it should be', async (_, returned, expected) => {
    const store = aStore();
    const { receiver, answers } = aReceiver({ on: handlerOf(() => returned), dedupe: { store } });
    expect(inShort(await receiver(aRequest()))).toBe(expected);
    expect(answers()).toEqual(['handled']);
    expect(store.calls).toEqual(['claim', 'complete']);
  });

  it('204 has an answer without a body', async () => {
    const { receiver } = aReceiver({ on: { '*': () => ({ status: 204 }) } });
    expect(await receiver(aRequest())).toEqual({
      status: 204,
      headers: { 'content-type': 'application/json' },
      body: '',
    });
  });

  it.each([500, 503, 404, 302, 199, 300, 100, 0, -200, 200.5, Number.NaN, Number.POSITIVE_INFINITY])(
    'a handler that returns status %d has failed: a 2xx is all it may ask for',
    async (status) => {
      const store = aStore();
      const { receiver, find } = aReceiver({ on: { '*': () => ({ status }) }, dedupe: { store } });
      expect(inShort(await receiver(aRequest()))).toBe('500 handler_failed');
      expect(String((find('failed').error.cause as Error).message)).toContain('To refuse a delivery, throw');
      expect(store.calls).toEqual(['claim', 'release']);
    },
  );

  it.each<[string, () => unknown]>([
    [
      'a status whose getter throws',
      () => ({
        get status() {
          throw new Error('a trap');
        },
      }),
    ],
    ['a Proxy that throws on every trap', hostileObject],
    ['a function that throws on every trap', hostile],
    ['a thenable that throws', () => thenable(throwing)],
    ['a thenable that rejects', () => thenable((_, reject) => reject(new Error('later')))],
    ['an object whose then is a getter that throws', () => Object.defineProperty({}, 'then', { get: throwing })],
  ])('%s has failed, and its claim is released', async (_, returned) => {
    const store = aStore();
    const { receiver, answers } = aReceiver({ on: handlerOf(returned), dedupe: { store } });
    expect(inShort(await receiver(aRequest()))).toBe('500 handler_failed');
    expect(answers()).toEqual(['failed']);
    expect(store.calls).toEqual(['claim', 'release']);
  });
});

it('a handler that changes its context does not change what is reported', async () => {
  const on: Handlers = {
    '*': (_, context) => void Object.assign(context, { attempt: 99, fence: -1, delivery: undefined }),
  };
  const { receiver, find } = aReceiver({ on });
  await receiver(aRequest());
  expect(find('handled')).toMatchObject({ attempt: 1, delivery: { event: { id: 'evt_1' } } });
  expect(find('handled').fence).toBeGreaterThan(0);
});

describe('a handler that throws', () => {
  it('the code of data that is not as promised is kept, and the event is released', async () => {
    const store = aStore();
    const { receiver } = aReceiver({ on: failing(new WebhookError('unexpected_data')), dedupe: { store } });
    expect(inShort(await receiver(aRequest()))).toBe('500 unexpected_data');
    expect(store.calls).toEqual(['claim', 'release']);
  });

  it.each<[string, unknown]>([
    ['an error', new Error('no disk')],
    ['undefined', undefined],
    ['null', null],
    ['text', 'no disk'],
    ['zero', 0],
    ['a symbol', Symbol('no disk')],
    ['a frozen error', Object.freeze(new Error('no disk'))],
    ['an object without a prototype', Object.create(null)],
    ['a Proxy that throws on every trap', hostileObject()],
    ['a function that throws on every trap', hostile()],
    ['an error with a status of its own', Object.assign(new Error('x'), { status: 200, code: 'permanent_failure' })],
    ['an error of this library', new WebhookError('signature_mismatch')],
    ['an error that says it cannot be retried', new WebhookError('invalid_envelope')],
  ])('%s is answered with 500, released, and told with its cause', async (_, thrown) => {
    const store = aStore();
    for (const on of [failing(thrown), handlerOf(() => Promise.reject(thrown))]) {
      const { receiver, find, answers } = aReceiver({ on, dedupe: { store, name: 'clips' } });
      const response = await receiver(aRequest());
      expect(inShort(response)).toBe('500 handler_failed');
      expect(answers()).toEqual(['failed']);
      expect(find('failed').error.cause === thrown).toBe(true);
      expect(find('failed').delivery?.event.id).toBe('evt_1');
    }
    expect(store.calls).toEqual(['claim', 'release', 'claim', 'release']);
  });

  it('a Proxy with the brand of an error of this library is answered like any other', async () => {
    const branded = new Proxy(new WebhookError('handler_failed'), {
      get: (target, name) => (typeof name === 'symbol' ? Reflect.get(target, name) : throwing()),
    });
    const store = aStore();
    const { receiver } = aReceiver({ on: failing(branded), dedupe: { store } });
    expect((await receiver(aRequest())).status).toBe(500);
    expect(store.calls).toEqual(['claim', 'release']);
  });

  it('a handler that throws does not tell the sender why', async () => {
    const { receiver } = aReceiver({ on: failing(new Error('CANARY')) });
    expect(JSON.stringify(await receiver(aRequest()))).not.toContain('CANARY');
  });

  it('a handler that throws runs again for the next attempt, which knows that it is the second', async () => {
    const seen: Pick<HandlerContext, 'attempt' | 'fence'>[] = [];
    const on = {
      '*': (_: unknown, { attempt, fence }: HandlerContext) => {
        seen.push({ attempt, fence });
        if (attempt < 3) throw new Error('not yet');
      },
    };
    const { receiver } = aReceiver({ on });
    const answers = [];
    for (let i = 0; i < 4; i++) answers.push(inShort(await receiver(aRequest())));
    expect(answers).toEqual(['500 handler_failed', '500 handler_failed', '200 handled', '200 duplicate']);
    expect(seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    const fences = seen.map(({ fence }) => fence);
    expect(new Set(fences).size).toBe(3);
    expect(fences).toEqual(fences.toSorted((a, b) => a - b));
  });
});

describe('a PermanentError', () => {
  it.each<[string, () => unknown]>([
    ['thrown', () => new PermanentError('no such clip')],
    ['with a cause', () => new PermanentError('no such clip', { cause: new Error('404') })],
    ['without a reason', () => new PermanentError()],
    ['frozen', () => Object.freeze(new PermanentError('no such clip'))],
  ])('%s ends the retries: 200, recorded as done, reported as discarded', async (_, make) => {
    const store = aStore();
    const error = make();
    const { receiver, find, answers } = aReceiver({ on: failing(error), dedupe: { store } });
    expect(inShort(await receiver(aRequest()))).toBe('200 discarded');
    expect(find('discarded')).toMatchObject({ error, delivery: { event: { id: 'evt_1' } } });
    expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
    expect(answers()).toEqual(['discarded', 'duplicate']);
    expect(store.calls).toEqual(['claim', 'complete', 'claim']);
  });

  it('a PermanentError of another copy of the package is recognised', async () => {
    vi.resetModules();
    const other = await import('../../src/errors.js');
    expect(other.PermanentError).not.toBe(PermanentError);
    const { receiver } = aReceiver({ on: failing(new other.PermanentError('gone')) });
    expect(inShort(await receiver(aRequest()))).toBe('200 discarded');
  });

  it('a PermanentError works without dedupe too', async () => {
    const { receiver } = aReceiver({ on: failing(new PermanentError()), dedupe: false });
    expect(inShort(await receiver(aRequest()))).toBe('200 discarded');
    expect(inShort(await receiver(aRequest()))).toBe('200 discarded');
  });

  it('a PermanentError does not tell the sender the reason', async () => {
    const { receiver } = aReceiver({ on: failing(new PermanentError('CANARY')) });
    expect(JSON.stringify(await receiver(aRequest()))).not.toContain('CANARY');
  });
});

describe('an error that says the delivery is in progress', () => {
  it('an error that says the delivery is in progress is answered with 409 and a short wait, and the claim is released', async () => {
    const store = aStore();
    const busy = new WebhookError('delivery_in_progress');
    const { receiver, answers } = aReceiver({ on: failing(busy), dedupe: { store } });
    const response = await receiver(aRequest());
    expect(inShort(response)).toBe('409 delivery_in_progress');
    expect(response.headers['retry-after']).toBe('1');
    expect(answers()).toEqual(['in_progress']);
    expect(store.calls).toEqual(['claim', 'release']);
  });
});

describe('the answer', () => {
  it.each<[string, () => Returned, string]>([
    ['done', () => {}, '200 handled'],
    ['failed', () => throwing(), '500 handler_failed'],
    [
      'given up',
      () => {
        throw new PermanentError();
      },
      '200 discarded',
    ],
  ])('the answer to work that is %s waits until the store has recorded it', async (_, work, expected) => {
    const gate = later();
    const inner = memoryStore();
    const store = aStore(
      {
        complete: (...request) => gate.promise.then(() => inner.complete(...request)),
        release: (...request) => gate.promise.then(() => inner.release(...request)),
      },
      inner,
    );
    const answer = vi.fn();
    const answered = aReceiver({ on: handlerOf(work), dedupe: { store } })
      .receiver(aRequest())
      .then((response) => answer(inShort(response)));
    await vi.waitFor(() => expect(store.calls).toHaveLength(2), PATIENTLY);
    expect(answer).not.toHaveBeenCalled();
    gate.resolve();
    await answered;
    expect(answer).toHaveBeenCalledWith(expected);
  });
});

describe('the context of a handler', () => {
  it('the context of a handler has the delivery with everything that is known of it', async () => {
    const handler = vi.fn();
    const { receiver } = aReceiver({ on: { 'stt.completed': handler } });
    await receiver(aRequest({ headers: { 'idempotency-key': 'key-1' } }));
    const [event, context] = handler.mock.calls[0] as [unknown, HandlerContext];
    expect(event).toBe(context.delivery.event);
    expect(context).toMatchObject({ attempt: 1 });
    expect(context.delivery).toMatchObject({ scheme: 'v2', secretIndex: 0, unsigned: { idempotencyKey: 'key-1' } });
    expect(context.signal.aborted).toBe(false);
  });

  it('the context of a handler has attempt 1 and fence 0 without dedupe, however often', async () => {
    const handler = vi.fn();
    const { receiver } = aReceiver({ on: { '*': handler }, dedupe: false });
    await receiver(aRequest());
    await receiver(aRequest());
    expect(handler.mock.calls.map(([, { attempt, fence }]) => ({ attempt, fence }))).toEqual([
      { attempt: 1, fence: 0 },
      { attempt: 1, fence: 0 },
    ]);
  });

  it('the context of a handler gives each delivery a signal of its own', async () => {
    const signals: AbortSignal[] = [];
    const { receiver } = aReceiver({ on: { '*': (_, { signal }) => void signals.push(signal) }, dedupe: false });
    await receiver(aRequest());
    await receiver(aRequest());
    expect(signals[0]).not.toBe(signals[1]);
  });
});

describe('the deadline', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A receiver whose handler ends when the test says so. */
  function aSlowReceiver(options: Parameters<typeof aReceiver>[0] = {}) {
    const work = later<void>();
    const handler = vi.fn((_: unknown, _context: HandlerContext) => work.promise);
    return { work, handler, ...aReceiver({ on: { '*': handler }, ...options }) };
  }

  it('the deadline is 15 s after the arrival: 503 with Retry-After, and the signal fires', async () => {
    const { receiver, handler, answers } = aSlowReceiver();
    let signal: AbortSignal | undefined;
    handler.mockImplementation((_, context) => {
      signal = context.signal;
      return never();
    });
    const answer = vi.fn();
    receiver(aRequest()).then(answer);
    await vi.advanceTimersByTimeAsync(14_999);
    expect(answer).not.toHaveBeenCalled();
    expect(signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(inShort(answer.mock.calls[0]?.[0])).toBe('503 handler_timeout');
    expect(answer.mock.calls[0]?.[0].headers['retry-after']).toBe('30');
    expect(signal?.aborted).toBe(true);
    expect(answers()).toEqual(['past_deadline']);
  });

  it('the deadline counts from the arrival: what body, secret and claim took is no longer there', async () => {
    const slow = <T>(value: T | Promise<T>) => new Promise<T>((resolve) => setTimeout(resolve, 1_500, value));
    const inner = memoryStore();
    const store = aStore({ claim: async (request) => await slow(inner.claim(request)) }, inner);
    const body = async function* () {
      yield await slow(new TextEncoder().encode(String(aRequest().body)));
    };
    const { receiver } = aSlowReceiver({
      deadlineMs: 6_000,
      dedupe: { store },
      secret: () => slow([SECRET]),
    });
    const answer = vi.fn();
    receiver({ ...aRequest(), body: body() }).then(answer);
    await vi.advanceTimersByTimeAsync(5_999);
    expect(answer).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(inShort(answer.mock.calls[0]?.[0])).toBe('503 handler_timeout');
  });

  it('the deadline does not release the claim: a retry meets it, and the late success makes the next one a duplicate', async () => {
    const store = aStore();
    const { receiver, work, handler, answers, find } = aSlowReceiver({ dedupe: { store } });
    const first = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(15_000);
    expect(inShort(await first)).toBe('503 handler_timeout');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(inShort(await receiver(aRequest()))).toBe('409 delivery_in_progress');
    expect(store.calls).not.toContain('release');
    work.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(find('late_result')).toMatchObject({ result: 'handled', delivery: { event: { id: 'evt_1' } } });
    expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
    expect(handler).toHaveBeenCalledOnce();
    expect(answers()).toEqual(['past_deadline', 'in_progress', 'duplicate']);
  });

  it('the deadline is followed by a late failure, which releases the claim, so that the next attempt runs', async () => {
    const { receiver, work, handler, find } = aSlowReceiver();
    const first = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(15_000);
    await first;
    work.reject(new Error('too late, and wrong'));
    await vi.advanceTimersByTimeAsync(0);
    expect(find('late_result')).toMatchObject({ result: 'failed', error: { code: 'handler_failed' } });
    handler.mockImplementation(async () => {});
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(handler.mock.calls[1]?.[1].attempt).toBe(2);
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['a Proxy that throws on every trap', hostileObject()],
  ])('the deadline is followed by a late failure without a stray rejection, also of %s', async (_, thrown) => {
    const { receiver, work, find } = aSlowReceiver();
    const first = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(15_000);
    await first;
    work.reject(thrown);
    await vi.advanceTimersByTimeAsync(0);
    expect(find('late_result').result).toBe('failed');
  });

  it('the deadline is followed by a late PermanentError, which is recorded', async () => {
    const { receiver, work, find } = aSlowReceiver();
    const first = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(15_000);
    await first;
    work.reject(new PermanentError());
    await vi.advanceTimersByTimeAsync(0);
    expect(find('late_result').result).toBe('discarded');
    expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
  });

  it('the deadline answers once for a handler that never ends', async () => {
    const { receiver, answers, notices } = aReceiver({ on: handlerOf(never) });
    const first = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(inShort(await first)).toBe('503 handler_timeout');
    expect(answers()).toEqual(['past_deadline']);
    expect(notices()).toEqual([]);
  });

  it('the deadline that has passed before the handler could begin is answered without waiting for it', async () => {
    const store = aStore({ claim: never });
    const { receiver, work, find } = aSlowReceiver({ deadlineMs: 1_000, dedupe: { store, onStoreError: 'process' } });
    const answer = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(1_002);
    expect(inShort(await answer)).toBe('503 handler_timeout');
    work.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(find('late_result').result).toBe('handled');
  });

  it('the deadline tells of a late handler by its own delivery, whatever the handler did to the event', async () => {
    const work = later();
    const emptied = (_: unknown, context: object) => {
      for (const name of Object.keys(context)) Reflect.deleteProperty(context, name);
      return work.promise;
    };
    const { receiver, find } = aReceiver({ on: { '*': emptied } });
    const answer = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(15_000);
    expect(inShort(await answer)).toBe('503 handler_timeout');
    work.resolve();
    await vi.advanceTimersByTimeAsync(0);
    expect(find('late_result').delivery.event.id).toBe('evt_1');
    expect(find('past_deadline').delivery.event.id).toBe('evt_1');
  });

  it('the deadline may be far away: further than a timer can count', async () => {
    for (const deadlineMs of [2 ** 31 - 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      const { receiver, work } = aSlowReceiver({ deadlineMs });
      const answer = receiver(aRequest());
      await vi.advanceTimersByTimeAsync(60_000);
      work.resolve();
      expect(inShort(await answer), String(deadlineMs)).toBe('200 handled');
    }
  });

  it('the deadline leaves no timer behind when the handler was in time', async () => {
    const { receiver, work } = aSlowReceiver();
    const answer = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(1_000);
    work.resolve();
    expect(inShort(await answer)).toBe('200 handled');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('the deadline does not turn work that is done into a 503 because its record is slow', async () => {
    const store = aStore({ complete: never });
    const { receiver, answers } = aReceiver({ deadlineMs: 1_000, dedupe: { store } });
    const answer = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(inShort(await answer)).toBe('200 handled');
    expect(answers()).toEqual(['handled']);
  });
});
