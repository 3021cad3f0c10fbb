import PgBoss from 'pg-boss';
import { PermanentError } from 'service-webhooks';
import { pgBossProcessor, pgBossQueue } from 'service-webhooks/queue/pg-boss';
import { queueSuite } from 'service-webhooks-suites';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { later, never, refusal, rejection } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { startPostgres } from '../support/postgres.js';
import { freePort } from '../support/server-process.js';
import { startProxyOf, type TcpProxy } from '../support/tcp-proxy.js';
import { aQueued } from './queued.js';

const postgres = await startPostgres();
const closing: (() => Promise<unknown>)[] = [];
const closeAll = async () => {
  for (const close of closing.splice(0).reverse()) await close();
};
afterEach(closeAll);

const schema = `boss_${process.pid}`;
afterAll(async () => {
  await postgres?.admin.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  await postgres?.stop();
});
let names = 0;

async function startBoss(options: PgBoss.ConstructorOptions = {}): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: postgres?.url ?? '', schema, max: 3, supervise: false, ...options });
  boss.on('error', () => {});
  await boss.start();
  closing.push(() => boss.stop({ graceful: false, wait: true }).catch(() => {}));
  return boss;
}

/** The job of a worker that died expires after two seconds, as the maintenance of pg-boss finds out. */
async function open(attempts = 3, queueName = `webhooks_${++names}`) {
  const boss = await startBoss();
  const queue = pgBossQueue({ boss, queue: queueName, attempts, schema, expireInSeconds: 2 });
  const expire = setInterval(() => boss.expire().catch(() => {}), 200);
  closing.push(async () => clearInterval(expire));
  return { boss, queue, queueName };
}

/** Ends the wait of failed jobs, as their time would: the backoff of pg-boss has whole seconds. */
const hurry = (queueName: string) => {
  const waits = `name = '${queueName}' AND state = 'retry' AND start_after > now() AND output->>'owner' IS NULL AND data->>'v' = '1'`;
  const timer = setInterval(() => {
    postgres?.admin.query(`UPDATE ${schema}.job SET start_after = now() WHERE ${waits}`).catch(() => {});
  }, 50);
  closing.push(async () => clearInterval(timer));
};

async function proxied(url: string) {
  const one = await startProxyOf(url);
  closing.push(() => one.proxy.stop());
  return one;
}

describe.runIf(postgres)('pgBossQueue', () => {
  describe('passes the suite:', () => {
    const cases = queueSuite({
      async make({ attempts }) {
        const { boss, queue, queueName } = await open(attempts);
        const { queue: queue2 } = await open(attempts, queueName);
        const proxies: TcpProxy[] = [];
        hurry(queueName);
        return {
          boss,
          proxies,
          queue,
          queue2,
          queueName,
          async work(options) {
            const { proxy, url } = await proxied(postgres?.url ?? '');
            proxies.push(proxy);
            const own = await startBoss({ connectionString: url });
            const id = await own.work(queueName, pgBossProcessor({ boss: own, schema, ...options }));
            // pg-boss itself asks every half a second at the most.
            const asking = setInterval(() => own.notifyWorker(id), 25);
            closing.push(async () => clearInterval(asking));
            return {
              async stop() {
                await own.stop({ graceful: true, wait: true, timeout: 10_000 });
              },
              async kill() {
                await own.stop({ graceful: false, wait: true });
              },
            };
          },
          close: closeAll,
        };
      },
      async inject({ boss, queueName }, job) {
        await boss.send(queueName, job as object);
      },
      disconnect({ proxies }) {
        for (const proxy of proxies) proxy.cut();
      },
      lapse() {}, // each job expires after two seconds
      async unreachable() {
        const connectionString = `postgres://postgres@127.0.0.1:${await freePort()}/test`;
        return pgBossQueue({ boss: new PgBoss({ connectionString, schema }), queue: 'away' });
      },
      patienceMs: 40_000,
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 90_000);
  });

  it('a put to a queue that was deleted rejects, although pg-boss answers as for a known id', async () => {
    const { queue } = await open();
    await expect(queue.put(aQueued())).rejects.toThrow('pg-boss has no queue');
  });

  it('says so where the PgBoss was not started', async () => {
    const queue = pgBossQueue({ boss: new PgBoss({ connectionString: postgres?.url ?? '', schema }), queue: 'early' });
    expect((await rejection(queue.init?.() ?? Promise.resolve())).message).toContain('Await boss.start()');
  });

  it('is created as pg-boss itself creates a queue', async () => {
    const { boss, queue, queueName } = await open(4);
    await queue.init?.();
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

  it('is not created while a transaction reads the jobs, which might then never find its own', async () => {
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

  it('is refused at its start where pg-boss archives finished jobs before the end of the retries', async () => {
    const boss = await startBoss({ archiveCompletedAfterSeconds: 3_600 });
    const error = await rejection(pgBossQueue({ boss, queue: 'early', schema }).init?.() ?? Promise.resolve());
    expect(error.message).toContain('Set archiveCompletedAfterSeconds of PgBoss to at least 21600');
  });

  it('each job of a batch ends for itself', async () => {
    const { boss, queue, queueName } = await open(1);
    await queue.init?.();
    for (const eventId of ['evt_1', 'evt_2', 'evt_3']) await queue.put(aQueued({ eventId, key: `test:${eventId}` }));
    const handler = vi.fn(({ id }: { id: string }) => {
      if (id === 'evt_2') throw new Error('no disk');
    });
    const work = pgBossProcessor({ boss, schema, logger: false, on: { '*': handler } });
    await boss.work(queueName, { batchSize: 3, pollingIntervalSeconds: 0.5 }, work);
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(handler).toHaveBeenCalledTimes(3);
  });

  it('a job of a batch that fails is retried until it is a dead letter, also where it runs elsewhere', async () => {
    const { boss, queue, queueName } = await open(3);
    await queue.init?.();
    hurry(queueName);
    for (const eventId of ['evt_1', 'evt_2']) await queue.put(aQueued({ eventId, key: `test:${eventId}` }));
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
    const runs: string[] = [];
    const handler = async ({ id }: { id: string }, { attempt }: { attempt: number }) => {
      runs.push(`${id} ${attempt}`);
      const [first] = runs.map((run) => run.split(' ')[0]);
      if (id !== first) return batchEnds.promise;
      if (attempt === 2) {
        batchEnds.resolve();
        await batchIsOver();
      }
      throw new Error('no disk');
    };
    const options = { schema, logger: false, on: { '*': handler } } as const;
    const work = { batchSize: 2, pollingIntervalSeconds: 0.5 };
    await boss.work(queueName, work, pgBossProcessor({ boss, ...options }));
    await vi.waitFor(() => expect(runs).toHaveLength(2), PATIENTLY);
    const other = await startBoss();
    await other.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor({ boss: other, ...options }));
    // Before the expiry of the batch, after two seconds, unless the failed job runs elsewhere at once.
    const { rows } = (await boss
      .getDb()
      .executeSql(`SELECT 1 FROM ${schema}.job WHERE name = $1 AND state = 'active'`, [queueName])) as {
      rows: unknown[];
    };
    if (rows.length === 2) batchEnds.resolve();
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    const [failing] = runs.map((run) => run.split(' ')[0]);
    expect(runs.filter((run) => run.startsWith(String(failing)))).toEqual([1, 2, 3].map((n) => `${failing} ${n}`));
  });

  it('a run that pg-boss has completed at the end of another batch is retried where it fails', async () => {
    const { boss, queue, queueName } = await open(3);
    await queue.init?.();
    hurry(queueName);
    await queue.put(aQueued());
    const started = later();
    const end = later();
    const attempts: number[] = [];
    const handler = async (_: unknown, { attempt }: { attempt: number }) => {
      attempts.push(attempt);
      if (attempt > 1) return;
      started.resolve();
      await end.promise;
      throw new Error('no disk');
    };
    await boss.work(
      queueName,
      { pollingIntervalSeconds: 0.5 },
      pgBossProcessor({ boss, schema, logger: false, on: { '*': handler } }),
    );
    await started.promise;
    // What pg-boss does with every job of a batch that runs when the batch ends.
    await postgres?.admin.query(
      `UPDATE ${schema}.job SET state = 'completed', completed_on = now() WHERE name = $1 AND state = 'active'`,
      [queueName],
    );
    end.resolve();
    await vi.waitFor(() => expect(attempts).toEqual([1, 2]), PATIENTLY);
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
  });

  it('a job whose second worker died is not completed when the first one ends', async () => {
    const { boss, queue, queueName } = await open(3);
    await queue.init?.();
    hurry(queueName);
    await queue.put(aQueued());
    const end = later();
    const attempts: number[] = [];
    const handler = async (_: unknown, { attempt }: { attempt: number }) => {
      attempts.push(attempt);
      if (attempt === 1) await end.promise;
    };
    const options = { schema, logger: false, on: { '*': handler } } as const;
    await boss.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor({ boss, ...options }));
    await vi.waitFor(() => expect(attempts).toEqual([1]), PATIENTLY);
    // What another worker leaves that has taken the job and was killed.
    const taken = `state = 'active', started_on = now()`;
    await postgres?.admin.query(`UPDATE ${schema}.job SET ${taken} WHERE name = $1`, [queueName]);
    end.resolve();
    await vi.waitFor(() => expect(attempts.length).toBeGreaterThan(1), PATIENTLY);
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
  });

  it('a job that kills its worker uses no attempt of the other jobs of its batch', async () => {
    const { queue, queueName } = await open(1);
    await queue.init?.();
    hurry(queueName);
    for (const eventId of ['evt_1', 'evt_2']) await queue.put(aQueued({ eventId, key: `test:${eventId}` }));
    const runs: string[] = [];
    const observe = vi.fn();
    const handler = ({ id }: { id: string }, { attempt }: { attempt: number }) => {
      expect(attempt).toBe(1);
      runs.push(id);
      return runs.length === 1 ? never() : undefined;
    };
    const work = async () => {
      const boss = await startBoss();
      const options = { boss, schema, logger: false, observe, on: { '*': handler } } as const;
      await boss.work(queueName, { batchSize: 2, pollingIntervalSeconds: 0.5 }, pgBossProcessor(options));
      return boss;
    };
    const victim = await work();
    await vi.waitFor(() => expect(runs).toHaveLength(1), PATIENTLY);
    await victim.stop({ graceful: false, wait: true });
    await work();
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect([...runs].sort()).toEqual(['evt_1', 'evt_2']);
    const reports = observe.mock.calls.map(([outcome]) => outcome).filter(({ kind }) => kind === 'dead_letter');
    expect(reports).toMatchObject([
      { attempts: 1, reason: 'The worker died during the last attempt.', delivery: { event: { id: runs[0] } } },
    ]);
  });

  it('a job that workers fetch and do not start, as when they stop, has all its attempts', async () => {
    const { boss, queue, queueName } = await open(1);
    await queue.init?.();
    hurry(queueName);
    await queue.put(aQueued());
    for (let stop = 1; stop <= 3; stop += 1) {
      const [job] = await vi.waitUntil(async () => {
        const fetched = await boss.fetch(queueName);
        return fetched.length > 0 && fetched;
      }, PATIENTLY);
      await boss.fail(queueName, String(job?.id), { message: 'pg-boss shut down while active' });
      expect(await queue.stats()).toMatchObject({ depth: 1, dead: 0 });
    }
    const attempts: number[] = [];
    const handler = (_: unknown, { attempt }: { attempt: number }) => void attempts.push(attempt);
    const options = { boss, schema, logger: false, on: { '*': handler } } as const;
    await boss.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor(options));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
    expect(attempts).toEqual([1]);
  });

  it('a run that pg-boss itself has put back is completed while no other worker has the job', async () => {
    const { boss, queue, queueName } = await open(1);
    await queue.init?.();
    await queue.put(aQueued());
    const end = later();
    const handler = vi.fn(() => end.promise);
    const options = { boss, schema, logger: false, on: { '*': handler } } as const;
    await boss.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor(options));
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1), PATIENTLY);
    const { rows } = (await postgres?.admin.query(`SELECT id FROM ${schema}.job WHERE name = $1`, [queueName])) ?? {};
    await boss.fail(queueName, rows?.[0].id, { message: 'handler execution exceeded 2000ms' });
    end.resolve();
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('is refused where a queue of its name exists without its dead letters', async () => {
    const { boss, queue, queueName } = await open();
    await boss.createQueue(queueName, { name: queueName, retryLimit: 3 });
    const error = await rejection(queue.init?.() ?? Promise.resolve());
    expect(error.message).toContain(`its dead letters do not go to '${queueName}_dead'`);
  });

  it('a dead letter is reported also where the answer of PostgreSQL to its statement was lost', async () => {
    const { proxy, url } = await proxied(postgres?.url ?? '');
    const { queue, queueName } = await open();
    await queue.init?.();
    await queue.put(aQueued());
    const boss = await startBoss({ connectionString: url, max: 1 });
    const observe = vi.fn();
    const handler = () => {
      proxy.loseNextReply();
      throw new PermanentError('the clip is gone');
    };
    const options = { boss, schema, logger: false, observe, on: { '*': handler } } as const;
    await boss.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor(options));
    await vi.waitFor(() => expect(observe.mock.lastCall?.[0]).toMatchObject({ kind: 'dead_letter' }), PATIENTLY);
    expect(proxy.lost()).toBe(1);
    expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
  });

  it('a dead letter whose queue was deleted stays one, and its retry says so', async () => {
    const { boss, queue, queueName } = await open();
    await queue.init?.();
    await boss.send(`${queueName}_dead`, aQueued());
    await boss.deleteQueue(queueName);
    const [letter] = await queue.deadLetters();
    await expect(queue.retry(String(letter?.id))).rejects.toThrow(`pg-boss has no queue '${queueName}'`);
    expect(await queue.deadLetters()).toHaveLength(1);
  });

  it('a date style that PostgreSQL writes and reads in two ways does not matter', async () => {
    const { queue, queueName } = await open();
    await queue.init?.();
    await queue.put(aQueued());
    const boss = await startBoss({ options: '-c datestyle=SQL,DMY -c timezone=Asia/Kolkata' } as never);
    const handler = vi.fn();
    const options = { boss, schema, logger: false, on: { '*': handler } } as const;
    await boss.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor(options));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('eight processes that initialise one queue at once all succeed', async () => {
    const queueName = `webhooks_${++names}`;
    const bosses = await Promise.all(Array.from({ length: 8 }, () => startBoss()));
    const queues = bosses.map((boss) => pgBossQueue({ boss, queue: queueName, schema }));
    await Promise.all(queues.map((queue) => queue.init?.()));
    expect(await queues[0]?.put(aQueued())).toBe('queued');
  });

  it('a worker waits for its database, and then ends the job as it was', async () => {
    const { proxy, url } = await proxied(postgres?.url ?? '');
    const { queue, queueName } = await open(1);
    await queue.init?.();
    const boss = await startBoss({ connectionString: url });
    const observe = vi.fn();
    const handler = () => {
      proxy.pause();
      proxy.cut();
      setTimeout(() => proxy.resume(), 200);
      throw new PermanentError('the clip is gone');
    };
    await queue.put(aQueued());
    const options = { schema, logger: false, observe, on: { '*': handler } } as const;
    await boss.work(queueName, { pollingIntervalSeconds: 0.5 }, pgBossProcessor({ boss, ...options }));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(await queue.deadLetters()).toMatchObject([{ reason: 'the clip is gone', attempts: 1 }]);
  });

  it.each<[string, object]>([
    ['boss must be a PgBoss', { queue: 'a' }],
    ["Did you mean 'queue'?", { queu: 'a' }],
    ['queue must be a name', { boss: { send() {}, getDb() {} }, queue: 'a b' }],
    ['schema must be a name', { boss: { send() {}, getDb() {} }, queue: 'a', schema: 'a;' }],
  ])('says %j', (message, options) => {
    expect(refusal(() => pgBossQueue(options as never)).message).toContain(message);
  });
});
