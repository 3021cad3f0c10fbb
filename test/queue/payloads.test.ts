import { isWebhookError, type QueuedDelivery } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { createProcessor, type Ended } from '../../src/queue/index.js';
import type { Overflow } from '../../src/queue/limited-overflow.js';
import type { PackedDelivery, QueueJob } from '../../src/queue/packed-delivery.js';
import { createPayloads, type PayloadOptions } from '../../src/queue/payloads.js';
import { refusal } from '../support/deliveries.js';
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
    /** What a put does: it may fail before or after the job is stored. */
    fails: undefined as 'before' | 'after' | undefined,
    put: (delivery: QueuedDelivery) =>
      payloads.put(delivery, {
        async putJob(job) {
          if (engine.fails === 'before') throw new Error('the engine is away');
          if (knowsKeys && keys.has(job.key)) return 'known';
          jobs.push(structuredClone(job));
          keys.set(job.key, 'waiting');
          if (engine.fails === 'after') throw new Error('the answer was lost');
          return 'queued';
        },
        isFinished: knowsKeys ? async (key) => keys.get(key) === 'done' : undefined,
      }),
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
  return { overflow, bodies: inner.bodies };
}

const problem = ({ ends: [ended] }: { ends: Ended[] }) =>
  ended && 'error' in ended && isWebhookError(ended.error) ? [ended.as, ended.error.code, ended.error.problem] : ended;

describe.each([
  ['an engine that knows its keys', true],
  ['an engine that knows no keys', false],
])('a large body in %s', (_, knowsKeys) => {
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
        const { overflow, bodies } = failingAt(call, when);
        const engine = anEngine({ overflow }, { knowsKeys });
        const queued = large();
        await engine.put(queued).catch(() => engine.put(queued));
        const handled = [...(await engine.work()).handled, ...(await engine.work()).handled];
        expect(handled.length).toBeGreaterThanOrEqual(1);
        expect(engine.jobs).toEqual([]);
        expect(bodies.size).toBe(0);
      });
    }
  }

  it('is not left where the engine refuses its job', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    engine.fails = 'before';
    await expect(engine.put(large())).rejects.toThrow('the engine is away');
    expect(overflow.bodies.size).toBe(0);
  });

  it('is there again after the next attempt where the answer of the engine was lost', async () => {
    const overflow = anOverflow();
    const engine = anEngine({ overflow }, { knowsKeys });
    const queued = large();
    engine.fails = 'after';
    await expect(engine.put(queued)).rejects.toThrow('the answer was lost');
    engine.fails = undefined;
    const early = await engine.work();
    expect(problem(early)).toEqual(['failed', 'body_unavailable', 'The body of the job is not in your overflow.']);
    expect(await engine.put(queued)).toBe(knowsKeys ? 'known' : 'queued');
    expect((await engine.work()).handled).toHaveLength(1);
    expect(overflow.bodies.size).toBe(0);
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

describe('the options of payloads', () => {
  it.each([
    ['an empty list', { encrypt: [] }, 'encrypt has no key'],
    ['a short key', { encrypt: 'c2hvcnQ=' }, 'encrypt must be 32 random bytes'],
    ['a text that is not base64', { encrypt: ['not base64!'] }, 'encrypt must be 32 random bytes'],
    ['a key of equal bytes', { encrypt: new Uint8Array(32) }, 'encrypt must be 32 random bytes'],
    ['an overflow without delete()', { overflow: { put() {}, get() {} } }, 'overflow must have the methods'],
  ])('%s is refused', (_, options, message) => {
    expect(refusal(() => createPayloads(options as never)).message).toContain(message);
  });

  it('a limit names the largest body that fits, and an encrypted one fits too', async () => {
    for (const encrypt of [undefined, aKey()]) {
      const { maxBodyBytes = 0 } = createPayloads({ encrypt }, LIMIT);
      const engine = anEngine({ encrypt });
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
