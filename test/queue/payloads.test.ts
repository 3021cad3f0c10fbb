import fc from 'fast-check';
import { isWebhookError, type QueuedDelivery } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { createProcessor, type Ended } from '../../src/queue/index.js';
import type { Overflow } from '../../src/queue/limited-overflow.js';
import type { PackedDelivery, QueueJob } from '../../src/queue/packed-delivery.js';
import { createPayloads, type PayloadOptions } from '../../src/queue/payloads.js';
import { refusal } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { aKey, anOverflow } from './overflows.js';
import { aQueued } from './queued.js';

const LIMIT = 2_000;
const large = (): QueuedDelivery => aQueued({ data: { text: 'x'.repeat(5_000) } });

/** An engine in memory whose jobs are never run by themselves. It may know its keys. */
function anEngine(options: PayloadOptions, { knowsKeys = true, limit = LIMIT } = {}) {
  const jobs: QueueJob[] = [];
  const keys = new Map<string, 'waiting' | 'done'>();
  const payloads = createPayloads(options, limit);
  const engine = {
    jobs,
    payloads,
    /** What a put does: it may fail before or after the job is stored, and the job may be stored later. */
    fails: undefined as 'before' | 'after' | 'late' | undefined,
    /** Stores the job of the last put that failed with 'late'. */
    storeLate: () => {},
    find: (key: string, _since?: number): QueueJob | undefined => jobs.find((job) => job.key === key),
    put(delivery: QueuedDelivery) {
      const { fails } = engine;
      return payloads.put(delivery, {
        async putJob(job) {
          if (fails === 'before') throw new Error('the engine is away');
          if (knowsKeys && keys.has(job.key)) return 'known';
          const store = () => {
            jobs.push(structuredClone(job));
            keys.set(job.key, 'waiting');
          };
          if (fails === 'late') {
            engine.storeLate = store;
            throw new Error('the connection broke');
          }
          store();
          if (fails === 'after') throw new Error('the answer was lost');
          return 'queued';
        },
        find: knowsKeys ? async (key, since) => engine.find(key, since) : undefined,
      });
    },
    /** Runs the jobs that there are, and keeps those that did not succeed. */
    async work(own: PayloadOptions = options, isOwn = async () => true) {
      const handled: string[] = [];
      const process = createProcessor({ logger: false, on: { '*': ({ id }) => void handled.push(id) }, ...own });
      const ends: Ended[] = [];
      for (const job of jobs.splice(0)) {
        const ended = await process(job, { attempt: 1, isOwn });
        ends.push(ended);
        if (ended.as === 'done') keys.set(job.key, 'done');
        else jobs.push(job);
      }
      return { handled, ends };
    },
  };
  return engine;
}

/** An overflow that fails at one of its calls, before or after it has done its work. */
function failingAt(call: number, when: 'before' | 'after') {
  const inner = anOverflow();
  let calls = 0;
  const guarded =
    <Args extends unknown[], Result>(method: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      calls += 1;
      const fails = calls === call;
      if (fails && when === 'before') throw new Error('the overflow is away');
      const result = await method(...args);
      if (fails) throw new Error('the answer was lost');
      return result;
    };
  const overflow: Overflow = { put: guarded(inner.put), get: guarded(inner.get), delete: guarded(inner.delete) };
  const heals = () => {
    calls = call;
  };
  return { overflow, bodies: inner.bodies, heals };
}

const TEN_MINUTES = 600_000;
const DAY = 86_400_000;

/** Lets the time pass in which an engine may still store a job whose put has failed. */
function aDayLater(): void {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + DAY);
}

/** An engine with fake timers that refuses jobs, and puts that fail. */
function aRefusingEngine() {
  vi.useFakeTimers();
  const overflow = anOverflow();
  const engine = anEngine({ overflow });
  engine.fails = 'before';
  const failToPut = async (count = 1) => {
    const queued = large();
    for (let n = 0; n < count; n += 1) await expect(engine.put(queued)).rejects.toThrow('the engine is away');
  };
  return { overflow, engine, failToPut };
}

/** An overflow whose deletes end by the methods that this returns, one for each delete. */
function slowDeletes(overflow: Overflow): (() => void)[] {
  const ends: (() => void)[] = [];
  const remove = overflow.delete;
  overflow.delete = async (id) => {
    await new Promise<void>((resolve) => ends.push(resolve));
    await remove(id);
  };
  return ends;
}

/** Waits until a later event, and the time until then, have left no body. */
async function leavesNoBody(engine: ReturnType<typeof anEngine>, bodies: ReadonlyMap<string, unknown>): Promise<void> {
  aDayLater();
  await engine.put(large());
  await engine.work();
  await vi.waitFor(() => expect(bodies.size).toBe(0), PATIENTLY);
}

const problem = ({ ends: [ended] }: { ends: Ended[] }) =>
  ended && 'error' in ended && isWebhookError(ended.error) ? [ended.as, ended.error.code, ended.error.problem] : ended;

describe.each([
  ['an engine that knows its keys', true, TEN_MINUTES],
  ['an engine that knows no keys', false, DAY],
])('a large body in %s', (_, knowsKeys, keptMs) => {
  it('is kept outside, and deleted when its job is done', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    const queued = large();
    expect(await engine.put(queued)).toBe('queued');
    expect(engine.jobs).toMatchObject([
      { v: 2, key: queued.key, overflow: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ]);
    expect(JSON.stringify(engine.jobs).length).toBeLessThan(LIMIT);
    expect(await engine.payloads.open(engine.jobs[0])).toEqual(JSON.parse(JSON.stringify(queued)));
    expect((await engine.work()).handled).toHaveLength(1);
    expect(overflow.bodies.size).toBe(0);
  });

  // A failed put is repeated by the service, and a failed job by its engine.
  for (const when of ['before', 'after'] as const) {
    for (const call of [1, 2, 3, 4, 5]) {
      it(`is neither lost nor left where call ${call} of the overflow fails ${when} its work`, async () => {
        const { overflow, bodies, heals } = failingAt(call, when);
        const engine = anEngine({ overflow }, { knowsKeys });
        const queued = large();
        await engine.put(queued).catch(() => engine.put(queued));
        const handled = [...(await engine.work()).handled, ...(await engine.work()).handled];
        expect(handled.length).toBeGreaterThanOrEqual(1);
        expect(engine.jobs).toEqual([]);
        heals();
        await leavesNoBody(engine, bodies);
      });
    }
  }

  it('is not left where the engine refuses its job', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    engine.fails = 'before';
    await expect(engine.put(large())).rejects.toThrow('the engine is away');
    engine.fails = undefined;
    await leavesNoBody(engine, overflow.bodies);
  });

  it(`is deleted ${keptMs / 60_000} minutes after the engine has refused its job, also where no other event comes`, async () => {
    vi.useFakeTimers();
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    engine.fails = 'before';
    await expect(engine.put(large())).rejects.toThrow('the engine is away');
    await vi.advanceTimersByTimeAsync(keptMs - 1);
    expect(overflow.bodies.size).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(overflow.bodies.size).toBe(0);
  });

  it('is there where the engine stores its job a while after the put has failed', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    engine.fails = 'late';
    await expect(engine.put(large())).rejects.toThrow('the connection broke');
    engine.storeLate();
    expect((await engine.work()).handled).toHaveLength(1);
    expect(overflow.bodies.size).toBe(0);
  });

  it('is that of its job where only the answer of the engine was lost', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    const queued = large();
    engine.fails = 'after';
    if (knowsKeys) expect(await engine.put(queued)).toBe('queued');
    else await expect(engine.put(queued)).rejects.toThrow('the answer was lost');
    engine.fails = undefined;
    expect(await engine.put({ ...queued, signedAt: 2 })).toBe(knowsKeys ? 'known' : 'queued');
    expect((await engine.work()).handled).toHaveLength(knowsKeys ? 1 : 2);
    expect(overflow.bodies.size).toBe(0);
  });

  it('is deleted by a later put where the overflow was away when the engine refused its job', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    engine.fails = 'before';
    overflow.fails = 'delete';
    await expect(engine.put(large())).rejects.toThrow('the engine is away');
    expect(overflow.bodies.size).toBe(1);
    engine.fails = undefined;
    overflow.fails = undefined;
    await leavesNoBody(engine, overflow.bodies);
  });

  it('is not left by a redelivery of a job that is done', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    const queued = large();
    await engine.put(queued);
    await engine.work();
    await engine.put(queued);
    await engine.work();
    expect(overflow.bodies.size).toBe(0);
  });

  it('is kept by a worker that has lost its job', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    await engine.put(large());
    await engine.work(undefined, async () => false);
    expect(overflow.bodies.size).toBe(1);
  });

  it('is encrypted where it is kept', async () => {
    const overflow = anOverflow();
    const options = { overflow, encrypt: aKey() };
    const engine = anEngine(options, { knowsKeys });
    await engine.put(large());
    const [body] = overflow.bodies.values();
    expect(Buffer.from(body as Uint8Array).includes('xxxx')).toBe(false);
    expect((await engine.work()).handled).toHaveLength(1);
    expect(overflow.bodies.size).toBe(0);
  });
});

describe('a large body in an engine that knows its keys, besides', () => {
  it('is deleted by a later put where the engine was away so long that nothing was known of its job', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow });
    const { find } = engine;
    engine.fails = 'before';
    engine.find = () => {
      throw new Error('the engine is away');
    };
    await expect(engine.put(large())).rejects.toThrow('the engine is away');
    expect(overflow.bodies.size).toBe(1);
    Object.assign(engine, { fails: undefined, find });
    await leavesNoBody(engine, overflow.bodies);
  });

  it('is looked for from the time of its put on, however much later that is', async () => {
    const engine = anEngine({ overflow: anOverflow() });
    const now = vi.spyOn(Date, 'now').mockReturnValue(1_000);
    const { find } = engine;
    const looked: number[] = [];
    engine.fails = 'before';
    engine.find = () => {
      throw new Error('the engine is away');
    };
    await expect(engine.put(large())).rejects.toThrow('the engine is away');
    now.mockReturnValue(900_000);
    aDayLater();
    engine.fails = undefined;
    engine.find = (key, since) => {
      looked.push(since ?? 0);
      return find(key);
    };
    await engine.put(large());
    await vi.waitFor(() => expect(looked).toEqual([1_000]), PATIENTLY);
  });

  it('is not acknowledged where the queue has the job of its event without a body', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow });
    const queued = large();
    await engine.put(queued);
    overflow.bodies.clear();
    const { code, problem: text } = await engine.put(queued).then(expect.fail, (error) => error);
    expect([code, text]).toEqual(['body_unavailable', 'The queue has a job of this event, and its body is gone.']);
    expect(overflow.bodies.size).toBe(0);
  });

  it('is the same in every order of two attempts, one of which fails', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.constantFrom('before', 'after', undefined), async (scheduler, fails) => {
        const inner = anOverflow();
        const overflow: Overflow = {
          put: scheduler.scheduleFunction(inner.put),
          get: scheduler.scheduleFunction(inner.get),
          delete: scheduler.scheduleFunction(inner.delete),
        };
        const engine = anEngine({ overflow });
        const queued = large();
        engine.fails = fails;
        const first = engine.put(queued).catch(() => 'refused');
        engine.fails = undefined;
        const second = engine.put({ ...queued, signedAt: 2 }).catch(() => 'refused');
        await scheduler.waitFor(Promise.all([first, second]));
        const answers = [await first, await second];
        const run = engine.work({ overflow: inner });
        await scheduler.waitAll();
        const { handled } = await run;
        if (answers.some((answer) => answer !== 'refused')) expect(handled).toHaveLength(1);
        expect(engine.jobs).toEqual([]);
        await scheduler.waitAll();
        aDayLater();
        const last = engine.put(large());
        await scheduler.waitFor(last);
        await engine.work({ overflow: inner });
        await scheduler.waitAll();
        expect(inner.bodies.size).toBe(0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('the body of a put that has failed', () => {
  it('shares one timer with the others, and each is deleted', async () => {
    const { overflow, failToPut } = aRefusingEngine();
    await failToPut(1_001);
    expect(overflow.bodies.size).toBe(1_001);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    await vi.waitFor(() => expect(overflow.bodies.size).toBe(0), PATIENTLY);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('is deleted ten minutes after its own put, where others have failed before and after it', async () => {
    const { overflow, failToPut } = aRefusingEngine();
    for (let n = 0; n < 3; n += 1) {
      await failToPut();
      await vi.advanceTimersByTimeAsync(TEN_MINUTES / 4);
    }
    for (const left of [2, 1, 0]) {
      await vi.advanceTimersByTimeAsync(TEN_MINUTES / 4 - 1);
      expect(overflow.bodies.size).toBe(left + 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(overflow.bodies.size).toBe(left);
    }
  });

  it('is left where 10,000 others wait for their decision', async () => {
    const { overflow, failToPut } = aRefusingEngine();
    await failToPut(10_001);
    const last = [...overflow.bodies.keys()].at(-1);
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    await vi.waitFor(() => expect([...overflow.bodies.keys()]).toEqual([last]), PATIENTLY);
  });

  it('is deleted in ten minutes where the wall clock is set back meanwhile', async () => {
    const { overflow, failToPut } = aRefusingEngine();
    await failToPut();
    vi.setSystemTime(Date.now() - DAY);
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    expect(overflow.bodies.size).toBe(0);
  });

  it('stays for ten minutes where the wall clock is set forward meanwhile', async () => {
    const { overflow, engine, failToPut } = aRefusingEngine();
    await failToPut();
    const [id = ''] = overflow.bodies.keys();
    vi.setSystemTime(Date.now() + DAY);
    engine.fails = undefined;
    await engine.put(large());
    await vi.advanceTimersByTimeAsync(TEN_MINUTES - 1);
    expect(overflow.bodies.has(id)).toBe(true);
  });

  it('is deleted where the overflow cannot delete those of ten earlier puts', async () => {
    const { overflow, failToPut } = aRefusingEngine();
    await failToPut(10);
    const stuck = new Set(overflow.bodies.keys());
    const { delete: remove } = overflow;
    overflow.delete = async (id) => {
      if (stuck.has(id)) throw new Error('the row is locked');
      await remove(id);
    };
    await failToPut();
    await vi.advanceTimersByTimeAsync(TEN_MINUTES + 60_000);
    expect(new Set(overflow.bodies.keys())).toEqual(stuck);
    stuck.clear();
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    expect(overflow.bodies.size).toBe(0);
  });

  it('is decided alone, also where other puts end meanwhile', async () => {
    const { overflow, engine, failToPut } = aRefusingEngine();
    await failToPut(2);
    const ends = slowDeletes(overflow);
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    engine.fails = undefined;
    for (let n = 0; n < 3; n += 1) await engine.put(large());
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toHaveLength(2);
  });

  it('is deleted by a later put where the decision about another one never ends', async () => {
    const { overflow, engine, failToPut } = aRefusingEngine();
    await failToPut(2);
    const { find } = engine;
    engine.find = () => new Promise(() => {}) as never;
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    Object.assign(engine, { find, fails: undefined });
    const [first = '', second = ''] = overflow.bodies.keys();
    const isLeft = () => [overflow.bodies.has(first), overflow.bodies.has(second)];
    await vi.advanceTimersByTimeAsync(119_999);
    await engine.put(large());
    await vi.advanceTimersByTimeAsync(1);
    expect(isLeft()).toEqual([true, true]);
    await engine.put(large());
    await vi.advanceTimersByTimeAsync(0);
    expect(isLeft()).toEqual([true, false]);
    await vi.advanceTimersByTimeAsync(TEN_MINUTES);
    expect(isLeft()).toEqual([false, false]);
  });
});

describe('a body that is kept outside', () => {
  async function aSpilled() {
    const overflow = anOverflow();
    const engine = anEngine({ overflow });
    await engine.put(large());
    const [[id, body] = ['', new Uint8Array()]] = overflow.bodies;
    return { overflow, engine, id, body };
  }

  it('is refused where it was changed', async () => {
    const { overflow, engine, id, body } = await aSpilled();
    overflow.bodies.set(
      id,
      body.map((byte) => (byte === 0x78 ? 0x79 : byte)),
    );
    const text = 'The body in your overflow is another than was put there.';
    expect(problem(await engine.work())).toEqual(['failed', 'body_unavailable', text]);
  });

  it('stays in the queue where a worker has no overflow', async () => {
    const { engine } = await aSpilled();
    const text = 'The body of the job is kept outside of the queue, and overflow is not set.';
    expect(problem(await engine.work({}))).toEqual(['unreadable', 'unreadable_job', text]);
  });

  it.each([['text'], [5], [{}]])('is refused where the overflow returns %j', async (value) => {
    const { engine, overflow } = await aSpilled();
    const get = async () => value as never;
    const [as, code] = problem(await engine.work({ overflow: { ...overflow, get } })) as string[];
    expect([as, code]).toEqual(['failed', 'body_unavailable']);
  });

  it('may be an ArrayBuffer', async () => {
    const { engine, overflow } = await aSpilled();
    const get = async (id: string) => ((await overflow.get(id)) as Uint8Array).slice().buffer;
    expect((await engine.work({ overflow: { ...overflow, get } as Overflow })).handled).toHaveLength(1);
  });

  it('is a dead letter after the last attempt where it is gone', async () => {
    const { engine, overflow } = await aSpilled();
    overflow.bodies.clear();
    const process = createProcessor({ logger: false, on: {}, overflow });
    const ended = await process(engine.jobs[0], { attempt: 3, attempts: 3 });
    expect(ended).toMatchObject({ as: 'dead', attempts: 3, error: { code: 'body_unavailable' } });
  });
});

describe('a job that names the body of another job', () => {
  it('is unreadable, and its end deletes nothing', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow });
    await engine.put(large());
    const [victim] = engine.jobs as [PackedDelivery];
    const forged = { ...victim, key: 'test:evt_forged' };
    const process = createProcessor({ logger: false, on: {}, overflow });
    expect(await process(forged, { attempt: 1 })).toMatchObject({ as: 'unreadable' });
    await engine.payloads.drop(forged);
    expect(overflow.bodies.size).toBe(1);
  });
});

describe('an encrypted body', () => {
  it('opens with any of the keys, and the first one encrypts', async () => {
    const [old, current] = [aKey(), aKey()];
    const before = anEngine({ encrypt: old });
    await before.put(aQueued());
    const after = anEngine({ encrypt: [current, old] });
    await after.put(aQueued());
    const ids = [...before.jobs, ...after.jobs].map((job) => (job as PackedDelivery).encryptedBy);
    expect(new Set(ids).size).toBe(2);
    after.jobs.push(...before.jobs);
    expect((await after.work()).handled).toHaveLength(2);
  });

  it('has no text of its event in the job, and another text each time', async () => {
    const engine = anEngine({ encrypt: aKey() });
    const queued = aQueued({ data: { text: 'secret words' } });
    await engine.put(queued);
    const again = anEngine({ encrypt: aKey() });
    await again.put(queued);
    const [one, other] = [...engine.jobs, ...again.jobs] as PackedDelivery[];
    expect(Buffer.from(one?.body ?? '', 'base64').includes('secret words')).toBe(false);
    expect(one?.body).not.toBe(other?.body);
  });

  it('stays in the queue where its key is missing, and says which one', async () => {
    const engine = anEngine({ encrypt: aKey() });
    await engine.put(aQueued());
    const { encryptedBy } = engine.jobs[0] as PackedDelivery;
    const [as, code, text] = problem(await engine.work({ encrypt: aKey() })) as string[];
    expect([as, code]).toEqual(['unreadable', 'unreadable_job']);
    expect(text).toContain(encryptedBy);
    const none = 'The body of the job is encrypted, and encrypt is not set.';
    expect(problem(await engine.work({}))).toEqual(['unreadable', 'unreadable_job', none]);
  });

  it.each<[string, (job: PackedDelivery) => Partial<PackedDelivery>]>([
    ['a byte', ({ body = '' }) => ({ body: body.startsWith('A') ? `B${body.slice(1)}` : `A${body.slice(1)}` })],
    ['its key', () => ({ key: 'test:evt_other' })],
    ['its tenant', () => ({ tenant: 'other' })],
    ['its scheme', () => ({ scheme: 'legacy' })],
    ['its signed time', () => ({ signedAt: 2 })],
    ['all but its beginning', ({ body = '' }) => ({ body: body.slice(0, 8) })],
  ])('is refused where %s was changed', async (_, change) => {
    const engine = anEngine({ encrypt: aKey() });
    await engine.put(aQueued());
    engine.jobs[0] = { ...(engine.jobs[0] as PackedDelivery), ...change(engine.jobs[0] as PackedDelivery) };
    const text = 'The body of the job cannot be decrypted: it, or the job, was changed.';
    expect(problem(await engine.work())).toEqual(['failed', 'body_unavailable', text]);
  });

  it('keeps what the caller does with the bytes of the key afterwards', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(32));
    const engine = anEngine({ encrypt: bytes });
    const text = Buffer.from(bytes).toString('base64');
    bytes.fill(0);
    await engine.put(aQueued());
    expect((await engine.work({ encrypt: text })).handled).toHaveLength(1);
  });
});

describe('a worker', () => {
  it('runs a job again where the engine does not say whose it is after the handler', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow });
    await engine.put(large());
    const { ends } = await engine.work(undefined, () => Promise.reject(new Error('the engine is away')));
    expect(ends).toMatchObject([{ as: 'failed', error: { code: 'body_unavailable' } }]);
    expect(overflow.bodies.size).toBe(1);
  });

  it('reports the type of a packed job whose worker died', async () => {
    const encrypt = aKey();
    const engine = anEngine({ encrypt });
    await engine.put(aQueued());
    const notices: unknown[] = [];
    const process = createProcessor({ logger: false, on: {}, encrypt, observe: (one) => notices.push(one) });
    const ended = await process(engine.jobs[0], { attempt: 2, attempts: 1 });
    if (ended.as === 'dead') process.deadLetter(engine.jobs[0], ended);
    expect(notices.at(-1)).toMatchObject({ kind: 'dead_letter', type: 'stt.completed', cause: 'worker_died' });
  });

  it('can read a job whose body is away, and none whose key it lacks', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow, encrypt: aKey() });
    await engine.put(large());
    const { canRead } = createProcessor({ on: {}, overflow, encrypt: aKey() });
    expect(await canRead(engine.jobs[0])).toBe(false);
    const other = anEngine({ overflow });
    await other.put(large());
    overflow.bodies.clear();
    expect(await createProcessor({ on: {}, overflow }).canRead(other.jobs[0])).toBe(true);
  });
});

describe('the options of payloads', () => {
  it.each([
    ['a variable that is not set', { encrypt: undefined }, 'encrypt is undefined: set the variable of its key'],
    ['an empty text', { encrypt: '' }, 'encrypt must be 32 random bytes'],
    ['an empty list', { encrypt: [] }, 'encrypt has no key'],
    ['a short key', { encrypt: 'c2hvcnQ=' }, 'encrypt must be 32 random bytes'],
    ['a text that is not base64', { encrypt: ['not base64!'] }, 'encrypt must be 32 random bytes'],
    ['a key of equal bytes', { encrypt: new Uint8Array(32) }, 'encrypt must be 32 random bytes'],
    ['an overflow without delete()', { overflow: { put() {}, get() {} } }, 'overflow must have the methods'],
  ])('%s is refused', (_, options, message) => {
    expect(refusal(() => createPayloads(options as never)).message).toContain(message);
  });

  it('a limit names the largest body that fits, and an encrypted one fits too', async () => {
    for (const options of [{}, { encrypt: aKey() }]) {
      const { maxBodyBytes = 0 } = createPayloads(options, LIMIT);
      const engine = anEngine(options);
      const base = aQueued({ key: `test:${'k'.repeat(180)}`, tenant: 't'.repeat(64) });
      const body = `${Buffer.from(base.body, 'base64').toString()}`.padEnd(maxBodyBytes);
      await engine.put({ ...base, body: Buffer.from(body).toString('base64') });
      expect(JSON.stringify(engine.jobs[0]).length).toBeLessThanOrEqual(LIMIT);
      expect((await engine.work()).handled).toHaveLength(1);
    }
  });

  it('a job leaves out its unsigned headers where they make it too large', async () => {
    const engine = anEngine({});
    await engine.put({ ...aQueued(), unsigned: { idempotencyKey: 'k'.repeat(LIMIT) } });
    expect(engine.jobs).toMatchObject([{ v: 1, unsigned: {} }]);
    expect((await engine.work()).handled).toHaveLength(1);
  });

  it.each([
    [{ v: 2, key: 'test:evt_1' }],
    [{ v: 2, key: 'test:evt_1', body: 'eA==' }],
    [{ v: 2, key: 'test:evt_1', overflow: { id: 5, hash: 'x' } }],
    [{ v: 2, key: 'test:evt_1', body: 5, encryptedBy: 'x' }],
    [{ v: 2, key: 'test:evt_1', body: '!', encryptedBy: 'x' }],
    [{ v: 2 }],
    [{ v: 3, key: 'test:evt_1' }],
    [null],
    ['text'],
  ])('the job %j is unreadable', async (job) => {
    const process = createProcessor({ logger: false, on: {}, overflow: anOverflow(), encrypt: aKey() });
    expect(await process(job, { attempt: 1 })).toMatchObject({ as: 'unreadable', error: { code: 'unreadable_job' } });
  });
});
