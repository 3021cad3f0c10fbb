import { type Runner, run, runMigrations } from 'graphile-worker';
import { graphileWorkerProcessor, graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { PATIENTLY } from '../support/patiently.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { freePort } from '../support/server-process.js';
import { startProxyOf, type TcpProxy } from '../support/tcp-proxy.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failingForGood } from './runs.js';

const postgres = await startPostgres();
const { atEnd, closeAll } = closeAfterEach();

const schema = `graphile_${process.pid}`;
if (postgres) await runMigrations({ connectionString: postgres.url, schema });
afterAll(async () => {
  await postgres?.admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await postgres?.stop();
});
let names = 0;

function open(attempts = 3, task = `webhooks_${process.pid}_${++names}`, order: 'none' | 'jobId' = 'none') {
  const pool = poolOf(postgres?.url ?? '', { max: 3 });
  atEnd(() => pool.end());
  const table = `keys_of_${task}`;
  atEnd(() => pool.query(`DROP TABLE IF EXISTS ${table}`));
  const queue = graphileWorkerQueue({ pg: pool, task, name: 'test', attempts, schema, table, order });
  return { task, pool, table, queue };
}

/** Ends a job's wait, as its time would: graphile-worker's backoff and its four hours are too long for a test. */
const hurry = (task: string) => {
  const waiting = `run_at > now() AND task_id = (SELECT id FROM ${schema}._private_tasks WHERE identifier = '${task}')`;
  const timer = setInterval(() => {
    const unreadable = `payload->>'v' IS DISTINCT FROM '1'`;
    postgres?.admin
      .query(`UPDATE ${schema}._private_jobs SET run_at = now() WHERE ${waiting} AND NOT (${unreadable})`)
      .catch(() => {});
  }, 50);
  atEnd(async () => clearInterval(timer));
};

async function startRunner(
  task: string,
  processor: ReturnType<typeof graphileWorkerProcessor>,
  url = postgres?.url ?? '',
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
  const { rows } = (await postgres?.admin.query(jobs, [task])) ?? {};
  return rows?.map(({ queue_name }) => queue_name) ?? [];
}

async function proxied(url: string) {
  const one = await startProxyOf(url);
  atEnd(() => one.proxy.stop());
  return one;
}

const OF_TASK = `task_id = (SELECT id FROM ${schema}._private_tasks WHERE identifier = $1)`;
const UNLOCK = `UPDATE ${schema}._private_jobs SET locked_at = NULL, locked_by = NULL WHERE locked_by IS NOT NULL`;

describe.runIf(postgres)('graphileWorkerQueue', () => {
  testEngine(
    {
      make({ attempts }) {
        const { queue, task } = open(attempts);
        const another = () => open(attempts, task).queue;
        hurry(task);
        const proxies: TcpProxy[] = [];
        return {
          proxies,
          queue,
          another,
          queue2: another(),
          task,
          async work(options) {
            let isDead = false;
            const { proxy, url } = await proxied(postgres?.url ?? '');
            proxies.push(proxy);
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
                await postgres?.admin.query(UNLOCK);
              },
            };
          },
          close: closeAll,
        };
      },
      async inject({ task }, job) {
        await postgres?.admin.query(`SELECT ${schema}.add_job($1, $2::json)`, [task, JSON.stringify(job)]);
      },
      disconnect({ proxies }) {
        for (const proxy of proxies) proxy.cut();
      },
      lapse: async () => void (await postgres?.admin.query(UNLOCK)),
      async unreachable() {
        const pool = poolOf(`postgres://postgres@127.0.0.1:${await freePort()}/test`);
        return graphileWorkerQueue({ pg: pool, task: 'away' });
      },
      patienceMs: 30_000,
    },
    {
      changed: {
        'a number below 0': async ({ queue, task }, queued) => {
          await queue.put(queued);
          await postgres?.admin.query(`UPDATE ${schema}._private_jobs SET attempts = -5 WHERE ${OF_TASK}`, [task]);
        },
      },
    },
  );

  it('the events of one job have a queue of their own, where they wait for each other', async () => {
    const { queue, task } = open(3, undefined, 'jobId');
    await queue.init?.();
    await queue.put(aQueued({ jobId: 'clip_1' }));
    await queue.put(aQueued({ jobId: null }));
    await queue.put(aQueued({ jobId: 'clip_1', tenant: 'acme' }));
    await queue.put(aQueued({ jobId: 'c'.repeat(128) }));
    expect(await queueNames(task)).toEqual([
      'test:clip_1',
      null,
      'test:tenant=acme:clip_1',
      expect.stringMatching(/^test:sha256:[0-9a-f]{64}$/),
    ]);
  });

  it('the order of jobs is kept where the name of the queue and the ids are long', async () => {
    const { task, pool, table } = open();
    const queue = graphileWorkerQueue({ pg: pool, task, name: 'n'.repeat(64), schema, table, order: 'jobId' });
    await queue.init?.();
    for (const jobId of ['c'.repeat(120), 'c'.repeat(120), 'd'.repeat(120)]) await queue.put(aQueued({ jobId }));
    const [first, second, other] = await queueNames(task);
    expect(first).toBe(second);
    expect(first).not.toBe(other);
  });

  it.each([0, 9])('a worker looks once a minute at a job of another version with %i attempts', async (n) => {
    const { task, pool } = open();
    await postgres?.admin.query(`SELECT ${schema}.add_job($1, $2::json)`, [task, JSON.stringify({ v: 2 })]);
    await pool.query(`UPDATE ${schema}._private_jobs SET attempts = $2 WHERE ${OF_TASK}`, [task, n]);
    const observe = vi.fn();
    await startRunner(task, graphileWorkerProcessor({ schema, observe, logger: false, on: {} }));
    const { rows } = await vi.waitFor(async () => {
      const found = await pool.query(
        `SELECT attempts, extract(epoch FROM run_at - now()) AS seconds FROM ${schema}.jobs
        WHERE task_identifier = $1 AND last_error IS NOT NULL AND locked_at IS NULL`,
        [task],
      );
      expect(found.rows).toHaveLength(1);
      return found;
    }, PATIENTLY);
    expect(rows[0].attempts).toBe(n);
    expect(Number(rows[0].seconds)).toBeGreaterThan(55);
    expect(Number(rows[0].seconds)).toBeLessThanOrEqual(60);
    expect(observe).toHaveBeenCalledTimes(1);
  });

  it('a dead letter is reported although the answer of PostgreSQL was lost', async () => {
    const { proxy, url } = await proxied(postgres?.url ?? '');
    const { queue, task } = open();
    await queue.init?.();
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
    const { queue, task } = open();
    await queue.init?.();
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

  it('a key is not recorded when the job cannot be added', async () => {
    const { pool, task, table } = open();
    const broken = graphileWorkerQueue({ pg: pool, task, schema: 'missing_schema', table });
    await broken.init?.();
    const queued = aQueued();
    await expect(broken.put(queued)).rejects.toThrow('missing_schema');
    expect((await pool.query(`SELECT 1 FROM ${table} WHERE key = $1`, [queued.key])).rows).toEqual([]);
  });

  it('a key is forgotten after its retention, and no other key is', async () => {
    const { queue, pool, table } = open();
    await queue.init?.();
    const [kept, expired] = [aQueued(), aQueued()];
    await queue.put(kept);
    await queue.put(expired);
    await pool.query(`UPDATE ${table} SET expires_at = now() WHERE key = $1`, [expired.key]);
    expect(await queue.purgeExpired({ limit: 100 })).toBe(1);
    expect(await queue.put(kept)).toBe('known');
    expect(await queue.put(expired)).toBe('queued');
  });
});
