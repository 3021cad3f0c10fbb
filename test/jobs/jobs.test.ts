import {
  createReceiver,
  type Handlers,
  memoryStore,
  type Outcome,
  PermanentError,
  type ReceiverOptions,
} from 'service-webhooks';
import { createJobs, type Job, type Jobs, type ReconcileOptions } from 'service-webhooks/jobs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aDelivery, bodyOf, inShort, later, NOW, now, rejection, SECRET } from '../support/deliveries.js';

const HOUR = 3_600_000;

/** A store with a clock in hand, its jobs, and a receiver of events about them. */
function aService(options: Partial<ReceiverOptions> = {}) {
  let time = NOW;
  const store = memoryStore({ now: () => time });
  const jobs = createJobs({ store, pollMs: 5 });
  const handled: string[] = [];
  const outcomes: Outcome[] = [];
  const on: Handlers = { '*': (event) => void handled.push(event.id) };
  const receiver = createReceiver({
    secret: SECRET,
    on,
    jobs,
    dedupe: { store },
    now,
    logger: false,
    observe: (outcome) => void outcomes.push(outcome),
    ...options,
  });
  const send = async (event: Record<string, unknown> = {}, to = receiver) =>
    inShort(await to({ method: 'POST', ...aDelivery({ event }) }));
  const reconcile = (fetch: ReconcileOptions['fetch'], more: Partial<ReconcileOptions> = {}) =>
    jobs.reconcile({
      on,
      fetch,
      logger: false,
      observe: (outcome) => void outcomes.push(outcome),
      ...more,
    });
  return { store, jobs, handled, outcomes, on, receiver, send, reconcile, advance: (ms: number) => (time += ms) };
}

const done = async () => ({ type: 'stt.completed', data: { text: 'found' } });
const kinds = (outcomes: readonly Outcome[]) => outcomes.map(({ kind }) => kind);

describe('an expected job', () => {
  it('expect records a job once, with its first expectation', async () => {
    const { jobs, advance } = aService();
    const first = await jobs.expect('clip_1', { within: '2h', note: 'the intro', types: ['stt.completed'] });
    expect(first).toMatchObject({ jobId: 'clip_1', state: 'expected', expectedAt: NOW, dueAt: NOW + 2 * HOUR });
    advance(HOUR);
    expect(await jobs.expect('clip_1', { within: '9h', note: 'another' })).toEqual(first);
    expect(await jobs.expected()).toEqual([first]);
  });

  it('expect finds an open job also where a memory store has dropped the older half of what has ended', async () => {
    const store = memoryStore({ maxEntries: 4 });
    const jobs = createJobs({ store });
    await jobs.expect('clip_1', { within: '1h' });
    const write = (nth: number) =>
      store.jobs?.write({ key: `job:early_${nth}`, version: `v${nth}`, text: '{}', keepMs: 60_000 }, undefined);
    for (let nth = 0; nth < 20; nth += 1) await write(nth);
    expect(await jobs.expected()).toMatchObject([{ jobId: 'clip_1' }]);
    expect((await store.jobs?.read('job:early_0'))?.record).toBeUndefined();
    expect((await store.jobs?.read('job:early_19'))?.record).toMatchObject({ version: 'v19' });
  });

  it('expect counts an event that came before', async () => {
    const { jobs, send } = aService();
    expect(await send()).toBe('200 handled');
    expect(await jobs.expect('clip_1', { within: 1_000 })).toMatchObject({
      state: 'completed',
      event: { id: 'evt_1' },
    });
    expect(await jobs.expected()).toEqual([]);
  });

  it('expect does not count an earlier event of another type than the expected ones', async () => {
    const { jobs, send } = aService();
    await send({ type: 'voice_enhancement.completed' });
    expect(await jobs.expect('clip_1', { within: 1_000, types: ['stt.completed'] })).toMatchObject({
      state: 'expected',
    });
    await send({ id: 'evt_2' });
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed', event: { id: 'evt_2' } });
  });

  it.each([
    [
      'no options',
      (jobs: Jobs) => jobs.expect('clip_1', undefined as never),
      'expect() has no time. Pass the time as well',
    ],
    [
      'no id',
      (jobs: Jobs) => jobs.expect(undefined as never, { within: 1 }),
      'Pass the id of the job from the answer of the API',
    ],
    ['no time', (jobs: Jobs) => jobs.expect('clip_1', {} as never), "such as '90s', '30m', '2h' or '1d'"],
    ['a time in words', (jobs: Jobs) => jobs.expect('clip_1', { within: 'soon' }), "such as '90s'"],
    [
      'a misspelt type',
      (jobs: Jobs) => jobs.expect('clip_1', { within: 1, types: ['stt.complete'] }),
      "'stt.completed'",
    ],
    ['no types', (jobs: Jobs) => jobs.expect('clip_1', { within: 1, types: [] }), 'types must be a list'],
    ['a long note', (jobs: Jobs) => jobs.expect('clip_1', { within: 1, note: 'x'.repeat(1_001) }), 'note must be'],
    ['a time of find', (jobs: Jobs) => jobs.find('clip_1', { timeoutMs: 1 } as never), 'It takes tenant'],
    ['a limit', (jobs: Jobs) => jobs.expect('clip_1', { timeoutMs: 1 } as never), "Did you mean 'within'?"],
    ['another name', (jobs: Jobs) => jobs.expect('clip_1', { with: 1 } as never), "Did you mean 'within'?"],
  ])('expect refuses %s with what to write', async (_, call, problem) => {
    const error = await rejection(call(aService().jobs));
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain(problem);
  });
});

describe('the job of a delivery', () => {
  it.each([
    ['stt.completed', 'completed'],
    ['stt.failed', 'failed'],
  ])('a receiver with jobs ends a job by a handled %s as %s', async (type, state) => {
    const { jobs, send } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    expect(await send({ type })).toBe('200 handled');
    expect(await jobs.find('clip_1')).toMatchObject({ state, event: { type }, reconciled: false });
    expect(await jobs.stats()).toEqual({ expected: 0, overdue: 0, oldestMs: undefined });
  });

  it('a receiver with jobs ends no job by a delivery whose handler threw', async () => {
    let fails = true;
    const { jobs, send } = aService({
      on: {
        '*': () => {
          if (fails) throw new Error('no disk');
        },
      },
    });
    await jobs.expect('clip_1', { within: '1h' });
    expect(await send()).toBe('500 handler_failed');
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'expected' });
    fails = false;
    expect(await send()).toBe('200 handled');
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed' });
  });

  it('a receiver with jobs ends no job by an event that is discarded or has no handler', async () => {
    const discarding = aService({
      on: {
        '*': () => {
          throw new PermanentError();
        },
      },
    });
    await discarding.jobs.expect('clip_1', { within: '1h' });
    expect(await discarding.send()).toBe('200 discarded');
    expect(await discarding.jobs.find('clip_1')).toMatchObject({ state: 'expected' });
    const ignoring = aService({ on: {} });
    await ignoring.jobs.expect('clip_1', { within: '1h' });
    expect(await ignoring.send()).toBe('200 ignored');
    expect(await ignoring.jobs.find('clip_1')).toMatchObject({ state: 'expected' });
  });

  it('a receiver with jobs ends a job by a handler that ends after its deadline', async () => {
    const work = later();
    const { jobs, send, outcomes } = aService({ on: { '*': () => work.promise }, deadlineMs: 20 });
    await jobs.expect('clip_1', { within: '1h' });
    expect(await send()).toBe('503 handler_timeout');
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'expected' });
    work.resolve();
    await expect.poll(() => kinds(outcomes)).toContain('late_result');
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed' });
  });

  it('a receiver with jobs ends the job of its own tenant only', async () => {
    const { jobs, receiver, send, store } = aService();
    const tenants = createReceiver({
      secret: { north: SECRET, south: 'whsec_of_the_south_0123456789' },
      on: { '*': () => {} },
      jobs,
      dedupe: { store, name: 'tenants' },
      now,
      logger: false,
    });
    await jobs.expect('clip_1', { within: '1h', tenant: 'south' });
    await jobs.expect('clip_1', { within: '1h' });
    await send({}, tenants);
    expect(await jobs.find('clip_1', { tenant: 'south' })).toMatchObject({ state: 'expected' });
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'expected' });
    expect(await jobs.find('clip_1', { tenant: 'north' })).toMatchObject({ state: 'completed' });
    await send({ id: 'evt_2' }, receiver);
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed' });
  });

  it('a receiver with jobs handles an event without a job as before', async () => {
    const { send, handled } = aService();
    expect(await send({ type: 'trigger.failed', jobId: null })).toBe('200 handled');
    expect(handled).toEqual(['evt_1']);
  });

  it('a receiver with jobs handles every event of a job, also of a type that has come before', async () => {
    const { send, handled, jobs } = aService();
    await jobs.expect('project_1', { within: '1h' });
    await send({ id: 'evt_1', jobId: 'project_1', type: 'export.completed' });
    await send({ id: 'evt_2', jobId: 'project_1', type: 'export.completed' });
    expect(handled).toEqual(['evt_1', 'evt_2']);
    expect(await jobs.find('project_1')).toMatchObject({ event: { id: 'evt_1' } });
  });

  it('a receiver with jobs keeps the event as it came, at any depth and whatever its handler does', async () => {
    const { jobs, receiver } = aService({ on: { '*': (event) => void Object.assign(event, { data: 'changed' }) } });
    const depth = 30_000;
    const body = bodyOf().replace('{"clipId":"clip_1"}', `{"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`);
    expect(inShort(await receiver({ method: 'POST', ...aDelivery({ body }) }))).toBe('200 handled');
    expect((await jobs.ended('clip_1')).data).toHaveProperty('deep');
  });

  it('a receiver with jobs refuses a delivery whose record it cannot read, until the job is forgotten', async () => {
    const { jobs, store, send, handled, outcomes } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    const { record } = (await store.jobs?.read('job:clip_1')) ?? {};
    await store.jobs?.write({ ...record, key: 'job:clip_1', version: 'another', text: '{"v":2}' }, record?.version);
    expect(await send()).toBe('503 store_unavailable');
    expect(outcomes).toMatchObject([{ kind: 'failed', error: { message: expect.stringContaining('jobs.forget()') } }]);
    expect(await jobs.expected()).toEqual([]);
    await jobs.forget('clip_1');
    expect(await send()).toBe('200 handled');
    expect(handled).toEqual(['evt_1']);
  });

  it('a receiver with jobs releases an event whose job cannot be claimed', async () => {
    const { jobs, store, send, handled, outcomes } = aService();
    const records = store.jobs as { read: unknown };
    const { read } = records;
    records.read = () => Promise.reject(new Error('down'));
    expect(await send()).toBe('503 store_unavailable');
    records.read = read;
    expect(await send()).toBe('200 handled');
    expect(handled).toEqual(['evt_1']);
    expect(kinds(outcomes)).toEqual(['failed', 'handled']);
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed' });
  });

  it('a receiver with jobs acknowledges an event whose ending is recorded later, and lets nothing run meanwhile', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { jobs, store, send, outcomes, reconcile, advance } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const records = store.jobs as { write: unknown };
    const { write } = records;
    records.write = () => Promise.reject(new Error('down'));
    expect(await send()).toBe('200 handled');
    expect(outcomes).toMatchObject([{ kind: 'store_error', operation: 'complete' }, { kind: 'handled' }]);
    records.write = write;
    expect(await reconcile(done)).toMatchObject({ elsewhere: 1 });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed', event: { id: 'evt_1' } });
  });

  it('a receiver with jobs ends a job without the data of an event that the store always refuses', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { jobs, store, send, handled } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    const records = store.jobs as unknown as { write(record: { text: string }, replaces?: string): Promise<boolean> };
    const write = records.write.bind(records);
    records.write = async (record, replaces) => {
      if (record.text.length > 2_000) throw new Error('the row is too large');
      return write(record, replaces);
    };
    expect(await send({ data: { text: 'x'.repeat(5_000) } })).toBe('200 handled');
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await jobs.ended('clip_1')).toMatchObject({ id: 'evt_1', data: {} });
    expect(handled).toEqual(['evt_1']);
  });

  it('a receiver with jobs handles two events of one type about one job one after the other', async () => {
    const work = later();
    const handled: string[] = [];
    const { send } = aService({
      on: {
        '*': async ({ id }) => {
          handled.push(id);
          if (id === 'evt_1') await work.promise;
        },
      },
    });
    const first = send({ id: 'evt_1' });
    await expect.poll(() => handled).toEqual(['evt_1']);
    const second = send({ id: 'evt_2' });
    work.resolve();
    expect(await Promise.all([first, second])).toEqual(['200 handled', '200 handled']);
    expect(handled).toEqual(['evt_1', 'evt_2']);
  });

  it('a receiver with jobs on a shared store needs the name of its endpoint', async () => {
    const { store } = aService();
    const jobs = createJobs({ store: { ...store, scope: 'shared' } });
    expect(() => createReceiver({ secret: SECRET, on: {}, jobs, dedupe: false })).toThrow(
      'dedupe: { store, name } to the receiver',
    );
    expect((await rejection(jobs.reconcile({ on: {}, fetch: done }))).message).toContain('name to reconcile()');
  });

  it('a receiver with jobs refuses them next to a queue, and what is no jobs', () => {
    const { jobs } = aService();
    const queue = { name: 'webhooks', put: async () => 'queued' as const };
    expect(() => createReceiver({ secret: SECRET, queue, jobs })).toThrow('pass jobs to the worker of the queue');
    expect(() => createReceiver({ secret: SECRET, on: {}, jobs: {} as never })).toThrow('the result of createJobs()');
  });
});

describe('a wait for a job', () => {
  it('ended resolves with the event once its handler has returned', async () => {
    const { jobs, send } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    const waits = jobs.ended('clip_1');
    await send({ data: { text: 'hello' } });
    expect(await waits).toMatchObject({ id: 'evt_1', data: { text: 'hello' } });
    expect(await jobs.ended('clip_1')).toMatchObject({ id: 'evt_1' });
  });

  it('ended rejects with job_timeout at its limit, and the job stays expected', async () => {
    const { jobs } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    const error = await rejection(jobs.ended('clip_1', { timeoutMs: 20 }));
    expect(error).toMatchObject({ code: 'job_timeout', retryable: true });
    expect(error.message).toContain('No event has ended the job "clip_1" within 20 ms.');
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'expected' });
  });

  it('ended rejects with the reason of its signal', async () => {
    const { jobs } = aService();
    const controller = new AbortController();
    const waits = jobs.ended('clip_1', { signal: controller.signal });
    controller.abort(new Error('the user has left'));
    await expect(waits).rejects.toThrow('the user has left');
    await expect(jobs.ended('clip_1', { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow('before');
  });

  it('ended says that the store fails where it does so until the limit', async () => {
    const { jobs, store } = aService();
    Object.assign(store.jobs ?? {}, { read: () => Promise.reject(new Error('no route to Redis')) });
    const error = await rejection(jobs.ended('clip_1', { timeoutMs: 20 }));
    expect(error).toMatchObject({ code: 'job_timeout', cause: { code: 'store_unavailable' } });
    expect(error.message).toContain('The store does not say whether the job "clip_1" has ended');
  });

  it('ended subscribes once for all who wait, and not at all for a job that has ended', async () => {
    const { jobs, store, send } = aService();
    let subscriptions = 0;
    const watch = store.jobs?.watch;
    Object.assign(store.jobs ?? {}, {
      watch: (changed: (key: string) => void) => {
        subscriptions += 1;
        return watch?.(changed);
      },
    });
    await send({ jobId: 'clip_0', id: 'evt_0' });
    await jobs.ended('clip_0');
    expect(subscriptions).toBe(0);
    const waits = ['clip_1', 'clip_1', 'clip_2'].map((jobId) => jobs.ended(jobId));
    await send({ jobId: 'clip_1', id: 'evt_1' });
    await send({ jobId: 'clip_2', id: 'evt_2' });
    expect((await Promise.all(waits)).map(({ id }) => id)).toEqual(['evt_1', 'evt_1', 'evt_2']);
    expect(subscriptions).toBe(1);
  });

  it('ended asks a store that cannot notify for it once, and closes a client that is gone without a word', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { jobs, store } = aService();
    let asked = 0;
    const watch = async () => {
      asked += 1;
    };
    Object.assign(store.jobs ?? {}, { watch });
    const wait = async () => {
      const waited = rejection(jobs.ended('clip_1', { timeoutMs: 50 }));
      await vi.advanceTimersByTimeAsync(100);
      return (await waited).code;
    };
    expect([await wait(), await wait(), asked]).toEqual(['job_timeout', 'job_timeout', 1]);
    const gone = async () => () => {
      throw new Error('the client is closed');
    };
    const other = aService();
    Object.assign(other.store.jobs ?? {}, { watch: gone });
    const waited = rejection(other.jobs.ended('clip_1', { timeoutMs: 50 }));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await waited).code).toBe('job_timeout');
  });

  it('ended survives a store that fails for a while', async () => {
    const { jobs, store, send } = aService();
    const records = store.jobs as { read: unknown };
    const { read } = records;
    let failures = 0;
    records.read = async () => {
      failures += 1;
      throw new Error('down');
    };
    const waits = jobs.ended('clip_1');
    await expect.poll(() => failures).toBeGreaterThan(2);
    records.read = read;
    await send();
    expect(await waits).toMatchObject({ id: 'evt_1' });
  });
});

describe('overdue jobs', () => {
  it('overdue lists late jobs, the latest first, and counts them', async () => {
    const { jobs, advance } = aService();
    await jobs.expect('clip_2', { within: '2h' });
    await jobs.expect('clip_1', { within: '1h' });
    await jobs.expect('clip_9', { within: '9h' });
    expect(await jobs.overdue()).toEqual([]);
    advance(3 * HOUR);
    const late = await jobs.overdue();
    expect(late.map(({ jobId, state }) => `${jobId} ${state}`)).toEqual(['clip_1 overdue', 'clip_2 overdue']);
    expect((await jobs.overdue({ limit: 1, after: late[0] })).map(({ jobId }) => jobId)).toEqual(['clip_2']);
    expect((await jobs.expected()).map(({ state }) => state)).toEqual(['overdue', 'overdue', 'expected']);
    expect(await jobs.stats()).toEqual({ expected: 3, overdue: 2, oldestMs: 2 * HOUR });
  });

  it('overdue() no longer lists a job that was forgotten, and lets it be expected again', async () => {
    const { jobs, send } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    await send();
    await jobs.forget('clip_1');
    expect(await jobs.find('clip_1')).toBeUndefined();
    expect(await jobs.expect('clip_1', { within: '1h' })).toMatchObject({ state: 'expected' });
  });
});

describe('a reconciliation', () => {
  it('reconcile runs the handler of an event that never came, once, and marks it', async () => {
    const { jobs, handled, reconcile, advance, outcomes } = aService();
    await jobs.expect('clip_1', { within: '1h', note: 'the intro' });
    advance(2 * HOUR);
    const asked: unknown[] = [];
    const fetch = async (job: unknown) => {
      asked.push(job);
      return done();
    };
    expect(await reconcile(fetch)).toEqual({ ended: 1, running: 0, elsewhere: 0, ignored: 0, failed: 0 });
    expect(await reconcile(fetch)).toEqual({ ended: 0, running: 0, elsewhere: 0, ignored: 0, failed: 0 });
    expect(asked).toMatchObject([{ jobId: 'clip_1', state: 'overdue', note: 'the intro' }]);
    expect(handled).toEqual([expect.stringMatching(/^evt_reconciled_[0-9a-f]{32}$/)]);
    expect(outcomes).toMatchObject([
      { kind: 'overdue', jobId: 'clip_1', note: 'the intro', overdueMs: HOUR },
      { kind: 'handled', delivery: { scheme: 'reconciled', secretIndex: -1, signedAt: undefined } },
    ]);
    expect(await jobs.ended('clip_1')).toMatchObject({ type: 'stt.completed', data: { text: 'found' } });
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed', reconciled: true });
  });

  it('reconcile answers the webhook that comes afterwards, and its retries, as duplicates', async () => {
    const { jobs, handled, reconcile, advance, send } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    await reconcile(done);
    expect([await send(), await send()]).toEqual(['200 duplicate', '200 duplicate']);
    expect(await send({ id: 'evt_2' })).toBe('200 handled');
    expect(handled).toEqual([expect.stringContaining('evt_reconciled_'), 'evt_2']);
  });

  it('reconcile runs nothing where the webhook came first', async () => {
    const { jobs, handled, reconcile, advance, send } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const counts = await reconcile(async () => {
      await send();
      return done();
    });
    expect(counts).toMatchObject({ elsewhere: 1, ended: 0 });
    expect(handled).toEqual(['evt_1']);
  });

  it('reconcile makes a webhook wait that comes while its handler runs', async () => {
    const work = later();
    const { jobs, reconcile, advance, send, outcomes } = aService({ deadlineMs: 200 });
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const running = later();
    const reconciled = reconcile(done, {
      on: {
        '*': async () => {
          running.resolve();
          await work.promise;
        },
      },
    });
    await running.promise;
    expect(await send()).toBe('409 delivery_in_progress');
    work.resolve();
    expect(await reconciled).toMatchObject({ ended: 1 });
    expect(await send()).toBe('200 duplicate');
    expect(kinds(outcomes)).toEqual(['overdue', 'in_progress', 'handled', 'duplicate']);
  });

  it('reconcile asks again for a job that runs, and reports it as overdue once', async () => {
    const { jobs, reconcile, advance, outcomes } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    expect(await reconcile(async () => undefined)).toMatchObject({ running: 1 });
    expect(await reconcile(async () => undefined)).toMatchObject({ running: 1 });
    expect(await reconcile(done)).toMatchObject({ ended: 1 });
    expect(kinds(outcomes)).toEqual(['overdue', 'handled']);
  });

  it('reconcile leaves a job overdue where fetch or the handler fails, and tries again', async () => {
    const { jobs, reconcile, advance, outcomes } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const failing = async () => {
      throw new Error('the service is down');
    };
    expect(await reconcile(failing)).toMatchObject({ failed: 1 });
    expect(await reconcile(done, { on: { '*': failing } })).toMatchObject({ failed: 1 });
    expect(await reconcile(async () => ({ type: '', data: {} }))).toMatchObject({ failed: 1 });
    expect(await jobs.overdue()).toHaveLength(1);
    expect(await reconcile(done)).toMatchObject({ ended: 1 });
    expect(kinds(outcomes)).toEqual(['overdue', 'failed', 'failed', 'failed', 'handled']);
  });

  it('reconcile runs nothing for a job that was forgotten or expected again while the service was asked', async () => {
    const { jobs, reconcile, advance, handled, send } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const forgets = async () => {
      await jobs.forget('clip_1');
      return done();
    };
    expect(await reconcile(forgets)).toMatchObject({ elsewhere: 1, ended: 0 });
    expect(await jobs.find('clip_1')).toBeUndefined();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const expectsAgain = async () => {
      await jobs.forget('clip_1');
      advance(1);
      await jobs.expect('clip_1', { within: '1h' });
      return done();
    };
    expect(await reconcile(expectsAgain)).toMatchObject({ elsewhere: 1, ended: 0 });
    expect(handled).toEqual([]);
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'expected' });
    expect(await send()).toBe('200 handled');
    expect(await jobs.find('clip_1')).toMatchObject({ state: 'completed', reconciled: false });
  });

  it('reconcile takes a webhook for its event only as long as the service retries', async () => {
    const { jobs, reconcile, advance, handled, send } = aService();
    await jobs.expect('project_1', { within: '1h' });
    advance(2 * HOUR);
    await reconcile(done);
    advance(7 * HOUR);
    expect(await send({ jobId: 'project_1' })).toBe('200 handled');
    expect(handled).toHaveLength(2);
  });

  it('reconcile gives two expectations of one job events of their own', async () => {
    const { jobs, reconcile, advance, handled } = aService();
    for (let round = 0; round < 2; round += 1) {
      await jobs.expect('project_1', { within: '1h' });
      advance(2 * HOUR);
      expect(await reconcile(done)).toMatchObject({ ended: 1 });
      await jobs.forget('project_1');
    }
    expect(new Set(handled).size).toBe(2);
  });

  it('reconcile asks for jobs also where what has expired cannot be removed', async () => {
    const { jobs, store, reconcile, advance } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    Object.assign(store.jobs ?? {}, { purgeExpired: () => Promise.reject(new Error('too slow')) });
    expect(await reconcile(done)).toMatchObject({ ended: 1 });
  });

  it('reconcile leaves no rejection unhandled where the store fails for one of several jobs', async () => {
    const { jobs, store, reconcile, advance } = aService();
    const unhandled: unknown[] = [];
    const listener = (reason: unknown) => void unhandled.push(reason);
    process.on('unhandledRejection', listener);
    onTestFinished(() => void process.off('unhandledRejection', listener));
    await jobs.expect('clip_1', { within: '1h' });
    await jobs.expect('clip_2', { within: '1h' });
    advance(2 * HOUR);
    const failing = () => Promise.reject(new Error('connection refused'));
    Object.assign(store, { claim: failing, release: failing });
    const whenOneHasFailed = async ({ jobId }: Job) => {
      if (jobId === 'clip_2') await new Promise((resolve) => setImmediate(resolve));
      return done();
    };
    expect(await reconcile(whenOneHasFailed)).toMatchObject({ failed: 2 });
    expect(unhandled).toEqual([]);
  });

  it('reconcile needs a name where several receivers share a memory store', async () => {
    const { jobs, store, on } = aService();
    for (const name of ['dubs', 'clips']) createReceiver({ secret: SECRET, on, jobs, dedupe: { store, name } });
    const error = await rejection(jobs.reconcile({ on, fetch: done }));
    expect(error.message).toContain('name is missing, and these jobs are in several receivers: dubs, clips');
  });

  it('reconcile takes the name of the only receiver on a memory store', async () => {
    const store = memoryStore();
    const jobs = createJobs({ store });
    const on = { '*': () => {} };
    const receiver = createReceiver({ secret: SECRET, on, jobs, dedupe: { store, name: 'dubs' }, now, logger: false });
    await jobs.expect('clip_1', { within: 1 });
    await expect.poll(() => jobs.overdue()).toHaveLength(1);
    expect(await jobs.reconcile({ on, fetch: done, logger: false })).toMatchObject({ ended: 1 });
    expect(inShort(await receiver({ method: 'POST', ...aDelivery() }))).toBe('200 duplicate');
  });

  it('reconcile refuses a type that does not end the job, before its handler runs', async () => {
    const { jobs, reconcile, advance, handled, outcomes } = aService();
    await jobs.expect('dub_1', { within: '1h', types: ['dubbing.completed'] });
    advance(2 * HOUR);
    expect(await reconcile(done)).toMatchObject({ failed: 1 });
    expect(handled).toEqual([]);
    const cause = 'fetch returned the type "stt.completed", which does not end the job. Return dubbing.completed.';
    expect(outcomes.at(-1)).toMatchObject({ error: { cause: { message: expect.stringContaining(cause) } } });
  });

  it('reconcile counts a job whose event has no handler as ignored, and keeps it', async () => {
    const { jobs, reconcile, advance } = aService();
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    expect(await reconcile(done, { on: {} })).toMatchObject({ ignored: 1 });
    expect(await jobs.overdue()).toHaveLength(1);
  });

  it('reconcile works on every overdue job of many, once, in two calls at a time', async () => {
    const { jobs, reconcile, advance, handled } = aService();
    const ids = Array.from({ length: 250 }, (_, index) => `clip_${index}`);
    for (const id of ids) await jobs.expect(id, { within: '1h' });
    advance(2 * HOUR);
    const [one, other] = await Promise.all([reconcile(done, { concurrency: 8 }), reconcile(done, { concurrency: 8 })]);
    expect(one.ended + other.ended).toBe(250);
    expect(new Set(handled).size).toBe(250);
    expect(handled).toHaveLength(250);
    expect(await jobs.stats()).toMatchObject({ expected: 0 });
  });

  it('reconcile stops at its signal, and the next call goes on', async () => {
    const { jobs, reconcile, advance } = aService();
    for (const id of ['clip_1', 'clip_2', 'clip_3']) await jobs.expect(id, { within: '1h' });
    advance(2 * HOUR);
    const controller = new AbortController();
    const fetch = async () => {
      controller.abort();
      return done();
    };
    const counts = await reconcile(fetch, { signal: controller.signal, concurrency: 1 });
    expect(counts.ended + counts.failed).toBe(1);
    expect(await reconcile(done)).toMatchObject({ ended: 3 - counts.ended });
  });

  it('reconcile asks by the routes of a client, by the types of a job', async () => {
    const { jobs, reconcile, advance } = aService();
    await jobs.expect('dub_1', { within: '1h', types: ['dubbing.completed', 'dubbing.failed'] });
    await jobs.expect('run_1', { within: '1h', types: ['workflow_run.completed'], note: 'flow_1' });
    await jobs.expect('clip_1', { within: '1h' });
    advance(2 * HOUR);
    const asked: string[] = [];
    const client = {
      dubbing: { job: async (id: string) => ({ data: void asked.push(`dubbing ${id}`) }) },
      workflows: { run: async (id: string, run: string) => ({ data: void asked.push(`workflow ${id} ${run}`) }) },
    };
    const counts = await reconcile(undefined, { client, read: () => undefined });
    expect(counts).toMatchObject({ running: 2, failed: 1 });
    expect(asked.sort()).toEqual(['dubbing dub_1', 'workflow flow_1 run_1']);
  });

  it('reconcile refuses to begin without a way to ask', async () => {
    const { jobs, on } = aService();
    expect((await rejection(jobs.reconcile({ on }))).message).toContain(
      'has neither fetch, nor client and read. Pass fetch',
    );
  });
});
