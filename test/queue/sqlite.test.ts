import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryQueue } from 'service-webhooks';
import { type SqliteQueue, type SqliteQueueOptions, sqliteQueue } from 'service-webhooks/queue/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { queueStatements } from '../../src/queue/sqlite/statements.js';
import { clientOf, type Handle } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { aReceiver, aRequest, inShort, later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failing, failingForGood, putAll, recorded, untilDeadLetter, untilStats } from './runs.js';
import { STATEMENTS_OF_VERSION_2 as OLD, TABLE_OF_VERSION_2 } from './sqlite-version-2.js';

const { newFile, open } = sqliteFiles();
const { atEnd } = closeAfterEach();

/** Takes a handle away, as the end of its process would. */
function die(handle: Handle): void {
  handle.close();
  handle.close = () => {};
}

const LEASE_MS = 30_000;
const HOUR_MS = 3_600_000;
const FAST = { name: 'test', backoffMs: 1, leaseMs: LEASE_MS, pollMs: 10 };

/** Events of one job, which run one after the other where the order is by job. */
const ofOneJob = (...eventIds: string[]) => eventIds.map((eventId) => ({ eventId, jobId: 'clip_1' }));

describe.each(libraries)('sqliteQueue on %s', (_, driver) => {
  function queueOn(file: string, options: Partial<SqliteQueueOptions> = {}) {
    const handle = open(driver, file);
    const queue = sqliteQueue(clientOf(driver, handle), { ...FAST, ...options });
    const work: typeof queue.work = (workerOptions) => {
      const worker = queue.work({ logger: false, ...workerOptions });
      atEnd(() => worker.stop({ timeoutMs: 0 }));
      return worker;
    };
    return { ...queue, file, handle, work };
  }

  async function aQueue(options: Partial<SqliteQueueOptions> = {}) {
    const queue = queueOn(newFile(), options);
    await queue.init();
    return queue;
  }

  /** A queue whose clock stands still unless it is moved. */
  async function aClockedQueue(options: Partial<SqliteQueueOptions> = {}) {
    const clock = { now: Date.UTC(2026, 0) };
    const settings = { ...options, now: () => clock.now };
    return { clock, settings, queue: await aQueue(settings) };
  }

  /** Puts a delivery, and changes its row as another program would. */
  const changedRow =
    (change: string) => async (queue: ReturnType<typeof queueOn>, queued: ReturnType<typeof aQueued>) => {
      await queue.put(queued);
      queue.handle.exec(`UPDATE webhook_queue SET ${change} WHERE key = '${queued.key}'`);
    };

  testEngine(
    {
      make({ attempts, options = {} }) {
        const file = newFile();
        let passedMs = 0;
        const settings = { attempts, ...options, now: () => Date.now() + passedMs };
        const queue = queueOn(file, settings);
        return {
          queue,
          another: () => queueOn(file, settings),
          passLease() {
            passedMs += LEASE_MS;
          },
          async work(options) {
            const { handle, work } = queueOn(file, settings);
            const worker = work(options);
            return {
              stop: () => worker.stop(),
              async kill() {
                die(handle);
                await worker.stop({ timeoutMs: 0 });
                passedMs += LEASE_MS;
              },
            };
          },
        };
      },
      inject: ({ queue }, job) => void queue.put(job as never),
      restart() {}, // there is no server: each worker opens the file again
      lapse: ({ passLease }) => passLease(),
      unreachable() {
        const queue = queueOn(newFile());
        die(queue.handle);
        return queue;
      },
    },
    {
      hasWorkers: true,
      changed: {
        text: ({ queue }, queued) => changedRow("attempt = 'many'")(queue, queued),
        'a number below 0': ({ queue }, queued) => changedRow('attempt = -100')(queue, queued),
      },
    },
  );

  it('a put waits for the disk, and the journal is WAL', async () => {
    const { handle } = await aQueue();
    expect(handle.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
    expect(handle.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  });

  it.each([
    ['committed', 'COMMIT', 1],
    ['rolled back', 'ROLLBACK', 0],
  ])('a put inside an open transaction of the user is %s with it', async (_what, end, depth) => {
    const queue = await aQueue();
    queue.handle.exec('BEGIN');
    const delivery = aQueued();
    expect(await queue.put(delivery)).toBe('queued');
    queue.handle.exec(end);
    expect(await queueOn(queue.file).stats()).toMatchObject({ depth });
    expect(await queue.put(delivery)).toBe(depth === 0 ? 'queued' : 'known');
  });

  it('a put whose commit fails rejects', async () => {
    const queue = await aQueue();
    queue.handle.exec(`PRAGMA foreign_keys = ON;
      CREATE TABLE parents (id INTEGER PRIMARY KEY);
      CREATE TABLE children (parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);
      CREATE TRIGGER orphan AFTER INSERT ON webhook_queue BEGIN INSERT INTO children VALUES (1); END`);
    const delivery = aQueued();
    await expect(queue.put(delivery)).rejects.toThrow('FOREIGN KEY constraint failed');
    expect(await queue.stats()).toMatchObject({ depth: 0 });
    queue.handle.exec('INSERT INTO parents VALUES (1)');
    expect(await queue.put(delivery)).toBe('queued');
  });

  it('a put waits for another connection that writes, without blocking the process', async () => {
    const queue = await aQueue();
    const writer = open(driver, queue.file);
    writer.exec('BEGIN IMMEDIATE');
    vi.useFakeTimers();
    const answer = vi.fn();
    const put = queue.put(aQueued()).then(answer);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(answer).not.toHaveBeenCalled();
    writer.exec('COMMIT');
    await vi.advanceTimersByTimeAsync(1_000);
    await put;
    expect(answer).toHaveBeenCalledWith('queued');
  });

  it('a put rejects where another connection writes for two seconds', async () => {
    const queue = await aQueue();
    const writer = open(driver, queue.file);
    writer.exec('BEGIN IMMEDIATE');
    vi.useFakeTimers();
    const refused = expect(queue.put(aQueued())).rejects.toThrow(/locked/);
    await vi.advanceTimersByTimeAsync(1_999);
    await refused;
    writer.exec('ROLLBACK');
  });

  it('handlers that never wait leave other work of their process a turn', async () => {
    const queue = await aQueue();
    await putAll(queue, ...Array.from({ length: 50 }, () => ({})));
    const handled = later();
    const { runs, on } = recorded(() => runs.length === 50 && handled.resolve());
    queue.work({ on });
    let turns = 0;
    const turn = () => {
      turns += 1;
      if (runs.length < 50) setImmediate(turn);
    };
    turn();
    await handled.promise;
    expect(turns).toBeGreaterThan(40);
  });

  it.each([
    'attempt = 1152921504606846976',
    'fence = 4611686018427387904',
    'run_at = 9223372036854775807',
    "job = x'00'",
    "stack = x'00ff', reason = x'00ff', event_id = x'00ff', event_type = x'00ff'",
  ])('other jobs run although another program set a row to %s', async (change) => {
    const queue = await aQueue({ attempts: 2 });
    await changedRow(change)(queue, aQueued());
    await queue.put(aQueued({ eventId: 'evt_other' }));
    const handler = recorded();
    queue.work({ on: handler.on });
    await vi.waitFor(() => expect(handler.ids()).toContain('evt_other'), PATIENTLY);
    expect((await queue.jobs()).length).toBe(2);
  });

  it('two queues in one table handle their own deliveries', async () => {
    const one = await aQueue({ name: 'one' });
    const two = queueOn(one.file, { name: 'two' });
    await one.put(aQueued({ key: 'one:evt_1', eventId: 'evt_1' }));
    await two.put(aQueued({ key: 'two:evt_1', eventId: 'evt_1' }));
    expect(await one.stats()).toMatchObject({ depth: 1 });
    const handler = recorded();
    two.work({ on: handler.on });
    await untilStats(two);
    expect(handler.runs).toHaveLength(1);
    expect(await one.stats()).toMatchObject({ depth: 1 });
    expect(await two.jobs({ state: 'done' })).toHaveLength(1);
  });

  it('jobs are listed by state, type, id and time', async () => {
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

  describe('an app whose clock goes back an hour', () => {
    type Clocked = Awaited<ReturnType<typeof aClockedQueue>>;

    const waiting: [what: string, attempts: number[], prepare: (clocked: Clocked) => Promise<unknown>][] = [
      ['that waits', [1], ({ queue }) => putAll(queue, {})],
      [
        'that has failed',
        [2],
        async ({ queue }) => {
          await putAll(queue, {});
          const worker = queue.work({ on: { '*': failing } });
          await vi.waitFor(
            async () => expect(await queue.jobs({ state: 'waiting' })).toMatchObject([{ attempts: 1 }]),
            PATIENTLY,
          );
          await worker.stop();
        },
      ],
      [
        'that was queued long before and waited for an earlier one',
        [1],
        async ({ queue, clock }) => {
          await putAll(queue, ...ofOneJob('evt_1', 'evt_2'));
          clock.now += 2 * HOUR_MS;
          const first = queue.work({ on: { '*': () => void first.stop() } });
          await untilStats(queue, { depth: 1 });
          await first.stop();
        },
      ],
      [
        'that was a dead letter and is retried',
        [1],
        async ({ queue, clock }) => {
          await putAll(queue, {});
          const worker = queue.work({ on: { '*': failingForGood } });
          const { id } = await untilDeadLetter(queue);
          await worker.stop();
          clock.now += 24 * HOUR_MS;
          await queue.retry(id);
        },
      ],
    ];
    it.each(waiting)('a job %s runs', async (_what, attempts, prepare) => {
      const clocked = await aClockedQueue({ order: 'jobId', backoffMs: 1_000, attempts: 2 });
      await prepare(clocked);
      clocked.clock.now -= HOUR_MS;
      const handler = recorded();
      clocked.queue.work({ on: handler.on });
      await untilStats(clocked.queue);
      expect(handler.attempts()).toEqual(attempts);
    });

    it('a job that has failed runs again in the same worker', async () => {
      const { queue, clock } = await aClockedQueue({ backoffMs: 1_000, attempts: 2 });
      await putAll(queue, {});
      const handler = recorded(({ attempt }) => attempt === 1 && failing());
      queue.work({ on: handler.on });
      await vi.waitFor(
        async () => expect(await queue.jobs({ state: 'waiting' })).toMatchObject([{ attempts: 1 }]),
        PATIENTLY,
      );
      clock.now -= HOUR_MS;
      await handler.haveRun(1, 2);
    });

    it('a job keeps its worker for the lease, and runs again after it', async () => {
      const { queue, clock } = await aClockedQueue();
      await putAll(queue, {});
      const end = later();
      const handler = recorded(({ attempt }) => attempt === 1 && end.promise);
      const running = queue.work({ on: handler.on });
      await handler.haveRun(1);
      clock.now -= HOUR_MS;
      queue.work({ on: handler.on });
      const isRunning = [{ runAt: clock.now + LEASE_MS }];
      await vi.waitFor(async () => expect(await queue.jobs({ state: 'running' })).toMatchObject(isRunning), PATIENTLY);
      expect(handler.attempts()).toEqual([1]);
      clock.now += LEASE_MS + 1;
      await handler.haveRun(1, 2);
      end.resolve();
      await untilStats(queue);
      await running.stop();
    });
  });

  describe('the order of the events of a job', () => {
    it('an event waits until the earlier one is done, and other jobs run meanwhile', async () => {
      const queue = await aQueue({ order: 'jobId' });
      const parts = ['a1', 'b1', 'a2', 'c1', 'a3'].map((id) => ({ eventId: `evt_${id}`, jobId: `job_${id[0]}` }));
      await putAll(queue, ...parts, { eventId: 'evt_x' }, { eventId: 'evt_y' });
      const seen: string[] = [];
      const { on } = recorded(async ({ id, attempt }) => {
        await sleep(1);
        if (id === 'evt_a1' && attempt < 3) failing();
        seen.push(id.slice(4));
      });
      queue.work({ concurrency: 4, on });
      await untilStats(queue);
      expect(seen.filter((id) => id.startsWith('a'))).toEqual(['a1', 'a2', 'a3']);
      expect(seen.indexOf('b1')).toBeLessThan(seen.indexOf('a1'));
    });

    it.each<[string, (queue: SqliteQueue) => DeliveryQueue['put']]>([
      ['passes the event on', (queue) => (delivery, event) => queue.put(delivery, event)],
      ['leaves it out', (queue) => (delivery) => queue.put(delivery)],
    ])('the order is kept by a receiver whose queue is wrapped by one that %s', async (_what, putOf) => {
      const queue = await aQueue({ order: 'jobId' });
      const { receiver } = aReceiver({ on: undefined, queue: { name: 'test', put: putOf(queue) } });
      for (const id of ['evt_1', 'evt_2']) {
        expect(inShort(await receiver(aRequest({ event: { id, type: 'stt.failed', jobId: 'stt_1' } })))).toBe(
          '202 queued',
        );
      }
      const found = (await queue.jobs()).map(({ eventId, eventType, runAt }) => [
        eventId,
        eventType,
        runAt !== undefined,
      ]);
      expect(found).toEqual([
        ['evt_1', 'stt.failed', true],
        ['evt_2', 'stt.failed', false],
      ]);
    });

    it('events of other tenants do not wait for a job with the same id', async () => {
      const queue = await aQueue({ order: 'jobId' });
      const tenants = ['acme', 'globex', undefined];
      await putAll(queue, ...tenants.map((tenant) => ({ jobId: 'clip_1', tenant })));
      const all = later();
      const { runs, on } = recorded(() => {
        if (runs.length === tenants.length) all.resolve();
        return all.promise;
      });
      queue.work({ concurrency: 3, on });
      await untilStats(queue);
    });

    it('a retried dead letter runs before the later events that still wait', async () => {
      const queue = await aQueue({ order: 'jobId' });
      await putAll(queue, ...ofOneJob('evt_1', 'evt_2', 'evt_3'));
      const handler = recorded(({ id, attempt }) => {
        if (id === 'evt_1' && handler.runs.length === 1) failingForGood();
        if (id === 'evt_2' && attempt === 1) void first.stop();
      });
      const first = queue.work({ on: handler.on });
      await vi.waitFor(() => expect(handler.ids()).toEqual(['evt_1', 'evt_2']), PATIENTLY);
      await first.stop();
      await queue.retry((await untilDeadLetter(queue)).id);
      queue.work({ concurrency: 3, on: handler.on });
      await vi.waitFor(() => expect(handler.ids()).toEqual(['evt_1', 'evt_2', 'evt_1', 'evt_3']), PATIENTLY);
    });

    it('a later event that ran next to a retried dead letter and failed runs after it', async () => {
      const queue = await aQueue({ order: 'jobId' });
      await putAll(queue, ...ofOneJob('evt_1', 'evt_2'));
      const secondFails = later();
      const done: string[] = [];
      let isRetried = false;
      const { on } = recorded(async ({ id, attempt }) => {
        if (id === 'evt_1' && !isRetried) failingForGood();
        if (id === 'evt_2' && attempt === 1) {
          await secondFails.promise;
          failing();
        }
        if (id === 'evt_1' && attempt < 3) {
          secondFails.resolve();
          failing();
        }
        done.push(id);
      });
      queue.work({ concurrency: 2, on });
      await vi.waitFor(async () => expect(await queue.jobs({ state: 'running' })).toHaveLength(1), PATIENTLY);
      const { id } = await untilDeadLetter(queue);
      isRetried = true;
      await queue.retry(id);
      await vi.waitFor(() => expect(done).toEqual(['evt_1', 'evt_2']), PATIENTLY);
    });

    it('events in a table of version 1 still wait for earlier ones', async () => {
      const old = await aQueue({ order: 'jobId' });
      await putAll(old, ...ofOneJob('evt_1', 'evt_2', 'evt_3'));
      old.handle.exec('UPDATE webhook_queue SET run_at = queued_at; UPDATE webhook_schema SET version = 1');
      const queue = queueOn(old.file, { order: 'jobId' });
      await queue.init();
      expect((await queue.jobs()).map(({ runAt }) => runAt !== undefined)).toEqual([true, false, false]);
      const handler = recorded();
      queue.work({ concurrency: 3, on: handler.on });
      await vi.waitFor(() => expect(handler.ids()).toEqual(['evt_1', 'evt_2', 'evt_3']), PATIENTLY);
    });

    it('an event runs within a minute after another program deleted the earlier one', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      const queue = await aQueue({ order: 'jobId' });
      await putAll(queue, ...ofOneJob('evt_1', 'evt_2', 'evt_3'));
      queue.handle.exec("DELETE FROM webhook_queue WHERE event_id = 'evt_1'");
      const handler = recorded();
      queue.work({ on: handler.on });
      vi.advanceTimersByTime(60_000);
      await vi.waitFor(() => expect(handler.ids()).toEqual(['evt_2', 'evt_3']), PATIENTLY);
    });
  });

  describe('a table of version 2', () => {
    /** A table with a dead letter and a job that a process of version 2 runs, which goes on with `old`. */
    async function anOldTable() {
      const file = newFile();
      const handle = open(driver, file);
      handle.exec(TABLE_OF_VERSION_2);
      const clock = { now: Date.UTC(2026, 0) };
      const [put, claim, bury, retry] = [OLD.put, OLD.claim, OLD.bury, OLD.retry].map((sql) => handle.prepare(sql));
      const old = {
        put: (eventId: string) => {
          const queued = aQueued({ eventId });
          put?.get(queued.key, 'test', JSON.stringify(queued), clock.now);
        },
        claim: () => claim?.get('old', LEASE_MS, clock.now, 'test'),
        bury: (id: string, reason: string) => bury?.run(1, reason, clock.now, id, 'old').changes,
        retry: (id: string) => retry?.run(0, clock.now, id, 'test').changes,
      };
      for (const eventId of ['evt_dead', 'evt_running']) {
        old.put(eventId);
        old.claim();
      }
      old.bury('1', 'of version 2');
      const settings = { now: () => clock.now, attempts: 3 };
      return { file, old, clock, settings, queue: queueOn(file, settings) };
    }

    it('keeps its dead letters and the job that runs, and gets stacks', async () => {
      const { queue, clock } = await anOldTable();
      const [letter] = await queue.deadLetters();
      expect(letter).toMatchObject({ id: '1', reason: 'of version 2', attempts: 1, stack: undefined });
      const running = { state: 'running', attempts: 1, runAt: clock.now + LEASE_MS };
      expect(await queue.jobs({ state: 'running' })).toMatchObject([running]);
      clock.now += LEASE_MS;
      const handler = recorded(failingForGood);
      queue.work({ on: handler.on });
      await queue.retry('1');
      await untilStats(queue, { depth: 0, dead: 2 });
      expect(handler.attempts('evt_running')).toEqual([2]);
      expect(handler.attempts('evt_dead')).toEqual([1]);
      const stack = expect.stringContaining('the clip is gone');
      expect(await queue.deadLetters()).toMatchObject([{ stack }, { stack }]);
    });

    it('gets an index from which the stats are read without the jobs', async () => {
      const { file, queue } = await anOldTable();
      await queue.init();
      const plan = open(driver, file).prepare(`EXPLAIN QUERY PLAN ${queueStatements('webhook_queue').stats}`);
      const steps = (plan as unknown as { all(...values: unknown[]): unknown[] }).all('test', 0, 'test');
      const detail = expect.stringMatching(/^SEARCH webhook_queue USING COVERING INDEX webhook_queue_waiting/);
      expect(steps).toContainEqual(expect.objectContaining({ detail }));
    });

    it('gets an index of the finished jobs alone, which the purge reads', async () => {
      const { file, queue } = await anOldTable();
      await queue.init();
      const handle = open(driver, file);
      const indexes = "SELECT group_concat(name) AS names FROM sqlite_schema WHERE type = 'index'";
      expect(handle.prepare(indexes).get()).not.toMatchObject({ names: expect.stringContaining('expires_at') });
      const plan = handle.prepare(`EXPLAIN QUERY PLAN ${queueStatements('webhook_queue').purge}`);
      const steps = (plan as unknown as { all(...values: unknown[]): unknown[] }).all(0, 10);
      const detail = expect.stringMatching(/^SEARCH webhook_queue USING INDEX webhook_queue_done \(expires_at<\?\)/);
      expect(steps).toContainEqual(expect.objectContaining({ detail }));
    });

    it('is updated once by eight processes at once, and again by none', async () => {
      const { file } = await anOldTable();
      const queues = Array.from({ length: 8 }, () => queueOn(file));
      await Promise.all(queues.map((queue) => queue.init()));
      const version = 'SELECT version FROM webhook_schema';
      expect(open(driver, file).prepare(version).get()).toMatchObject({ version: 4 });
      expect(await queueOn(file).deadLetters()).toHaveLength(1);
    });

    it('is used by a process of version 2 after its update, whose failures have no stack of an earlier one', async () => {
      const { queue, old } = await anOldTable();
      await queue.retry('1');
      const worker = queue.work({ on: { '*': failingForGood } });
      await untilStats(queue, { depth: 1, dead: 1 });
      await worker.stop();
      expect(await queue.deadLetters()).toMatchObject([{ stack: expect.stringContaining('the clip is gone') }]);
      expect(old.retry('1')).toBe(1);
      expect(old.claim()).toMatchObject({ id: 1, attempt: 1 });
      expect(old.bury('1', 'of version 2')).toBe(1);
      expect(await queue.deadLetters()).toMatchObject([{ reason: 'of version 2', stack: undefined }]);
    });
  });

  it('a job that waits after a failure is listed with its stack, and one that is done has none', async () => {
    const { queue, clock } = await aClockedQueue({ backoffMs: 1_000 });
    await putAll(queue, {});
    queue.work({ on: { '*': vi.fn().mockImplementationOnce(failing) } });
    const failed = { state: 'waiting', reason: 'no disk', stack: expect.stringContaining('Error: no disk\n') };
    await vi.waitFor(async () => expect(await queue.jobs()).toMatchObject([failed]), PATIENTLY);
    clock.now += 1_000;
    await vi.waitFor(
      async () => expect(await queue.jobs()).toMatchObject([{ state: 'done', stack: undefined }]),
      PATIENTLY,
    );
  });

  it('a retried dead letter that another program deletes is followed to its death', async () => {
    const queue = await aQueue();
    await putAll(queue, {});
    const worker = queue.work({ on: { '*': failingForGood } });
    const { id } = await untilDeadLetter(queue);
    await worker.stop();
    const followed = await queue.retryAndFollow(id, { delayMs: HOUR_MS });
    expect(await followed?.state()).toBe('pending');
    queue.handle.exec('DELETE FROM webhook_queue');
    expect(await followed?.state()).toBe('dead');
  });

  it('a job waits longer after each failure, with jitter', async () => {
    const { queue, clock } = await aClockedQueue({ backoffMs: 1_000, maxBackoffMs: 8_000 });
    await putAll(queue, {});
    queue.work({ on: { '*': failing } });
    const waits: number[] = [];
    for (const [i, longest] of [1_000, 2_000, 4_000, 8_000, 8_000, 8_000].entries()) {
      const [job] = await vi.waitFor(async () => {
        const jobs = await queue.jobs({ state: 'waiting' });
        expect(jobs).toMatchObject([{ attempts: i + 1 }]);
        return jobs;
      }, PATIENTLY);
      const wait = Number(job?.runAt) - clock.now;
      expect(wait).toBeGreaterThanOrEqual(longest / 2);
      expect(wait).toBeLessThanOrEqual(longest);
      waits.push(wait % 1_000);
      clock.now += wait;
    }
    expect(new Set(waits).size).toBeGreaterThan(1);
  });

  it('a dead letter runs after the delay of its retry', async () => {
    const { queue, clock } = await aClockedQueue({ attempts: 1 });
    await putAll(queue, {});
    queue.work({ on: { '*': vi.fn().mockImplementationOnce(failing) } });
    const letter = await untilDeadLetter(queue);
    expect(letter).toMatchObject({ diedAt: clock.now });
    expect(await queue.retry(letter.id, { delayMs: 5_000 })).toBe(true);
    expect(await queue.jobs()).toMatchObject([{ state: 'waiting', runAt: clock.now + 5_000, attempts: 0 }]);
    clock.now += 5_000;
    await vi.waitFor(async () => expect(await queue.jobs({ state: 'done' })).toHaveLength(1), PATIENTLY);
  });

  it('the key of a finished job is forgotten after its retention, and no earlier', async () => {
    const { queue, clock } = await aClockedQueue();
    const done = aQueued();
    await queue.put(done);
    queue.work({ on: { '*': () => {} } });
    await untilStats(queue);
    clock.now += 72 * HOUR_MS - 1;
    expect(await queue.purgeExpired({ limit: 100 })).toBe(0);
    expect(await queue.put(done)).toBe('known');
    clock.now += 1;
    expect(await queue.purgeExpired({ limit: 100 })).toBe(1);
    expect(queue.handle.prepare('SELECT count(*) AS n FROM webhook_queue').get()).toMatchObject({ n: 0 });
    expect(await queue.put(done)).toBe('queued');
  });

  it('a running job has its lease renewed, so that no other worker takes it', async () => {
    const { queue, clock, settings } = await aClockedQueue({ leaseMs: 60 });
    await putAll(queue, {});
    const end = later();
    const handler = recorded(() => end.promise);
    queue.work({ on: handler.on });
    queueOn(queue.file, settings).work({ on: handler.on });
    await handler.haveRun(1);
    for (let renewals = 1; renewals <= 4; renewals += 1) {
      clock.now += 40;
      const renewed = [{ runAt: clock.now + 60 }];
      await vi.waitFor(async () => expect(await queue.jobs({ state: 'running' })).toMatchObject(renewed), PATIENTLY);
    }
    end.resolve();
    await untilStats(queue);
    expect(handler.attempts()).toEqual([1]);
  });

  it('a handler is aborted when another worker takes its job with a higher fence', async () => {
    const { queue } = await aClockedQueue({ leaseMs: 60 });
    await putAll(queue, {});
    const aborted = later();
    const handler = recorded(({ attempt, signal }) => {
      if (attempt > 1) return undefined;
      queue.handle.exec("UPDATE webhook_queue SET owner = 'another', run_at = 0");
      signal.addEventListener('abort', () => aborted.resolve());
      return aborted.promise;
    });
    queue.work({ concurrency: 2, on: handler.on });
    await untilStats(queue);
    await aborted.promise;
    expect(handler.runs[1]?.fence).toBeGreaterThan(Number(handler.runs[0]?.fence));
    expect(await queue.jobs()).toMatchObject([{ state: 'done', attempts: 2 }]);
  });

  it('a stop aborts what runs longer than its timeout, and puts the job back', async () => {
    const queue = await aQueue();
    await putAll(queue, {});
    const handler = recorded(never);
    const worker = queue.work({ on: handler.on });
    await handler.haveRun(1);
    await worker.stop({ timeoutMs: 1 });
    expect(handler.runs[0]?.signal.aborted).toBe(true);
    expect(await queue.jobs()).toMatchObject([{ state: 'waiting', attempts: 1, reason: 'The worker stopped.' }]);
  });

  it('a worker outlives a database that is locked, and logs it', async () => {
    const queue = await aQueue();
    await putAll(queue, {});
    const locker = open(driver, queue.file);
    locker.exec('BEGIN IMMEDIATE');
    const logger = { error: vi.fn(), warn: vi.fn() };
    const handler = recorded();
    queue.work({ on: handler.on, logger });
    await vi.waitFor(() => expect(logger.warn).toHaveBeenCalled(), PATIENTLY);
    expect(logger.warn.mock.calls[0]?.[0]).toContain(
      'The worker could not take a job from the database, and tries again',
    );
    locker.exec('ROLLBACK');
    await handler.haveRun(1);
  });

  it('the age of a retried dead letter counts from its retry', async () => {
    const { queue, clock } = await aClockedQueue();
    await putAll(queue, {});
    const worker = queue.work({ on: { '*': failingForGood } });
    const { id } = await untilDeadLetter(queue);
    await worker.stop();
    clock.now += 24 * HOUR_MS;
    await queue.retry(id);
    expect(await queue.stats()).toEqual({ depth: 1, oldestMs: 0, dead: 0 });
  });
});
