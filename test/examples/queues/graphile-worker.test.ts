import type pg from 'pg';
import { postgresInbox } from 'service-webhooks/stores/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anEvent } from './event.js';
import { load } from './example.js';
import { createPostgresDatabase } from './servers.js';

interface GraphileWorker {
  runMigrations(options: object): Promise<void>;
  /** Does what there is to do, and ends. */
  runTaskListOnce(options: object, tasks: Record<string, Task>, client: pg.PoolClient): { promise: Promise<void> };
  Logger: new (log: () => () => void) => unknown;
}
type Task = (payload: unknown) => Promise<void>;

const postgres = await createPostgresDatabase();

/** What the page about queues says of graphile-worker. */
describe('a graphile-worker queue of events', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (postgres === undefined) return it.skip('no test runs without PostgreSQL', () => {});
  const { client } = postgres;
  const inbox = postgresInbox({ pg: client }, { name: 'clips' });
  const { runTaskListOnce, runMigrations, Logger } = load<GraphileWorker>('graphile-worker');
  const options = { pgPool: client, logger: new Logger(() => () => {}) };

  beforeAll(async () => {
    await runMigrations(options);
    await inbox.init();
  });
  beforeEach(() => client.query('TRUNCATE webhook_inbox, graphile_worker._private_jobs'));
  afterAll(() => postgres.drop());

  const addJob = () => client.query(`SELECT graphile_worker.add_job('webhook', '{}', job_key := 'evt_1')`);
  const count = async (table = 'graphile_worker.jobs') =>
    (await client.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count;

  /** How often the task ran by the time nothing is left to do. */
  async function runs(work: Task = async () => {}): Promise<number> {
    let runs = 0;
    const webhook: Task = (payload) => {
      runs += 1;
      return work(payload);
    };
    const connection = await client.connect();
    await runTaskListOnce(options, { webhook }, connection).promise;
    connection.release();
    return runs;
  }

  /** What the recipe does with a delivery. */
  async function attempt(end: 'COMMIT' | 'ROLLBACK' = 'COMMIT'): Promise<string> {
    const event = anEvent('evt_1');
    const tx = await client.connect();
    await tx.query('BEGIN');
    const { status } = await inbox.once(tx, { event }, () =>
      tx.query("SELECT graphile_worker.add_job('webhook', $1, max_attempts := 1)", [event]),
    );
    await tx.query(end);
    tx.release();
    return status;
  }

  describe('with a job key alone', () => {
    it('a redelivery adds no second job while the first one waits', async () => {
      await addJob();
      await addJob();
      expect(await runs()).toBe(1);
    });

    it('an event that is redelivered while its job runs is done again', async () => {
      await addJob();
      let redelivered = false;
      const redeliverOnce = async () => {
        if (!redelivered) await addJob();
        redelivered = true;
      };
      expect((await runs(redeliverOnce)) + (await runs())).toBe(2);
    });

    it('an event that is redelivered after its job is done is done again', async () => {
      await addJob();
      expect(await runs()).toBe(1);
      await addJob();
      expect(await runs()).toBe(1);
    });

    it('an event that is redelivered after its job failed permanently is done again', async () => {
      await addJob();
      await client.query('UPDATE graphile_worker._private_jobs SET max_attempts = 1');
      expect(await runs(() => Promise.reject(new Error('the work cannot be done')))).toBe(1);
      expect(await runs()).toBe(0);
      await addJob();
      expect(await runs()).toBe(1);
    });
  });

  describe('with the row of an inbox', () => {
    it('an event is done once, also when a retry arrives during or after its job', async () => {
      expect([await attempt(), await attempt()]).toEqual(['done', 'duplicate']);
      const redeliver = async () => expect(await attempt()).toBe('duplicate');
      expect(await runs(redeliver)).toBe(1);
      expect(await attempt()).toBe('duplicate');
      expect(await runs()).toBe(0);
    });

    it('a transaction that is rolled back leaves neither a job nor a row in the inbox', async () => {
      expect(await attempt('ROLLBACK')).toBe('done');
      expect([await count(), await count('webhook_inbox')]).toEqual([0, 0]);
      expect(await attempt()).toBe('done');
      expect(await runs()).toBe(1);
    });

    it('a redelivery does not run a job that failed permanently, and rescheduling does', async () => {
      await attempt();
      const fail = () => Promise.reject(new Error('the work cannot be done'));
      expect(await runs(fail)).toBe(1);
      expect(await attempt()).toBe('duplicate');
      expect(await runs()).toBe(0);
      await client.query(
        `SELECT graphile_worker.reschedule_jobs(ARRAY(SELECT id FROM graphile_worker.jobs), now(), attempts := 0)`,
      );
      expect(await runs()).toBe(1);
    });

    it('an event is done again four hours after its worker died', async () => {
      await client.query(`SELECT graphile_worker.add_job('webhook', $1)`, [anEvent('evt_1')]);
      const lockedFor = (interval: string) =>
        client.query(
          `UPDATE graphile_worker._private_jobs
           SET locked_by = 'a worker that is gone', attempts = 1, locked_at = now() - $1::interval`,
          [interval],
        );
      await lockedFor('3 hours 59 minutes');
      expect(await runs()).toBe(0);
      await lockedFor('4 hours 1 minute');
      expect(await runs()).toBe(1);
    });

    it('a job that runs twice writes once when the worker has an inbox of its own', async () => {
      const written = postgresInbox({ pg: client }, { name: 'worker' });
      await client.query('CREATE TABLE clips (id text)');
      const work = async (write: () => Promise<void>) => {
        const tx = await client.connect();
        await tx.query('BEGIN');
        await written.once(tx, { event: anEvent('evt_1') }, () => tx.query("INSERT INTO clips VALUES ('evt_1')"));
        await tx.query('COMMIT');
        tx.release();
        await write();
      };
      await client.query("SELECT graphile_worker.add_job('webhook', '{}')");
      // The work is done, and the worker dies before it has said so.
      expect(await runs(() => work(() => Promise.reject(new Error('killed'))))).toBe(1);
      await client.query('UPDATE graphile_worker._private_jobs SET run_at = now()');
      expect(await runs(() => work(async () => {}))).toBe(1);
      expect(await count('clips')).toBe(1);
    });

    it('an event with a NUL character in it can be queued', async () => {
      await client.query("SELECT graphile_worker.add_job('webhook', $1)", [{ text: '\0' }]);
      const payloads: unknown[] = [];
      await runs(async (payload) => void payloads.push(payload));
      expect(payloads).toEqual([{ text: '\0' }]);
    });
  });
});
