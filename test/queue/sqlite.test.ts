import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentError } from 'service-webhooks';
import { type SqliteQueueOptions, sqliteQueue } from 'service-webhooks/queue/sqlite';
import { queueSuite } from 'service-webhooks-suites';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { clientOf, type Handle } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { later, never, refusal } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { aQueued } from './queued.js';

const { newFile, open } = sqliteFiles();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A handle that can be taken away, as the end of its process would. */
function mortal(handle: Handle): Handle & { die(): void } {
  let isDead = false;
  const alive = <T>(call: () => T): T => {
    if (isDead) throw new Error('the process is dead');
    return call();
  };
  return {
    exec: (sql) => alive(() => handle.exec(sql)),
    prepare(sql) {
      const statement = alive(() => handle.prepare(sql));
      return {
        get: (...values) => alive(() => statement.get(...values)),
        run: (...values) => alive(() => statement.run(...values)),
      };
    },
    close: () => handle.close(),
    die() {
      isDead = true;
    },
  };
}

const LEASE_MS = 30_000;
const FAST = { name: 'test', backoffMs: 1, leaseMs: LEASE_MS, pollMs: 10 };

describe.each(libraries)('sqliteQueue on %s', (_, driver) => {
  function queueOn(file: string, options: Partial<SqliteQueueOptions> = {}, handle = open(driver, file)) {
    const queue = sqliteQueue(clientOf(driver, handle), { ...FAST, ...options });
    const work: typeof queue.work = (workerOptions) => {
      const worker = queue.work({ logger: false, ...workerOptions });
      closing.push(() => worker.stop({ timeoutMs: 0 }));
      return worker;
    };
    return { ...queue, handle, work };
  }

  async function aQueue(options: Partial<SqliteQueueOptions> = {}) {
    const queue = queueOn(newFile(), options);
    await queue.init();
    return queue;
  }

  describe('passes the suite:', () => {
    const cases = queueSuite({
      make({ attempts }) {
        const file = newFile();
        let passedMs = 0;
        const settings = { attempts, now: () => Date.now() + passedMs };
        const [queue, queue2] = [queueOn(file, settings), queueOn(file, settings)];
        return {
          queue,
          queue2,
          file,
          passLease() {
            passedMs += LEASE_MS;
          },
          async work(options) {
            const handle = mortal(open(driver, file));
            const worker = queueOn(file, settings, handle).work(options);
            return {
              stop: () => worker.stop(),
              async kill() {
                handle.die();
                await worker.stop({ timeoutMs: 0 });
                passedMs += LEASE_MS;
              },
            };
          },
          async close() {
            for (const close of closing.splice(0).reverse()) await close();
          },
        };
      },
      inject: ({ queue }, job) => void queue.put(job as never),
      restart() {}, // there is no server: each worker opens the file again
      lapse: ({ passLease }) => passLease(),
      unreachable: () => queueOn('', {}, mortalAndDead(open(driver, newFile()))),
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 60_000);
  });

  it('a put waits for the disk, and the journal is WAL', async () => {
    const { handle } = await aQueue();
    expect(handle.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  });

  it('runs as many handlers at once as its concurrency', async () => {
    const queue = await aQueue();
    const end = later();
    const handler = vi.fn(() => end.promise);
    for (let i = 0; i < 5; i += 1) await queue.put(aQueued());
    queue.work({ on: { '*': handler }, concurrency: 3 });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(3), PATIENTLY);
    expect(await queue.jobs({ state: 'running' })).toHaveLength(3);
    end.resolve();
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(5), PATIENTLY);
  });

  it('handlers that never wait leave other work of their process a turn', async () => {
    const queue = await aQueue();
    for (let i = 0; i < 50; i += 1) await queue.put(aQueued());
    let runs = 0;
    const handled = later();
    queue.work({ on: { '*': () => void (++runs === 50 && handled.resolve()) } });
    let turns = 0;
    const turn = () => {
      turns += 1;
      if (runs < 50) setImmediate(turn);
    };
    turn();
    await handled.promise;
    expect(turns).toBeGreaterThan(40);
  });

  describe("after its host's clock went back an hour", () => {
    const HOUR_MS = 3_600_000;

    async function aClockedQueue() {
      const clock = { now: Date.now() };
      const queue = await aQueue({ now: () => clock.now, backoffMs: 1_000, attempts: 2 });
      await queue.put(aQueued());
      const attempts: number[] = [];
      const on = (ends: (attempt: number) => unknown) => ({
        '*': (_: unknown, { attempt }: { attempt: number }) => {
          attempts.push(attempt);
          return ends(attempt) as undefined;
        },
      });
      const isDone = () => vi.waitFor(async () => expect((await queue.stats()).depth).toBe(0), PATIENTLY);
      return { clock, queue, attempts, on, isDone };
    }

    const failsAtFirst = (attempt: number) => {
      if (attempt === 1) throw new Error('no disk');
    };

    it('a job that waits runs', async () => {
      const { clock, queue, attempts, on, isDone } = await aClockedQueue();
      clock.now -= HOUR_MS;
      queue.work({ on: on(() => {}) });
      await isDone();
      expect(attempts).toEqual([1]);
    });

    it('a job that has failed runs again, in the worker that ran it and in a new one', async () => {
      for (const isNew of [true, false]) {
        const { clock, queue, attempts, on, isDone } = await aClockedQueue();
        const worker = queue.work({ on: on(failsAtFirst) });
        await vi.waitFor(async () => expect(await queue.jobs({ state: 'waiting' })).toMatchObject([{ attempts: 1 }]));
        if (isNew) await worker.stop();
        clock.now -= HOUR_MS;
        if (isNew) queue.work({ on: on(failsAtFirst) });
        await isDone();
        expect(attempts).toEqual([1, 2]);
      }
    });

    it('a job that was queued long before, and waited for an earlier one, runs', async () => {
      const clock = { now: Date.now() };
      const queue = await aQueue({ now: () => clock.now, order: 'jobId' });
      for (const eventId of ['evt_1', 'evt_2']) await queue.put(aQueued({ eventId, jobId: 'clip_1' }));
      clock.now += 2 * HOUR_MS;
      const first = queue.work({ on: { '*': () => void first.stop() } });
      await vi.waitFor(async () => expect((await queue.stats()).depth).toBe(1), PATIENTLY);
      await first.stop();
      clock.now -= HOUR_MS;
      queue.work({ on: { '*': () => {} } });
      await vi.waitFor(async () => expect((await queue.stats()).depth).toBe(0), PATIENTLY);
    });

    it('a dead letter that was retried runs', async () => {
      const { clock, queue, attempts, on, isDone } = await aClockedQueue();
      const failing = on(() => {
        throw new PermanentError('of the test');
      });
      const worker = queue.work({ on: failing });
      await isDone();
      await worker.stop();
      clock.now += 24 * HOUR_MS;
      await queue.retry(String((await queue.deadLetters())[0]?.id));
      clock.now -= HOUR_MS;
      queue.work({ on: on(() => {}) });
      await isDone();
      expect(attempts).toEqual([1, 1]);
    });

    it('a job whose worker died runs again after its lease, and one that runs keeps it', async () => {
      const { clock, queue, attempts, on, isDone } = await aClockedQueue();
      const end = later();
      const running = queue.work({ on: on(() => end.promise) });
      await vi.waitFor(() => expect(attempts).toEqual([1]), PATIENTLY);
      clock.now -= HOUR_MS;
      queue.work({ on: on(() => {}) });
      const [job] = await vi.waitFor(async () => {
        const found = await queue.jobs({ state: 'running' });
        expect(found[0]?.runAt).toBe(clock.now + LEASE_MS);
        return found;
      }, PATIENTLY);
      clock.now = Number(job?.runAt) + 1;
      await vi.waitFor(() => expect(attempts).toEqual([1, 2]), PATIENTLY);
      end.resolve();
      await isDone();
      await running.stop();
    });
  });

  it.each([
    ["'many'", 'text'],
    ['-100', 'a number below 0'],
  ])('a job whose attempt another program has set to %s has its attempts, and no more', async (value) => {
    const queue = await aQueue({ attempts: 2 });
    await queue.put(aQueued());
    queue.handle.exec(`UPDATE webhook_queue SET attempt = ${value}`);
    const attempts: number[] = [];
    const failing = (_: unknown, { attempt }: { attempt: number }) => {
      attempts.push(attempt);
      throw new Error('no disk');
    };
    queue.work({ on: { '*': failing } });
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(attempts).toEqual([1, 2]);
  });

  it('a later job that ran beside a retried dead letter, and failed, runs after it', async () => {
    const queue = await aQueue({ order: 'jobId', backoffMs: 1 });
    for (const eventId of ['evt_1', 'evt_2']) await queue.put(aQueued({ eventId, jobId: 'clip_1' }));
    const secondFails = later();
    const seen: string[] = [];
    let isRetried = false;
    queue.work({
      concurrency: 2,
      on: {
        '*': async ({ id }, { attempt }) => {
          if (id === 'evt_1' && !isRetried) throw new PermanentError('of the test');
          if (id === 'evt_2' && attempt === 1) {
            await secondFails.promise;
            throw new Error('no disk');
          }
          if (id === 'evt_1' && attempt < 3) {
            secondFails.resolve();
            throw new Error('no disk');
          }
          seen.push(id);
        },
      },
    });
    await vi.waitFor(async () => expect(await queue.jobs({ state: 'running' })).toHaveLength(1), PATIENTLY);
    const [letter] = await vi.waitFor(async () => {
      const letters = await queue.deadLetters();
      expect(letters).toHaveLength(1);
      return letters;
    }, PATIENTLY);
    isRetried = true;
    await queue.retry(String(letter?.id));
    await vi.waitFor(() => expect(seen).toEqual(['evt_1', 'evt_2']), PATIENTLY);
  });

  it.each([
    'attempt = 1152921504606846976',
    'fence = 4611686018427387904',
    'run_at = 9223372036854775807',
    "job = x'00'",
    "reason = x'00ff', event_id = x'00ff', event_type = x'00ff'",
  ])('a row that another program has set to %s stops no other job', async (change) => {
    const queue = await aQueue({ attempts: 2 });
    await queue.put(aQueued({ eventId: 'evt_changed' }));
    queue.handle.exec(`UPDATE webhook_queue SET ${change}`);
    await queue.put(aQueued({ eventId: 'evt_other' }));
    const seen: string[] = [];
    queue.work({ on: { '*': ({ id }) => void seen.push(id) } });
    await vi.waitFor(() => expect(seen).toContain('evt_other'), PATIENTLY);
    expect((await queue.jobs()).length).toBe(2);
  });

  it('a job of a table of version 1 that waits for an earlier one still does', async () => {
    const file = newFile();
    const handle = open(driver, file);
    const old = queueOn(file, { order: 'jobId' }, handle);
    await old.init();
    for (const eventId of ['evt_1', 'evt_2', 'evt_3']) await old.put(aQueued({ eventId, jobId: 'clip_1' }));
    handle.exec('UPDATE webhook_queue SET run_at = queued_at; UPDATE webhook_schema SET version = 1');
    const queue = queueOn(file, { order: 'jobId' });
    await queue.init();
    expect((await queue.jobs()).map(({ runAt }) => runAt !== undefined)).toEqual([true, false, false]);
    const seen: string[] = [];
    queue.work({ concurrency: 3, on: { '*': ({ id }) => void seen.push(id) } });
    await vi.waitFor(() => expect(seen).toEqual(['evt_1', 'evt_2', 'evt_3']), PATIENTLY);
  });

  it('a dead letter that is retried runs before the later events of its job that still wait', async () => {
    const queue = await aQueue({ order: 'jobId' });
    for (const eventId of ['evt_1', 'evt_2', 'evt_3']) await queue.put(aQueued({ eventId, jobId: 'clip_1' }));
    const seen: string[] = [];
    const fails = queue.work({
      on: {
        '*': async ({ id }) => {
          seen.push(id);
          if (id === 'evt_1') throw new PermanentError('of the test');
          void fails.stop();
        },
      },
    });
    await vi.waitFor(() => expect(seen).toEqual(['evt_1', 'evt_2']), PATIENTLY);
    await fails.stop();
    await queue.retry(String((await queue.deadLetters())[0]?.id));
    queue.work({ concurrency: 3, on: { '*': ({ id }) => void seen.push(id) } });
    await vi.waitFor(() => expect(seen).toEqual(['evt_1', 'evt_2', 'evt_1', 'evt_3']), PATIENTLY);
  });

  it('two queues in one table handle their own deliveries', async () => {
    const file = newFile();
    const [one, two] = [queueOn(file, { name: 'one' }), queueOn(file, { name: 'two' })];
    await one.init();
    await one.put(aQueued({ key: 'one:evt_1', eventId: 'evt_1' }));
    await two.put(aQueued({ key: 'two:evt_1', eventId: 'evt_1' }));
    expect(await one.stats()).toMatchObject({ depth: 1 });
    const handler = vi.fn();
    two.work({ on: { '*': handler } });
    await vi.waitFor(async () => expect(await two.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    expect(handler).toHaveBeenCalledTimes(1);
    expect(await one.stats()).toMatchObject({ depth: 1 });
    expect(await two.jobs({ state: 'done' })).toHaveLength(1);
  });

  it('runs the events of one job in order, also when the first one fails, and others meanwhile', async () => {
    const queue = await aQueue({ order: 'jobId' });
    const seen: string[] = [];
    const events = ['a1', 'b1', 'a2', 'c1', 'a3'].map((id) => aQueued({ eventId: `evt_${id}`, jobId: `job_${id[0]}` }));
    for (const one of events) await queue.put(one);
    for (const jobId of [null, null]) await queue.put(aQueued({ jobId }));
    queue.work({
      concurrency: 4,
      on: {
        '*': async ({ id, jobId }, { attempt }) => {
          await sleep(1);
          if (id === 'evt_a1' && attempt < 3) throw new Error('not yet');
          if (jobId) seen.push(id.slice(4));
        },
      },
    });
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    expect(seen.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
    expect(seen.indexOf('b1')).toBeLessThan(seen.indexOf('a1'));
  });

  it('lets no event of another tenant wait for a job with the same id', async () => {
    const queue = await aQueue({ order: 'jobId' });
    const tenants = ['acme', 'globex', undefined];
    for (const tenant of tenants) await queue.put(aQueued({ jobId: 'clip_1', tenant }));
    const running = new Set<string | undefined>();
    const all = later();
    queue.work({
      concurrency: 3,
      on: {
        '*': async (_, { delivery }) => {
          running.add(delivery.tenant);
          if (running.size === tenants.length) all.resolve();
          await all.promise;
        },
      },
    });
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    expect(running).toEqual(new Set(tenants));
  });

  it('goes on with the events of a job after a dead one', async () => {
    const queue = await aQueue({ order: 'jobId' });
    for (const id of ['evt_1', 'evt_2']) await queue.put(aQueued({ eventId: id, jobId: 'job' }));
    queue.work({
      on: {
        '*': ({ id }) => {
          if (id === 'evt_1') throw new PermanentError('gone');
        },
      },
    });
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
  });

  it('waits longer after each failure, with jitter', async () => {
    const clock = { now: Date.UTC(2026, 0) };
    const queue = await aQueue({ backoffMs: 1_000, maxBackoffMs: 8_000, now: () => clock.now });
    await queue.put(aQueued());
    const handler = vi.fn(() => {
      throw new Error('no disk');
    });
    queue.work({ on: { '*': handler } });
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 6; attempt += 1) {
      const [job] = await vi.waitFor(async () => {
        const jobs = await queue.jobs({ state: 'waiting' });
        expect(jobs).toMatchObject([{ attempts: attempt }]);
        return jobs;
      }, PATIENTLY);
      waits.push(Number(job?.runAt) - clock.now);
      clock.now = Number(job?.runAt);
    }
    for (const [i, longest] of [1_000, 2_000, 4_000, 8_000, 8_000, 8_000].entries()) {
      expect(waits[i]).toBeGreaterThanOrEqual(longest / 2);
      expect(waits[i]).toBeLessThanOrEqual(longest);
    }
    expect(new Set(waits.map((wait) => wait % 1_000)).size).toBeGreaterThan(1);
  });

  it('renews the lease of a running job, so that no other worker takes it', async () => {
    const file = newFile();
    const clock = { now: Date.UTC(2026, 0) };
    const settings = { leaseMs: 60, now: () => clock.now };
    const queue = queueOn(file, settings);
    await queue.init();
    await queue.put(aQueued());
    const end = later();
    const handler = vi.fn(() => end.promise);
    queue.work({ on: { '*': handler } });
    queueOn(file, settings).work({ on: { '*': handler } });
    await vi.waitFor(() => expect(handler).toHaveBeenCalled(), PATIENTLY);
    for (let renewals = 1; renewals <= 4; renewals += 1) {
      clock.now += 40;
      const renewed = [{ runAt: clock.now + 60 }];
      await vi.waitFor(async () => expect(await queue.jobs({ state: 'running' })).toMatchObject(renewed), PATIENTLY);
    }
    end.resolve();
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('aborts the signal of a handler whose job another worker has taken, with a higher fence', async () => {
    const clock = { now: Date.UTC(2026, 0) };
    const queue = await aQueue({ leaseMs: 60, now: () => clock.now });
    await queue.put(aQueued());
    const fences: number[] = [];
    let aborted = false;
    queue.work({
      concurrency: 2,
      on: {
        '*': async (_, { attempt, signal, fence }) => {
          fences.push(fence);
          if (attempt > 1) return;
          queue.handle.prepare("UPDATE webhook_queue SET owner = 'another', run_at = 0").run();
          await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
          aborted = true;
        },
      },
    });
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    await vi.waitFor(() => expect(aborted).toBe(true), PATIENTLY);
    expect(fences[1]).toBeGreaterThan(Number(fences[0]));
    expect(await queue.jobs()).toMatchObject([{ state: 'done', attempts: 2 }]);
  });

  it('stop aborts what runs longer than its timeout, and puts the job back', async () => {
    const queue = await aQueue();
    await queue.put(aQueued());
    let signal: AbortSignal | undefined;
    const worker = queue.work({
      on: {
        '*': (_, context) => {
          signal = context.signal;
          return never();
        },
      },
    });
    await vi.waitFor(() => expect(signal).toBeDefined(), PATIENTLY);
    await worker.stop({ timeoutMs: 1 });
    expect(signal?.aborted).toBe(true);
    expect(await queue.jobs()).toMatchObject([{ state: 'waiting', attempts: 1, reason: 'The worker stopped.' }]);
  });

  it('lists jobs by state, type, id and time', async () => {
    const queue = await aQueue();
    const early = aQueued({ eventId: 'evt_1' });
    await queue.put(early);
    const [first] = await queue.jobs();
    await sleep(2);
    await queue.put(aQueued({ eventId: 'evt_2', type: 'export.completed' }));
    const ids = async (filter: Parameters<typeof queue.jobs>[0]) =>
      (await queue.jobs(filter)).map((job) => job.eventId);
    expect(await ids({})).toEqual(['evt_1', 'evt_2']);
    expect(await ids({ limit: 1 })).toEqual(['evt_1']);
    expect(await ids({ eventType: 'export.completed' })).toEqual(['evt_2']);
    expect(await ids({ eventId: 'evt_1' })).toEqual(['evt_1']);
    expect(await ids({ since: Number(first?.queuedAt) + 1 })).toEqual(['evt_2']);
    expect(await ids({ state: 'dead' })).toEqual([]);
    expect(first).toMatchObject({ delivery: JSON.parse(JSON.stringify(early)), attempts: 0, state: 'waiting' });
  });

  it('runs a dead letter after the delay of its retry', async () => {
    const clock = { now: Date.UTC(2026, 0) };
    const queue = await aQueue({ attempts: 1, now: () => clock.now });
    await queue.put(aQueued());
    const handler = vi.fn().mockRejectedValueOnce(new Error('no disk'));
    queue.work({ on: { '*': handler } });
    const [letter] = await vi.waitFor(async () => {
      const letters = await queue.deadLetters();
      expect(letters).toHaveLength(1);
      return letters;
    }, PATIENTLY);
    expect(letter).toMatchObject({ diedAt: clock.now });
    expect(await queue.retry(String(letter?.id), { delayMs: 5_000 })).toBe(true);
    expect(await queue.jobs()).toMatchObject([{ state: 'waiting', runAt: clock.now + 5_000, attempts: 0 }]);
    clock.now += 5_000;
    await vi.waitFor(async () => expect(await queue.jobs({ state: 'done' })).toHaveLength(1), PATIENTLY);
  });

  it('forgets the keys of finished jobs after their retention, and no others', async () => {
    const clock = { now: Date.UTC(2026, 0) };
    const queue = await aQueue({ now: () => clock.now });
    const done = aQueued();
    await queue.put(done);
    queue.work({ on: { '*': () => {} } });
    await vi.waitFor(async () => expect(await queue.jobs({ state: 'done' })).toHaveLength(1), PATIENTLY);
    const rows = () => queue.handle.prepare('SELECT count(*) AS rows FROM webhook_queue').get();
    clock.now += 72 * 3_600_000 - 1;
    expect(await queue.purgeExpired({ limit: 100 })).toBe(0);
    expect(await queue.put(done)).toBe('known');
    clock.now += 1;
    expect(await queue.purgeExpired({ limit: 100 })).toBe(1);
    expect(rows()).toMatchObject({ rows: 0 });
    expect(await queue.put(done)).toBe('queued');
  });

  it('a worker outlives a database that is locked, and says so', async () => {
    const file = newFile();
    const queue = queueOn(file);
    await queue.init();
    await queue.put(aQueued());
    const locker = open(driver, file);
    locker.exec('BEGIN IMMEDIATE');
    const logger = { error: vi.fn(), warn: vi.fn() };
    const handler = vi.fn();
    queue.work({ on: { '*': handler }, logger });
    await vi.waitFor(() => expect(logger.warn).toHaveBeenCalled(), PATIENTLY);
    expect(logger.warn.mock.calls[0]?.[0]).toContain(
      'The worker could not take a job from the database, and tries again',
    );
    locker.exec('ROLLBACK');
    await vi.waitFor(() => expect(handler).toHaveBeenCalled(), PATIENTLY);
  });

  it('a worker refuses a concurrency that is no positive integer, and unknown options', async () => {
    const queue = await aQueue();
    expect(refusal(() => queue.work({ on: {}, concurrency: 0 })).code).toBe('invalid_option');
    expect(refusal(() => queue.work({ on: {}, concurency: 2 } as never)).message).toContain(
      "Did you mean 'concurrency'?",
    );
  });
});

function mortalAndDead(handle: Handle) {
  const dead = mortal(handle);
  dead.die();
  return dead;
}

describe('sqliteQueue', () => {
  const db = { prepare: () => ({ get() {}, run: () => ({ changes: 0 }) }), exec() {} };

  it.each<[string, object, object]>([
    ['name must be 1 to 64', { betterSqlite3: db }, {}],
    ['name must be 1 to 64', { betterSqlite3: db }, { name: 'a:b' }],
    ["Did you mean 'attempts'?", { betterSqlite3: db }, { name: 'a', attempt: 3 }],
    ['retainMs must be at least', { betterSqlite3: db }, { name: 'a', retainMs: 1_000 }],
    ["order must be 'none' or 'jobId'", { betterSqlite3: db }, { name: 'a', order: 'id' }],
    ['attempts must be a positive integer', { nodeSqlite: db }, { name: 'a', attempts: 0 }],
    ['sqliteQueue takes { betterSqlite3: db } or', db, { name: 'a' }],
    ['sqliteQueue takes { betterSqlite3: db } or', { nodeSqlite: db, betterSqlite3: db }, { name: 'a' }],
    ['table must be a name', { betterSqlite3: db }, { name: 'a', table: 'a; drop' }],
  ])('says %j', (message, client, options) => {
    const error = refusal(() => sqliteQueue(client as never, options as never));
    expect(error.message).toContain(message);
    expect(error.code).toBe('invalid_option');
  });
});
