import { type Runner, run, runMigrations } from 'graphile-worker';
import { PermanentError } from 'service-webhooks';
import { graphileWorkerProcessor, graphileWorkerQueue } from 'service-webhooks/queue/graphile-worker';
import { queueSuite } from 'service-webhooks-suites';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { refusal } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { freePort } from '../support/server-process.js';
import { startProxyOf, type TcpProxy } from '../support/tcp-proxy.js';
import { aQueued } from './queued.js';

const postgres = await startPostgres();
const closing: (() => Promise<unknown>)[] = [];
const closeAll = async () => {
  for (const close of closing.splice(0).reverse()) await close();
};
afterEach(closeAll);

const schema = `graphile_${process.pid}`;
const table = `keys_${process.pid}`;
if (postgres) await runMigrations({ connectionString: postgres.url, schema });
afterAll(async () => {
  await postgres?.admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; DROP TABLE IF EXISTS ${table}`);
  await postgres?.stop();
});
let names = 0;

function open(attempts = 3, task = `webhooks_${process.pid}_${++names}`, order: 'none' | 'jobId' = 'none') {
  const pool = poolOf(postgres?.url ?? '', { max: 3 });
  closing.push(() => pool.end());
  return { task, pool, queue: graphileWorkerQueue({ pg: pool, task, name: 'test', attempts, schema, table, order }) };
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
  closing.push(async () => clearInterval(timer));
};

async function startRunner(
  task: string,
  processor: ReturnType<typeof graphileWorkerProcessor>,
  url = postgres?.url ?? '',
): Promise<Runner> {
  const pgPool = poolOf(url, { max: 4 });
  const logger = { error() {}, warn() {}, info() {}, debug() {}, scope: () => logger } as never;
  const taskList = { [task]: processor as never };
  const runner = await run({
    pgPool,
    schema,
    taskList,
    pollInterval: 50,
    concurrency: 1,
    noHandleSignals: true,
    logger,
  });
  closing.push(async () => {
    await runner.stop().catch(() => {});
    await pgPool.end();
  });
  return runner;
}

async function proxied(url: string) {
  const one = await startProxyOf(url);
  closing.push(() => one.proxy.stop());
  return one;
}

const UNLOCK = `UPDATE ${schema}._private_jobs SET locked_at = NULL, locked_by = NULL WHERE locked_by IS NOT NULL`;

describe.runIf(postgres)('graphileWorkerQueue', () => {
  describe('passes the suite:', () => {
    const cases = queueSuite({
      make({ attempts }) {
        const { queue, task } = open(attempts);
        const { queue: queue2 } = open(attempts, task);
        hurry(task);
        const proxies: TcpProxy[] = [];
        return {
          proxies,
          queue,
          queue2,
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
    });
    for (const { name, skip, run: runCase } of cases) it.skipIf(skip)(name, runCase, 60_000);
  });

  it('gives the events of one job a queue of their own, where they run one after the other', async () => {
    const { queue, task, pool } = open(3, undefined, 'jobId');
    await queue.init?.();
    await queue.put(aQueued({ jobId: 'clip_1' }));
    await queue.put(aQueued({ jobId: null }));
    await queue.put(aQueued({ jobId: 'clip_1', tenant: 'acme' }));
    await queue.put(aQueued({ jobId: 'c'.repeat(128) }));
    const { rows } = await pool.query(`SELECT queue_name FROM ${schema}.jobs WHERE task_identifier = $1 ORDER BY id`, [
      task,
    ]);
    expect(rows.map(({ queue_name }) => queue_name)).toEqual([
      'test:clip_1',
      null,
      'test:tenant=acme:clip_1',
      expect.stringMatching(/^test:sha256:[0-9a-f]{64}$/),
    ]);
  });

  it('keeps the order of jobs also where its name and their ids are long', async () => {
    const { task, pool } = open();
    const queue = graphileWorkerQueue({ pg: pool, task, name: 'n'.repeat(64), schema, table, order: 'jobId' });
    await queue.init?.();
    for (const jobId of ['c'.repeat(120), 'c'.repeat(120), 'd'.repeat(120)]) await queue.put(aQueued({ jobId }));
    const { rows } = await pool.query(`SELECT queue_name FROM ${schema}.jobs WHERE task_identifier = $1 ORDER BY id`, [
      task,
    ]);
    expect(rows[0].queue_name).toEqual(rows[1].queue_name);
    expect(rows[0].queue_name).not.toEqual(rows[2].queue_name);
  });

  it('eight processes that initialise one queue at once all succeed', async () => {
    const own = `keys_${process.pid}_${++names}`;
    const { task } = open();
    const pools = Array.from({ length: 8 }, () => poolOf(postgres?.url ?? '', { max: 1 }));
    closing.push(async () => {
      await postgres?.admin.query(`DROP TABLE ${own}`);
      await Promise.all(pools.map((pool) => pool.end()));
    });
    const queues = pools.map((pg) => graphileWorkerQueue({ pg, task, schema, table: own }));
    await Promise.all(queues.map((queue) => queue.init?.()));
    expect(await queues[0]?.put(aQueued())).toBe('queued');
  });

  it.each([0, 9])(
    'a job of another version that has %i attempts is looked at once a minute, and keeps them',
    async (n) => {
      const { task, pool } = open();
      await postgres?.admin.query(`SELECT ${schema}.add_job($1, $2::json)`, [task, JSON.stringify({ v: 2 })]);
      const ofTask = `task_id = (SELECT id FROM ${schema}._private_tasks WHERE identifier = $1)`;
      await pool.query(`UPDATE ${schema}._private_jobs SET attempts = $2 WHERE ${ofTask}`, [task, n]);
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
    },
  );

  it('a job whose attempts another program has set below zero has its attempts, and no more', async () => {
    const { queue, task, pool } = open(2);
    await queue.init?.();
    hurry(task);
    const ofTask = `task_id = (SELECT id FROM ${schema}._private_tasks WHERE identifier = $1)`;
    const runs = { evt_good: 0, evt_bad: 0 };
    for (const eventId of Object.keys(runs)) await queue.put(aQueued({ eventId, key: `${task}:${eventId}` }));
    await pool.query(`UPDATE ${schema}._private_jobs SET attempts = -5 WHERE ${ofTask}`, [task]);
    const handler = ({ id }: { id: string }) => {
      runs[id as keyof typeof runs] += 1;
      if (id === 'evt_bad') throw new Error('no disk');
    };
    await startRunner(task, graphileWorkerProcessor({ schema, logger: false, on: { '*': handler } }));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(runs).toEqual({ evt_good: 1, evt_bad: 2 });
  });

  it('a dead letter is reported also where the answer of PostgreSQL to its statement was lost', async () => {
    const { proxy, url } = await proxied(postgres?.url ?? '');
    const { queue, task } = open();
    await queue.init?.();
    await queue.put(aQueued());
    const observe = vi.fn();
    const handler = () => {
      throw new PermanentError('the clip is gone');
    };
    const process = graphileWorkerProcessor({ schema, logger: false, observe, on: { '*': handler } });
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

  it('a dead letter has its reason as soon as its job has ended, also if its worker dies then', async () => {
    const { queue, task } = open();
    await queue.init?.();
    const process = graphileWorkerProcessor({
      schema,
      logger: false,
      on: {
        '*': () => {
          throw new PermanentError('the clip is gone');
        },
      },
    });
    await queue.put(aQueued());
    const dying: typeof process = async (payload, helpers) => {
      await process(payload, helpers).catch(() => {});
      await new Promise(() => {}); // graphile-worker hears nothing of the end
    };
    const runner = await startRunner(task, dying);
    closing.push(async () => void runner.stop().catch(() => {}));
    await vi.waitFor(async () => {
      expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
    }, PATIENTLY);
  });

  it('records no key where the job cannot be added', async () => {
    const { pool, task } = open();
    const broken = graphileWorkerQueue({ pg: pool, task, schema: 'missing_schema', table });
    await broken.init?.();
    const queued = aQueued();
    await expect(broken.put(queued)).rejects.toThrow('missing_schema');
    expect((await pool.query(`SELECT 1 FROM ${table} WHERE key = $1`, [queued.key])).rows).toEqual([]);
  });

  it('forgets keys after their retention, and no others', async () => {
    const { queue, pool } = open();
    await queue.init?.();
    const [kept, expired] = [aQueued(), aQueued()];
    await queue.put(kept);
    await queue.put(expired);
    await pool.query(`UPDATE ${table} SET expires_at = now() WHERE key = $1`, [expired.key]);
    expect(await queue.purgeExpired({ limit: 100 })).toBe(1);
    expect(await queue.put(kept)).toBe('known');
    expect(await queue.put(expired)).toBe('queued');
  });

  it.each<[string, object]>([
    ['pg must be a Pool', { task: 'a' }],
    ["Did you mean 'pg'?", { pool: {}, task: 'a' }],
    ['task must be the identifier', { pg: { query() {} } }],
    ['retainMs must be at least', { pg: { query() {} }, task: 'a', retainMs: 1 }],
    ['attempts must be at most 32766', { pg: { query() {} }, task: 'a', attempts: 32_767 }],
    ['table must be a name', { pg: { query() {} }, task: 'a', table: 'a b' }],
  ])('says %j', (message, options) => {
    expect(refusal(() => graphileWorkerQueue(options as never)).message).toContain(message);
  });
});
