import PgBoss from 'pg-boss';
import { pgBossProcessor, pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { WorkerOptions } from '../../src/queue/processor.js';
import { later, never, refusal, rejection } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { freePort } from '../support/server-process.js';
import { closeAfterEach, type QueueOptionsOfAll, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failing, failingForGood, putAll, recorded, untilStats } from './runs.js';

const postgres = await startPostgres();
const { atEnd, proxied, disconnect } = closeAfterEach();

const schema = `boss_${process.pid}`;
const serverUrl = postgres?.url ?? '';
const query = async (text: string, values?: unknown[]) => (await postgres?.admin.query(text, values))?.rows ?? [];
const every = (ms: number, call: () => Promise<unknown>) => {
  const timer = setInterval(() => call().catch(() => {}), ms);
  atEnd(() => clearInterval(timer));
};
afterAll(async () => {
  await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await postgres?.stop();
});
let names = 0;

async function startBoss(options: PgBoss.ConstructorOptions = {}): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: serverUrl, schema, max: 3, supervise: false, ...options });
  boss.on('error', () => {});
  await boss.start();
  atEnd(() => boss.stop({ graceful: false, wait: true }).catch(() => {}));
  return boss;
}

/** The job of a worker that died expires after two seconds, as the maintenance of pg-boss finds out. */
async function open(attempts = 3, options: QueueOptionsOfAll = {}) {
  const queueName = `webhooks_${++names}`;
  const another = async (client?: PgBoss) =>
    pgBossQueue({
      boss: client ?? (await startBoss()),
      queue: queueName,
      attempts,
      schema,
      expireInSeconds: 2,
      ...options,
    });
  const boss = await startBoss();
  const queue = await another(boss);
  every(200, () => boss.expire());
  // Ends the wait of failed jobs, as their time would: the backoff of pg-boss has whole seconds.
  const waits = `name = '${queueName}' AND state = 'retry' AND start_after > now() AND output->>'owner' IS NULL AND data->>'v' = '1'`;
  every(50, () => query(`UPDATE ${schema}.job SET start_after = now() WHERE ${waits}`));
  return { boss, queue, queueName, another: () => another() };
}

async function initialised(attempts?: number) {
  const opened = await open(attempts);
  await opened.queue.init?.();
  return opened;
}

/** Starts a worker of pg-boss, which asks for jobs as often as pg-boss allows. */
async function startWorker(boss: PgBoss, queueName: string, options: WorkerOptions, batchSize = 1): Promise<void> {
  const process = pgBossProcessor({ boss, schema, logger: false, ...options });
  await boss.work(queueName, { batchSize, pollingIntervalSeconds: 0.5 }, process);
}

describe.runIf(postgres)('pgBossQueue', () => {
  testEngine(
    {
      async make({ attempts, options = {} }) {
        const opened = await open(attempts, options);
        return {
          ...opened,
          async work(options) {
            const { url } = await proxied(serverUrl);
            const own = await startBoss({ connectionString: url });
            const id = await own.work(opened.queueName, pgBossProcessor({ boss: own, schema, ...options }));
            // pg-boss itself asks every half a second at the most.
            every(25, async () => own.notifyWorker(id));
            return {
              stop: () => own.stop({ graceful: true, wait: true, timeout: 10_000 }),
              kill: () => own.stop({ graceful: false, wait: true }),
            };
          },
        };
      },
      async inject({ boss, queueName }, job) {
        await boss.send(queueName, job as object);
      },
      disconnect,
      lapse() {}, // each job expires after two seconds
      async unreachable() {
        const connectionString = `postgres://postgres@127.0.0.1:${await freePort()}/test`;
        return pgBossQueue({ boss: new PgBoss({ connectionString, schema }), queue: 'away', schema });
      },
      patienceMs: 40_000,
    },
    { missing: 'pg-boss has no queue' },
  );

  it('a PgBoss that was not started makes the error say what to await', async () => {
    const queue = pgBossQueue({ boss: new PgBoss({ connectionString: serverUrl, schema }), queue: 'early', schema });
    expect((await rejection(Promise.resolve(queue.init?.()))).message).toContain('Await boss.start()');
  });

  it('a queue or a processor in another schema than its PgBoss is refused at once', () => {
    const boss = new PgBoss({ connectionString: serverUrl, schema });
    const makes = {
      pgBossQueue: () => pgBossQueue({ boss, queue: 'clips' }),
      pgBossProcessor: () => pgBossProcessor({ boss, on: {} }),
    };
    for (const [name, make] of Object.entries(makes)) {
      const { code, message } = refusal(make);
      expect(code).toBe('invalid_option');
      expect(message).toContain(`The PgBoss uses the schema '${schema}', and ${name} the schema 'pgboss'.`);
      expect(message).toContain(`Pass schema: '${schema}' to ${name}.`);
    }
  });

  describe('with a db of the app, which does not tell its schema', () => {
    const another = `${schema}_b`;
    const withOwnDb = async () => {
      const pool = poolOf(serverUrl, { max: 3 });
      atEnd(() => pool.end());
      return startBoss({ db: { executeSql: (text, values) => pool.query(text, values) } });
    };

    it('init() rejects where the schema has no tables', async () => {
      const queue = pgBossQueue({ boss: await withOwnDb(), queue: 'clips', schema: 'nowhere' });
      const { message } = await rejection(Promise.resolve(queue.init?.()));
      expect(message).toContain("pgBossQueue uses the schema 'nowhere'");
      expect(message).toContain('Pass the schema of new PgBoss({ schema }) to pgBossQueue.');
    });

    it.each(['nowhere', another])('no job of a processor in another schema is lost: %s', async (wrong) => {
      await startBoss({ schema: another });
      atEnd(() => query(`DROP SCHEMA ${another} CASCADE`));
      const { queue, queueName } = await initialised();
      await queue.put(aQueued());
      const handler = recorded(() => {});
      const boss = await withOwnDb();
      const process = pgBossProcessor({ boss, schema: wrong, on: handler.on, logger: false });
      const { message } = await rejection(process(await boss.fetch(queueName)));
      expect(message).toContain(`pgBossProcessor uses the schema '${wrong}'`);
      expect(handler.runs).toEqual([]);
      expect(await queue.stats()).toMatchObject({ depth: 1, dead: 0 });
    });
  });

  it('a new queue is as pg-boss itself creates it', async () => {
    const { boss, queueName } = await initialised(4);
    const kept = { policy: 'standard', retentionMinutes: 365 * 24 * 60 } as const;
    const retries = { retryLimit: 1_004, retryDelay: 1, retryBackoff: true };
    const [own, ownDead] = [`${queueName}_own`, `${queueName}_own_dead`];
    await boss.createQueue(ownDead, { name: ownDead, ...kept });
    await boss.createQueue(own, { name: own, ...kept, ...retries, deadLetter: ownDead, expireInSeconds: 2 });
    const times = { createdOn: expect.anything(), updatedOn: expect.anything() };
    const dead = `${queueName}_dead`;
    const expected = { ...(await boss.getQueue(own)), ...times, name: queueName, deadLetter: dead };
    expect(await boss.getQueue(queueName)).toEqual(expected);
    expect(await boss.getQueue(dead)).toEqual({ ...(await boss.getQueue(ownDead)), ...times, name: dead });
  });

  it('no queue is created while a transaction reads the jobs and might never find them', async () => {
    const { queue } = await open();
    const reader = await postgres?.admin.connect();
    try {
      await reader?.query('BEGIN');
      await reader?.query(`SELECT count(*) FROM ${schema}.job`);
      await expect(queue.init?.()).rejects.toThrow('lock timeout');
      await reader?.query('COMMIT');
    } finally {
      reader?.release(true);
    }
    await queue.init?.();
    expect(await queue.put(aQueued())).toBe('queued');
  });

  it('a PgBoss that archives finished jobs before the last retry is refused', async () => {
    const boss = await startBoss({ archiveCompletedAfterSeconds: 3_600 });
    const error = await rejection(pgBossQueue({ boss, queue: 'early', schema }).init?.() ?? Promise.resolve());
    expect(error.message).toContain('Set archiveCompletedAfterSeconds of PgBoss to at least 21600');
  });

  it('each job of a batch has an end of its own', async () => {
    const { boss, queue, queueName } = await initialised(1);
    await putAll(queue, { eventId: 'evt_1' }, { eventId: 'evt_2' }, { eventId: 'evt_3' });
    const handler = recorded(({ id }) => id === 'evt_2' && failing());
    await startWorker(boss, queueName, { on: handler.on }, 3);
    await untilStats(queue, { depth: 0, dead: 1 });
    expect(handler.runs).toHaveLength(3);
  });

  it('a failed job of a batch is retried elsewhere until it is a dead letter', async () => {
    const { boss, queue, queueName } = await initialised(3);
    await putAll(queue, { eventId: 'evt_1' }, { eventId: 'evt_2' });
    const statements = vi.spyOn(boss.getDb(), 'executeSql');
    const isCompletion = (values: unknown[] | undefined) => Array.isArray(values?.[1]) && values[1].length === 2;
    /** When pg-boss has completed what runs of the batch. */
    const batchIsOver = () =>
      vi.waitFor(async () => {
        const index = statements.mock.calls.findLastIndex(
          ([text, values]) => isCompletion(values) && text.includes('completed_on = now()'),
        );
        expect(index).toBeGreaterThanOrEqual(0);
        await statements.mock.results[index]?.value;
      }, PATIENTLY);
    const batchEnds = later();
    const handler = recorded(async ({ id, attempt }) => {
      if (id !== handler.runs[0]?.id) return batchEnds.promise;
      if (attempt === 2) {
        batchEnds.resolve();
        await batchIsOver();
      }
      return failing();
    });
    await startWorker(boss, queueName, { on: handler.on }, 2);
    await vi.waitFor(() => expect(handler.runs).toHaveLength(2), PATIENTLY);
    const other = await startBoss();
    await startWorker(other, queueName, { on: handler.on });
    // Before the expiry of the batch, after two seconds, unless the failed job runs elsewhere at once.
    const active = await query(`SELECT 1 FROM ${schema}.job WHERE name = $1 AND state = 'active'`, [queueName]);
    if (active.length === 2) batchEnds.resolve();
    await untilStats(queue, { depth: 0, dead: 1 });
    expect(handler.attempts(handler.runs[0]?.id)).toEqual([1, 2, 3]);
  });

  it('a failed run is retried although pg-boss completed it with another batch', async () => {
    const { boss, queue, queueName } = await initialised(3);
    await queue.put(aQueued());
    const end = later();
    const handler = recorded(({ attempt }) => attempt === 1 && end.promise.then(failing));
    await startWorker(boss, queueName, { on: handler.on });
    await handler.haveRun(1);
    // What pg-boss does with every job of a batch that runs when the batch ends.
    const completed = `state = 'completed', completed_on = now()`;
    await query(`UPDATE ${schema}.job SET ${completed} WHERE name = $1 AND state = 'active'`, [queueName]);
    end.resolve();
    await handler.haveRun(1, 2);
    await untilStats(queue);
  });

  it('a job stays open when its second worker has died and the first one ends', async () => {
    const { boss, queue, queueName } = await initialised(3);
    await queue.put(aQueued());
    const end = later();
    const handler = recorded(({ attempt }) => attempt === 1 && end.promise);
    await startWorker(boss, queueName, { on: handler.on });
    await handler.haveRun(1);
    // What another worker leaves that has taken the job and was killed.
    const taken = `state = 'active', started_on = now()`;
    await query(`UPDATE ${schema}.job SET ${taken} WHERE name = $1`, [queueName]);
    end.resolve();
    await vi.waitFor(() => expect(handler.runs.length).toBeGreaterThan(1), PATIENTLY);
    await untilStats(queue);
  });

  it('the other jobs of a batch keep their attempts when one kills the worker', async () => {
    const { queue, queueName } = await initialised(1);
    await putAll(queue, { eventId: 'evt_1' }, { eventId: 'evt_2' });
    const observe = vi.fn();
    const handler = recorded(() => handler.runs.length === 1 && never());
    const [victim, other] = [await startBoss(), await startBoss()];
    await startWorker(victim, queueName, { observe, on: handler.on }, 2);
    await handler.haveRun(1);
    await victim.stop({ graceful: false, wait: true });
    await startWorker(other, queueName, { observe, on: handler.on }, 2);
    await untilStats(queue, { depth: 0, dead: 1 });
    expect(handler.ids().sort()).toEqual(['evt_1', 'evt_2']);
    expect(handler.attempts()).toEqual([1, 1]);
    const reports = observe.mock.calls.map(([outcome]) => outcome).filter(({ kind }) => kind === 'dead_letter');
    const reason = 'The worker died during the last attempt.';
    expect(reports).toMatchObject([{ attempts: 1, reason, delivery: { event: { id: handler.runs[0]?.id } } }]);
  });

  it('a job keeps its attempts when workers fetch it and do not start it', async () => {
    const { boss, queue, queueName } = await initialised(1);
    await queue.put(aQueued());
    for (let stop = 1; stop <= 3; stop += 1) {
      const [job] = await vi.waitUntil(async () => {
        const fetched = await boss.fetch(queueName);
        return fetched.length > 0 && fetched;
      }, PATIENTLY);
      await boss.fail(queueName, String(job?.id), { message: 'pg-boss shut down while active' });
      expect(await queue.stats()).toMatchObject({ depth: 1, dead: 0 });
    }
    const handler = recorded();
    await startWorker(boss, queueName, { on: handler.on });
    await untilStats(queue);
    expect(handler.attempts()).toEqual([1]);
  });

  it('a run that pg-boss has put back is completed while no other worker has the job', async () => {
    const { boss, queue, queueName } = await initialised(1);
    await queue.put(aQueued());
    const end = later();
    const handler = recorded(() => end.promise);
    await startWorker(boss, queueName, { on: handler.on });
    await handler.haveRun(1);
    const [job] = await query(`SELECT id FROM ${schema}.job WHERE name = $1`, [queueName]);
    await boss.fail(queueName, job.id, { message: 'handler execution exceeded 2000ms' });
    end.resolve();
    await untilStats(queue);
    expect(handler.attempts()).toEqual([1]);
  });

  it('a retried dead letter is pending while the end of a batch has completed it, and dead once it is deleted', async () => {
    const { boss, queue, queueName } = await initialised(1);
    await boss.send(`${queueName}_dead`, aQueued());
    const [letter] = await queue.deadLetters();
    const followed = await queue.retryAndFollow?.(String(letter?.id));
    const change = (changes: string) => query(`UPDATE ${schema}.job SET ${changes} WHERE name = $1`, [queueName]);
    await change(`state = 'completed', started_on = now(), completed_on = now()`);
    expect(await followed?.state()).toBe('pending');
    await change(`completed_on = now() - interval '2 min'`);
    expect(await followed?.state()).toBe('done');
    await change(`state = 'cancelled'`);
    expect(await followed?.state()).toBe('dead');
    await query(`DELETE FROM ${schema}.job WHERE name = $1`, [queueName]);
    expect(await followed?.state()).toBe('dead');
  });

  it('the stack of a failure is stored while the job waits for its next attempt', async () => {
    const { boss, queue, queueName } = await initialised(3);
    await queue.put(aQueued());
    await startWorker(boss, queueName, {
      on: {
        '*': () => {
          void boss.offWork(queueName);
          failing();
        },
      },
    });
    const outputs = () => query(`SELECT output FROM ${schema}.job WHERE name = $1`, [queueName]);
    const failed = { output: { message: 'no disk', stack: expect.stringMatching(/^Error: no disk\n +at /) } };
    await vi.waitFor(async () => expect(await outputs()).toEqual([failed]), PATIENTLY);
  });

  it('an existing queue without a queue for its dead letters is refused', async () => {
    const { boss, queue, queueName } = await open();
    await boss.createQueue(queueName, { name: queueName, retryLimit: 3 });
    const error = await rejection(Promise.resolve(queue.init?.()));
    expect(error.message).toContain(`its dead letters do not go to '${queueName}_dead'`);
  });

  it('a dead letter is reported although the answer of PostgreSQL was lost', async () => {
    const { proxy, url } = await proxied(serverUrl);
    const { queue, queueName } = await initialised();
    await queue.put(aQueued());
    const boss = await startBoss({ connectionString: url, max: 1 });
    const observe = vi.fn();
    const handler = recorded(() => {
      proxy.loseNextReply();
      failingForGood();
    });
    await startWorker(boss, queueName, { observe, on: handler.on });
    await vi.waitFor(() => expect(observe.mock.lastCall?.[0]).toMatchObject({ kind: 'dead_letter' }), PATIENTLY);
    expect(proxy.lost()).toBe(1);
    expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
  });

  it('a dead letter stays when its queue was deleted, and its retry rejects', async () => {
    const { boss, queue, queueName } = await initialised();
    await boss.send(`${queueName}_dead`, aQueued());
    await boss.deleteQueue(queueName);
    const [letter] = await queue.deadLetters();
    await expect(queue.retry(String(letter?.id))).rejects.toThrow(`pg-boss has no queue '${queueName}'`);
    expect(await queue.deadLetters()).toHaveLength(1);
  });

  it('a job runs under a date style that PostgreSQL writes and reads in two ways', async () => {
    const { queue, queueName } = await initialised();
    await queue.put(aQueued());
    const boss = await startBoss({ options: '-c datestyle=SQL,DMY -c timezone=Asia/Kolkata' } as never);
    const handler = recorded();
    await startWorker(boss, queueName, { on: handler.on });
    await untilStats(queue);
    expect(handler.runs).toHaveLength(1);
  });

  it('a worker waits for its database, and then records how the job ended', async () => {
    const { proxy, url } = await proxied(serverUrl);
    const { queue, queueName } = await initialised(1);
    const boss = await startBoss({ connectionString: url });
    const handler = recorded(() => {
      proxy.pause();
      proxy.cut();
      setTimeout(() => proxy.resume(), 200);
      failingForGood();
    });
    await queue.put(aQueued());
    await startWorker(boss, queueName, { on: handler.on });
    await untilStats(queue, { depth: 0, dead: 1 });
    expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
  });

  it('the age of a retried dead letter counts from its retry', async () => {
    const { boss, queue, queueName } = await initialised();
    await queue.put(aQueued());
    await startWorker(boss, queueName, { on: { '*': failingForGood } });
    await untilStats(queue, { depth: 0, dead: 1 });
    await boss.offWork(queueName);
    await query(`UPDATE ${schema}.job SET created_on = now() - interval '1 day' WHERE name LIKE '${queueName}%'`);
    const [letter] = await queue.deadLetters();
    await queue.retry(letter?.id ?? '');
    const { depth, oldestMs } = await queue.stats();
    expect([depth, Number(oldestMs) < 3_600_000]).toEqual([1, true]);
  });
});
