import { type Runner, run, runMigrations } from 'graphile-worker';
import {
  type GraphileWorkerQueueOptions,
  graphileWorkerProcessor,
  graphileWorkerQueue,
} from 'service-webhooks/queue/graphile-worker';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { rejection } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { freePort } from '../support/server-process.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { anOverflow } from './overflows.js';
import { aQueued } from './queued.js';
import { failingForGood, putAll, recorded, untilStats } from './runs.js';

const postgres = await startPostgres();
const { atEnd, proxied, disconnect } = closeAfterEach();

const schema = `graphile_${process.pid}`;
const serverUrl = postgres?.url ?? '';
const query = async (text: string, values?: unknown[]) => (await postgres?.admin.query(text, values))?.rows ?? [];
if (postgres) await runMigrations({ connectionString: serverUrl, schema });
afterAll(async () => {
  await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await postgres?.stop();
});
let names = 0;

function open(options: Partial<GraphileWorkerQueueOptions> = {}, task = `webhooks_${process.pid}_${++names}`) {
  const pool = poolOf(serverUrl, { max: 3 });
  atEnd(() => pool.end());
  const table = `keys_of_${task}`;
  atEnd(() => query(`DROP TABLE IF EXISTS ${table}`));
  const queue = graphileWorkerQueue({ pg: pool, task, name: 'test', attempts: 3, schema, table, ...options });
  return { task, table, queue };
}

async function initialised(options: Partial<GraphileWorkerQueueOptions> = {}) {
  const opened = open(options);
  await opened.queue.init?.();
  return opened;
}

/** Ends a job's wait, as its time would: graphile-worker's backoff and its four hours are too long for a test. */
const hurry = (task: string) => {
  const waiting = `run_at > now() AND task_id = (SELECT id FROM ${schema}._private_tasks WHERE identifier = '${task}')`;
  const end = `UPDATE ${schema}._private_jobs SET run_at = now() WHERE ${waiting} AND payload->>'v' = '1'`;
  const timer = setInterval(() => query(end).catch(() => {}), 50);
  atEnd(() => clearInterval(timer));
};

async function startRunner(
  task: string,
  processor: ReturnType<typeof graphileWorkerProcessor>,
  url = serverUrl,
): Promise<Runner> {
  const pgPool = poolOf(url, { max: 4 });
  const logger = { error() {}, warn() {}, info() {}, debug() {}, scope: () => logger } as never;
  const taskList = { [task]: processor as never };
  const settings = { pollInterval: 50, concurrency: 1, noHandleSignals: true, logger };
  const runner = await run({ pgPool, schema, taskList, ...settings });
  atEnd(async () => {
    await runner.stop().catch(() => {});
    await pgPool.end();
  });
  return runner;
}

/** The queues in which the jobs of a task wait for each other. */
async function queueNames(task: string): Promise<(string | null)[]> {
  const jobs = `SELECT queue_name FROM ${schema}.jobs WHERE task_identifier = $1 ORDER BY id`;
  return (await query(jobs, [task])).map(({ queue_name }) => queue_name);
}

const OF_TASK = `task_id = (SELECT id FROM ${schema}._private_tasks WHERE identifier = $1)`;
const UNLOCK = `UPDATE ${schema}._private_jobs SET locked_at = NULL, locked_by = NULL WHERE locked_by IS NOT NULL`;

describe.runIf(postgres)('graphileWorkerQueue', () => {
  testEngine(
    {
      make({ attempts, options = {} }) {
        const { queue, task } = open({ attempts, ...options });
        hurry(task);
        return {
          queue,
          another: () => open({ attempts, ...options }, task).queue,
          task,
          async work(options) {
            let isDead = false;
            const { url } = await proxied(serverUrl);
            const process = graphileWorkerProcessor({ schema, ...options });
            const runner = await startRunner(
              task,
              async (payload, helpers) => {
                await process(payload, helpers);
                if (isDead) await new Promise(() => {});
              },
              url,
            );
            return {
              stop: () => runner.stop(),
              async kill() {
                isDead = true;
                void runner.stop().catch(() => {});
                await query(UNLOCK);
              },
            };
          },
        };
      },
      async inject({ task }, job) {
        await query(`SELECT ${schema}.add_job($1, $2::json)`, [task, JSON.stringify(job)]);
      },
      disconnect,
      lapse: async () => void (await query(UNLOCK)),
      async unreachable() {
        return open({ pg: poolOf(`postgres://postgres@127.0.0.1:${await freePort()}/test`) }).queue;
      },
      patienceMs: 30_000,
    },
    {
      changed: {
        'a number below 0': async ({ queue, task }, queued) => {
          await queue.put(queued);
          await query(`UPDATE ${schema}._private_jobs SET attempts = -5 WHERE ${OF_TASK}`, [task]);
        },
      },
    },
  );

  it('the events of one job have a queue of their own, where they wait for each other', async () => {
    const { queue, task } = await initialised({ order: 'jobId' });
    const [clip, long] = ['clip_1', 'c'.repeat(128)];
    await putAll(queue, { jobId: clip }, { jobId: null }, { jobId: clip, tenant: 'acme' }, { jobId: long });
    expect(await queueNames(task)).toEqual([
      'test:clip_1',
      null,
      'test:tenant=acme:clip_1',
      expect.stringMatching(/^test:sha256:[0-9a-f]{64}$/),
    ]);
  });

  it('the order of jobs is kept where the name of the queue and the ids are long', async () => {
    const { queue, task } = await initialised({ name: 'n'.repeat(64), order: 'jobId' });
    await putAll(queue, ...['c', 'c', 'd'].map((char) => ({ jobId: char.repeat(120) })));
    const [first, second, other] = await queueNames(task);
    expect(first).toBe(second);
    expect(first).not.toBe(other);
  });

  it.each([0, 9])('a worker looks once a minute at a job of another version with %i attempts', async (n) => {
    const { task } = open();
    await query(`SELECT ${schema}.add_job($1, $2::json)`, [task, JSON.stringify({ v: 2 })]);
    await query(`UPDATE ${schema}._private_jobs SET attempts = $2 WHERE ${OF_TASK}`, [task, n]);
    const observe = vi.fn();
    await startRunner(task, graphileWorkerProcessor({ schema, observe, logger: false, on: {} }));
    const [job] = await vi.waitFor(async () => {
      const waiting = `SELECT attempts, extract(epoch FROM run_at - now()) AS seconds FROM ${schema}.jobs
        WHERE task_identifier = $1 AND last_error IS NOT NULL AND locked_at IS NULL`;
      const found = await query(waiting, [task]);
      expect(found).toHaveLength(1);
      return found;
    }, PATIENTLY);
    expect(job.attempts).toBe(n);
    expect(Number(job.seconds)).toBeGreaterThan(55);
    expect(Number(job.seconds)).toBeLessThanOrEqual(60);
    expect(observe).toHaveBeenCalledTimes(1);
  });

  it('a large body stays where the answer to its put was lost, and its event has an old dead letter', async () => {
    const overflow = anOverflow();
    const pool = poolOf(serverUrl, { max: 3 });
    atEnd(() => pool.end());
    let losesAnswer = false;
    const pg = {
      async query(text: string, values?: unknown[]) {
        const result = await pool.query(text, values);
        if (losesAnswer && text.includes('add_job')) throw new Error('the answer was lost');
        return result;
      },
    };
    const { queue, task, table } = await initialised({ pg: pg as never, overflow });
    const queued = aQueued({ data: { text: 'x'.repeat(300_000) } });
    await queue.put(queued);
    await query(`UPDATE ${schema}._private_jobs SET attempts = max_attempts WHERE ${OF_TASK}`, [task]);
    await query(`DELETE FROM ${table}`); // as after its retention
    losesAnswer = true;
    expect(await queue.put(queued)).toBe('queued');
    expect(overflow.bodies.size).toBe(2);
  });

  it('a dead letter is reported although the answer of PostgreSQL was lost', async () => {
    const { proxy, url } = await proxied(serverUrl);
    const { queue, task } = await initialised();
    await queue.put(aQueued());
    const observe = vi.fn();
    const process = graphileWorkerProcessor({ schema, logger: false, observe, on: { '*': failingForGood } });
    let calls = 0;
    await startRunner(
      task,
      (payload, helpers) =>
        process(payload, {
          ...helpers,
          query: (text, values) => {
            calls += 1;
            if (calls === 1) proxy.loseNextReply();
            return helpers.query(text, values);
          },
        }),
      url,
    );
    await vi.waitFor(() => expect(observe.mock.lastCall?.[0]).toMatchObject({ kind: 'dead_letter' }), PATIENTLY);
    expect(proxy.lost()).toBe(1);
    expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
  });

  it('a dead letter has its reason although its worker dies when the job has ended', async () => {
    const { queue, task } = await initialised();
    const process = graphileWorkerProcessor({ schema, logger: false, on: { '*': failingForGood } });
    await queue.put(aQueued());
    const dying: typeof process = async (payload, helpers) => {
      await process(payload, helpers).catch(() => {});
      await new Promise(() => {}); // graphile-worker does not learn of the end
    };
    const runner = await startRunner(task, dying);
    atEnd(async () => void runner.stop().catch(() => {}));
    await vi.waitFor(async () => {
      expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
    }, PATIENTLY);
  });

  it.each(['one line', 'two\n\nparts', 'Error: x\n    at y', ''])(
    'the text of an error that another program recorded is the reason: %j',
    async (text) => {
      const { queue, task } = await initialised();
      await queue.put(aQueued());
      const failed = 'attempts = max_attempts, last_error = $2';
      await query(`UPDATE ${schema}._private_jobs SET ${failed} WHERE ${OF_TASK}`, [task, text]);
      expect(await queue.deadLetters()).toMatchObject([{ reason: text, stack: undefined }]);
    },
  );

  it('a retried dead letter that another program deletes counts as done', async () => {
    const { queue, task } = await initialised();
    await queue.put(aQueued());
    await query(`UPDATE ${schema}._private_jobs SET attempts = max_attempts WHERE ${OF_TASK}`, [task]);
    const [letter] = await queue.deadLetters();
    const followed = await queue.retryAndFollow?.(String(letter?.id));
    expect(await followed?.state()).toBe('pending');
    await query(`DELETE FROM ${schema}._private_jobs WHERE ${OF_TASK}`, [task]);
    expect(await followed?.state()).toBe('done');
  });

  it('a key is not recorded when the job cannot be added', async () => {
    const { table } = await initialised();
    const { queue } = open({ schema: 'missing_schema', table });
    await expect(queue.put(aQueued())).rejects.toThrow('missing_schema');
    expect(await query(`SELECT 1 FROM ${table}`)).toEqual([]);
  });

  it('init() of a queue in a schema without tables names the schema that has them', async () => {
    const { message } = await rejection(Promise.resolve(open({ schema: 'missing_schema' }).queue.init?.()));
    expect(message).toContain("graphileWorkerQueue uses the schema 'missing_schema', which has no tables");
    expect(message).toMatch(new RegExp(`schema '.*${schema}.*' has them`));
    expect(message).toContain('to graphileWorkerQueue.');
  });

  it.each(['missing_schema', `${schema}_b`])('no handler runs in a processor in another schema: %s', async (wrong) => {
    await runMigrations({ connectionString: serverUrl, schema: `${schema}_b` });
    atEnd(() => query(`DROP SCHEMA ${schema}_b CASCADE`));
    const { task, queue } = await initialised();
    const handler = recorded(() => {});
    await startRunner(task, graphileWorkerProcessor({ schema: wrong, on: handler.on, logger: false }));
    await queue.put(aQueued());
    const failures = `SELECT last_error FROM ${schema}._private_jobs WHERE ${OF_TASK} AND last_error IS NOT NULL`;
    const [row] = await vi.waitUntil(async () => {
      const rows = await query(failures, [task]);
      return rows.length > 0 && rows;
    }, PATIENTLY);
    expect(row).toEqual({ last_error: expect.stringContaining(`graphileWorkerProcessor uses the schema '${wrong}'`) });
    expect(handler.runs).toEqual([]);
  });

  it('a key is forgotten after its retention, and no other key is', async () => {
    const { queue, table } = await initialised();
    const [kept, expired] = [aQueued(), aQueued()];
    await queue.put(kept);
    await queue.put(expired);
    await query(`UPDATE ${table} SET expires_at = now() WHERE key = $1`, [expired.key]);
    expect(await queue.purgeExpired({ limit: 100 })).toBe(1);
    expect(await queue.put(kept)).toBe('known');
    expect(await queue.put(expired)).toBe('queued');
  });

  it('the age of a retried dead letter counts from its retry', async () => {
    const { task, queue } = await initialised();
    await queue.put(aQueued());
    const runner = await startRunner(
      task,
      graphileWorkerProcessor({ schema, on: { '*': failingForGood }, logger: false }),
    );
    await untilStats(queue, { depth: 0, dead: 1 });
    await runner.stop();
    await query(`UPDATE ${schema}._private_jobs SET created_at = now() - interval '1 day'`);
    const [letter] = await queue.deadLetters();
    await queue.retry(letter?.id ?? '');
    const { depth, oldestMs } = await queue.stats();
    expect([depth, Number(oldestMs) < 3_600_000]).toEqual([1, true]);
  });
});
