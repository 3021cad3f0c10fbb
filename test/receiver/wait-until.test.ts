import { AsyncLocalStorage } from 'node:async_hooks';
import { createReceiver, type DedupeStore, memoryStore, PermanentError, type ReceiverOptions } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, inShort, later, never, now, SECRET } from '../support/deliveries.js';
import { answerTo, begin } from './answers.js';

const elapse = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const refuse = () => Promise.reject(new Error('ECONNREFUSED'));
const LONG = 3_600_000;

beforeEach(() => {
  vi.useFakeTimers();
});

/** A receiver with a platform, which shows what it was given and whether that has settled. */
function onPlatform(options: Partial<ReceiverOptions> = {}) {
  const passed: ('pending' | 'resolved' | 'rejected')[] = [];
  const waitUntil = vi.fn((work: Promise<unknown>) => {
    const index = passed.push('pending') - 1;
    const settle = (how: 'resolved' | 'rejected') => () => {
      passed[index] = how;
    };
    work.then(settle('resolved'), settle('rejected'));
  });
  return { passed, waitUntil, ...aReceiver({ waitUntil, ...options }) };
}

/** Such a receiver after it has answered at the deadline; its handler has yet to end. */
async function withLateHandler(options: Partial<ReceiverOptions> = {}) {
  const work = later<void>();
  const platform = onPlatform({ on: { '*': () => work.promise }, ...options });
  const answer = answerTo(platform.receiver);
  await elapse(15_000);
  expect(await answer).toBe('503 handler_timeout');
  return { work, ...platform };
}

describe('waitUntil of a receiver that has nothing left to do', () => {
  const failing = () => {
    throw new Error('no disk');
  };

  it.each<[string, Partial<ReceiverOptions>, Parameters<typeof aRequest>[0], string]>([
    ['is handled', {}, {}, '200 handled'],
    ['is handled without dedupe', { dedupe: false }, {}, '200 handled'],
    ['is handled by a handler that takes its time', { on: { '*': () => Promise.resolve() } }, {}, '200 handled'],
    ['has no handler', { on: {} }, {}, '200 ignored'],
    ['fails', { on: { '*': failing } }, {}, '500 handler_failed'],
    ['is discarded', { on: { '*': () => Promise.reject(new PermanentError()) } }, {}, '200 discarded'],
    ['is queued', { on: undefined, queue: { name: 'clips', put: async () => 'queued' } }, {}, '202 queued'],
    ['is refused', {}, { secret: 'a guess' }, '401 signature_mismatch'],
    ['is observed', { observe: () => 1 }, {}, '200 handled'],
  ])('waitUntil is not called for a delivery that %s', async (_, options, parts, expected) => {
    const { receiver, waitUntil } = onPlatform(options);
    expect(await answerTo(receiver, parts)).toBe(expected);
    await elapse(LONG);
    expect(waitUntil).not.toHaveBeenCalled();
  });

  it('waitUntil is not called for a duplicate', async () => {
    const { receiver, waitUntil } = onPlatform();
    expect([await answerTo(receiver), await answerTo(receiver)]).toEqual(['200 handled', '200 duplicate']);
    expect(waitUntil).not.toHaveBeenCalled();
  });

  it.each(['ok', 'failed', 'unknown'] as const)(
    'waitUntil is not called for a middleware that settles with %j before it answers',
    async (ended) => {
      const { receiver, waitUntil } = onPlatform({ on: undefined });
      const { settle } = await begin(receiver);
      await settle(ended);
      expect(waitUntil).not.toHaveBeenCalled();
    },
  );

  it('the answer to a handler in time waits for complete(), which waitUntil does not receive', async () => {
    const gate = later<'ok'>();
    const { receiver, waitUntil } = onPlatform({ dedupe: { store: aStore({ complete: () => gate.promise }) } });
    const answer = vi.fn();
    answerTo(receiver).then(answer);
    await elapse(1_000);
    expect(answer).not.toHaveBeenCalled();
    gate.resolve('ok');
    await elapse(0);
    expect(answer).toHaveBeenCalledWith('200 handled');
    expect(waitUntil).not.toHaveBeenCalled();
  });
});

describe('waitUntil and a handler that is past its deadline', () => {
  it('waitUntil has been called once by the time of the answer', async () => {
    const { waitUntil, passed } = await withLateHandler();
    expect(waitUntil).toHaveBeenCalledTimes(1);
    expect(passed).toEqual(['pending']);
  });

  it('the promise resolves when the event is completed and reported, and the claim is renewed until then', async () => {
    const gate = later<void>();
    const inner = memoryStore();
    const complete: DedupeStore['complete'] = async (...request) => {
      await gate.promise;
      return inner.complete(...request);
    };
    const store = aStore({ complete }, inner);
    const { receiver, work, passed, notices } = await withLateHandler({ dedupe: { store } });
    await elapse(60_000);
    expect(store.calls.filter((name) => name === 'extend').length).toBeGreaterThan(5);
    work.resolve();
    await elapse(0);
    expect(store.calls.at(-1)).toBe('complete');
    expect(passed).toEqual(['pending']);
    gate.resolve();
    await elapse(0);
    expect(passed).toEqual(['resolved']);
    expect(notices()).toEqual(['late_result']);
    expect(await answerTo(receiver)).toBe('200 duplicate');
  });

  it('the promise resolves after a handler that fails late, and the event is released', async () => {
    const store = aStore();
    const { work, passed } = await withLateHandler({ dedupe: { store } });
    work.reject(new Error('no disk'));
    await elapse(0);
    expect(store.calls.at(-1)).toBe('release');
    expect(passed).toEqual(['resolved']);
  });

  it('the promise never rejects where the store fails too', async () => {
    const { work, passed } = await withLateHandler({ dedupe: { store: aStore({ release: refuse }) } });
    work.reject(new Error('no disk'));
    await elapse(LONG);
    expect(passed).toEqual(['resolved']);
  });
});

describe('waitUntil and a store that fails', () => {
  it('waitUntil receives the repeated calls of complete() until one of them succeeds', async () => {
    const inner = memoryStore();
    const complete = vi.fn(inner.complete).mockImplementationOnce(refuse).mockImplementationOnce(refuse);
    const { receiver, passed } = onPlatform({ dedupe: { store: aStore({ complete }, inner) } });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(passed).toEqual(['pending']);
    await elapse(1_000);
    expect(passed).toEqual(['pending']);
    await elapse(5_000);
    expect(passed).toEqual(['resolved']);
    expect(complete).toHaveBeenCalledTimes(3);
  });

  it('the promise resolves after the last call of complete() has failed', async () => {
    const { receiver, passed, notices } = onPlatform({ dedupe: { store: aStore({ complete: refuse }) } });
    await answerTo(receiver);
    await elapse(LONG);
    expect(passed).toEqual(['resolved']);
    expect(notices()).toEqual(Array(5).fill('store_error'));
  });

  it('waitUntil receives the release of a claim that the store may take after the answer', async () => {
    const calls = [later<never>(), later<never>()];
    const claim = vi.fn<DedupeStore['claim']>();
    for (const { promise } of calls) claim.mockImplementationOnce(() => promise);
    const store = aStore({ claim });
    const { receiver, passed } = onPlatform({ dedupe: { store } });
    const answer = answerTo(receiver);
    await elapse(4_000);
    expect(await answer).toBe('503 store_unavailable');
    expect(passed).toEqual(['pending', 'pending']);
    for (const { reject } of calls) reject(new Error('ECONNRESET'));
    await elapse(0);
    expect(store.calls.filter((name) => name === 'release')).toHaveLength(2);
    expect(passed).toEqual(['resolved', 'resolved']);
  });
});

describe('waitUntil and a middleware that answers before it settles', () => {
  it.each(['ok', 'failed', 'unknown'] as const)(
    'the promise resolves when the claim has ended with %j',
    async (ended) => {
      const { receiver, passed, answers } = onPlatform({ on: undefined });
      const { settlesLater, settle } = await begin(receiver);
      settlesLater();
      await elapse(0);
      expect(passed).toEqual(['pending']);
      settle(ended);
      await elapse(0);
      expect(passed).toEqual(['resolved']);
      expect(answers()).toHaveLength(1);
    },
  );

  it('the promise waits for complete() of a claim that is being settled', async () => {
    const gate = later<'ok'>();
    const { receiver, passed } = onPlatform({
      on: undefined,
      dedupe: { store: aStore({ complete: () => gate.promise }) },
    });
    const { settlesLater, settle } = await begin(receiver);
    settle('ok');
    settlesLater();
    await elapse(1_000);
    expect(passed).toEqual(['pending']);
    gate.resolve('ok');
    await elapse(0);
    expect(passed).toEqual(['resolved']);
  });
});

describe('waitUntil and an observer that returns a promise', () => {
  it('waitUntil receives the promise, which resolves when the observer has ended', async () => {
    const flushed = later<void>();
    const { receiver, passed } = onPlatform({ observe: () => flushed.promise });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(passed).toEqual(['pending']);
    flushed.resolve();
    await elapse(0);
    expect(passed).toEqual(['resolved']);
  });

  it.each<[string, () => unknown]>([
    ['rejects', refuse],
    ['rejects with undefined', () => Promise.reject()],
    ['is a thenable that throws', () => Object.fromEntries([['then', () => expect.fail('no client')]])],
    ['is a thenable that rejects', () => Object.fromEntries([['then', (_: unknown, no: () => void) => no()]])],
  ])('a promise of the observer that %s affects nothing, and resolves for the platform', async (_, observe) => {
    const { receiver, passed } = onPlatform({ observe });
    expect(await answerTo(receiver)).toBe('200 handled');
    await elapse(0);
    expect(passed).toEqual(['resolved']);
    expect(await answerTo(aReceiver({ observe }).receiver)).toBe('200 handled');
  });

  it('waitUntil is not called where reading `then` of the result throws', async () => {
    const { receiver, waitUntil } = onPlatform({
      observe: () => Object.defineProperty({}, 'then', { get: () => expect.fail('trap') }),
    });
    expect(await answerTo(receiver)).toBe('200 handled');
    expect(waitUntil).not.toHaveBeenCalled();
  });

  it('waitUntil receives what the observer returns for the late result of a handler', async () => {
    const { work, passed } = await withLateHandler({ observe: ({ kind }) => kind === 'late_result' && never() });
    work.resolve();
    await elapse(0);
    expect(passed).toEqual(['resolved', 'pending']);
  });
});

describe('a waitUntil that fails', () => {
  class Context {
    readonly #works: Promise<unknown>[] = [];
    waitUntil(work: Promise<unknown>) {
      this.#works.push(work);
    }
  }

  it.each<[string, NonNullable<ReceiverOptions['waitUntil']>]>([
    [
      'throws',
      () => {
        throw new Error('waitUntil was called outside a request');
      },
    ],
    ['rejects with undefined', () => Promise.reject()],
    ['rejects', refuse],
    ['is a method without its object', new Context().waitUntil],
    ['returns a thenable that rejects', () => Object.fromEntries([['then', (_: unknown, no: () => void) => no()]])],
  ])('a waitUntil that %s is logged once, and affects no delivery', async (_, waitUntil) => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    const { receiver, work, answers, notices } = await withLateHandler({ waitUntil, logger });
    const failures = () => logger.warn.mock.calls.filter(([, { code }]) => code === 'wait_until_failed');
    work.resolve();
    await elapse(0);
    expect([answers(), notices()]).toEqual([['past_deadline'], ['late_result']]);
    expect(failures()).toHaveLength(1);
    expect(failures()[0]?.[0]).toContain('waitUntil: (work) => context.waitUntil(work)');
    expect(await answerTo(receiver)).toBe('200 duplicate');
  });

  it('the log has the error of waitUntil, and counts the later ones', async () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    const error = new Error('no request');
    const waitUntil = () => {
      throw error;
    };
    const { receiver } = aReceiver({ waitUntil, logger, observe: async () => {} });
    for (const id of ['evt_1', 'evt_2', 'evt_3'])
      expect(await answerTo(receiver, { event: { id } })).toBe('200 handled');
    await elapse(60_000);
    expect(logger.warn.mock.calls.map(([text, fields]) => [text, fields.err])).toEqual([
      [expect.stringContaining('Error: no request'), error],
      ['service-webhooks: 2 more in a minute. (wait_until_failed)', undefined],
    ]);
  });

  it('a waitUntil of undefined is the same as none', async () => {
    const { receiver, work } = await withLateHandler({ waitUntil: undefined });
    work.resolve();
    await elapse(0);
    expect(await answerTo(receiver)).toBe('200 duplicate');
  });
});

describe('waitUntil and several requests', () => {
  it('each of two concurrent requests calls waitUntil in its own context', async () => {
    const contexts = new AsyncLocalStorage<Promise<unknown>[]>();
    const works = new Map<string, ReturnType<typeof later<void>>>();
    const receiver = createReceiver({
      secret: SECRET,
      now,
      logger: false,
      on: {
        '*': ({ id }) => {
          const work = later();
          works.set(id, work);
          return work.promise;
        },
      },
      waitUntil: (work) => contexts.getStore()?.push(work),
    });
    const passed = { evt_1: [] as Promise<unknown>[], evt_2: [] as Promise<unknown>[] };
    const answers = Object.entries(passed).map(([id, own]) =>
      contexts.run(own, async () => inShort(await receiver(aRequest({ event: { id } })))),
    );
    await elapse(15_000);
    expect(await Promise.all(answers)).toEqual(['503 handler_timeout', '503 handler_timeout']);
    const isSettled = vi.fn();
    Promise.all(passed.evt_1).then(() => isSettled('evt_1'));
    Promise.all(passed.evt_2).then(() => isSettled('evt_2'));
    expect([passed.evt_1.length, passed.evt_2.length]).toEqual([1, 1]);
    works.get('evt_2')?.resolve();
    await elapse(0);
    expect(isSettled.mock.calls).toEqual([['evt_2']]);
  });
});
