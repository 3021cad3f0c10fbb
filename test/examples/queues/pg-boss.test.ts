import { postgresInbox } from 'service-webhooks/stores/postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compileSources } from '../sources.js';
import { startReceiver } from './app.js';
import { aDelivery, anEvent } from './event.js';
import { load } from './example.js';
import { createPostgresDatabase } from './servers.js';

interface Job {
  id: string;
  state: string;
}
interface Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
  createQueue(name: string): Promise<void>;
  deleteQueue(name: string): Promise<void>;
  send(queue: string, data: object, options: object): Promise<string | null>;
  fetch(queue: string): Promise<Job[]>;
  complete(queue: string, id: string): Promise<unknown>;
  fail(queue: string, id: string): Promise<unknown>;
  retry(queue: string, id: string): Promise<unknown>;
  getJobById(queue: string, id: string, options?: object): Promise<Job | null>;
  maintain(): Promise<unknown>;
}
type PgBoss = new (options: object) => Boss;

const postgres = await createPostgresDatabase();

/** What the page about queues says of pg-boss. */
describe('a pg-boss queue of events', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (postgres === undefined) return it.skip('no test runs without PostgreSQL', () => {});
  const { url, client } = postgres;
  let boss: Boss;
  beforeAll(async () => {
    boss = await open();
  });
  afterAll(async () => {
    await boss.stop({ graceful: false });
    await postgres.drop();
  });

  async function open(options?: object): Promise<Boss> {
    const PgBoss = load<PgBoss>('pg-boss');
    const opened = new PgBoss({ connectionString: url, supervise: false, schedule: false, ...options });
    opened.on('error', () => {});
    await opened.start();
    return opened;
  }

  /** A queue of its own, and a job that is in it. */
  async function queueWithJob(options: object = {}) {
    const queue = `queue-${crypto.randomUUID()}`;
    const id = crypto.randomUUID();
    await boss.createQueue(queue);
    await boss.send(queue, {}, { id, ...options });
    const again = () => boss.send(queue, {}, { id });
    const state = async (archive = {}) => (await boss.getJobById(queue, id, archive))?.state;
    const done = async () => {
      expect(await boss.fetch(queue)).toMatchObject([{ id }]);
      await boss.complete(queue, id);
    };
    const rewind = (column: string, interval: string) =>
      client.query(`UPDATE pgboss.job SET ${column} = ${column} - interval '${interval}' WHERE id = $1`, [id]);
    return { queue, id, again, state, done, rewind };
  }

  it('an event id is refused as the id of a job, since it is no UUID', async () => {
    const { queue } = await queueWithJob();
    await expect(boss.send(queue, {}, { id: 'evt_1' })).rejects.toThrow(/invalid input syntax for type uuid/);
  });

  it('send() returns null for the id of a job that waits, runs or is done', async () => {
    const { queue, id, again } = await queueWithJob();
    expect(await again()).toBeNull();
    expect(await boss.fetch(queue)).toMatchObject([{ id }]);
    expect(await again()).toBeNull();
    expect(await boss.fetch(queue)).toEqual([]);
    await boss.complete(queue, id);
    expect(await again()).toBeNull();
    expect(await boss.fetch(queue)).toEqual([]);
  });

  it('a redelivery adds a second job with a singletonKey alone', async () => {
    const { queue } = await queueWithJob();
    const ids = [
      await boss.send(queue, {}, { singletonKey: 'evt_1' }),
      await boss.send(queue, {}, { singletonKey: 'evt_1' }),
    ];
    expect(new Set(ids.map(String)).size).toBe(2);
    expect(ids).not.toContain(null);
  });

  it('an event is done again once its job is archived, after 12 hours', async () => {
    const { again, done, rewind, state } = await queueWithJob();
    await done();
    await rewind('completed_on', '11 hours 59 minutes');
    await boss.maintain();
    expect(await again()).toBeNull();
    await rewind('completed_on', '2 minutes');
    await boss.maintain();
    expect(await again()).not.toBeNull();
    expect(await state()).toBe('created');
  });

  it('the time until jobs are archived is that of the process that maintains the queue', async () => {
    const { again, done, rewind } = await queueWithJob();
    const receiver = await open({ archiveCompletedAfterSeconds: 72 * 3_600 });
    await done();
    await rewind('completed_on', '13 hours');
    await receiver.maintain();
    expect(await again()).toBeNull();
    await boss.maintain();
    expect(await again()).not.toBeNull();
    await receiver.stop({ graceful: false });
  });

  it('a job that no worker took fails after 14 days', async () => {
    const { queue, rewind, state } = await queueWithJob();
    await rewind('keep_until', '14 days 1 minute');
    await boss.maintain();
    expect(await boss.fetch(queue)).toEqual([]);
    expect(await state({ includeArchive: true })).toBe('created');
  });

  it('a redelivery does not run a failed job again, and boss.retry() does', async () => {
    const { queue, id, again } = await queueWithJob({ retryLimit: 0 });
    await boss.fetch(queue);
    await boss.fail(queue, id);
    expect(await again()).toBeNull();
    expect(await boss.fetch(queue)).toEqual([]);
    await boss.retry(queue, id);
    expect(await boss.fetch(queue)).toMatchObject([{ id }]);
  });

  it('an event whose worker died is done by another worker after 15 minutes', async () => {
    const { queue, id, rewind } = await queueWithJob();
    await boss.fetch(queue);
    await rewind('started_on', '14 minutes');
    await boss.maintain();
    expect(await boss.fetch(queue)).toEqual([]);
    await rewind('started_on', '2 minutes');
    await boss.maintain();
    expect(await boss.fetch(queue)).toMatchObject([{ id }]);
  });

  it('an event with a NUL character is refused, which jsonb cannot hold', async () => {
    const { queue } = await queueWithJob();
    const id = crypto.randomUUID();
    await expect(boss.send(queue, { text: '\0' }, { id })).rejects.toThrow(/unsupported Unicode escape sequence/);
    expect(await boss.getJobById(queue, id)).toBeNull();
  });

  it('the transaction of an inbox leaves both the job and the inbox row, or neither', async () => {
    const { queue } = await queueWithJob();
    const inbox = postgresInbox({ pg: client }, { name: 'clips' });
    await inbox.init();
    const event = anEvent('evt_1');
    const attempt = async (end: 'ROLLBACK' | 'COMMIT') => {
      const id = crypto.randomUUID();
      const tx = await client.connect();
      await tx.query('BEGIN');
      const db = { executeSql: (text: string, values: unknown[]) => tx.query(text, values) };
      const { status } = await inbox.once(tx, { event }, () => boss.send(queue, {}, { id, db }));
      await tx.query(end);
      tx.release();
      return { status, queued: (await boss.getJobById(queue, id)) !== null };
    };
    expect(await attempt('ROLLBACK')).toEqual({ status: 'done', queued: false });
    expect(await attempt('COMMIT')).toEqual({ status: 'done', queued: true });
    expect(await attempt('COMMIT')).toEqual({ status: 'duplicate', queued: false });
  });

  it('send() to a missing queue returns null, and the recipe answers the delivery with 500', async () => {
    expect(await boss.send('no such queue', {}, {})).toBeNull();

    const sources = compileSources();
    const receiver = await startReceiver('pg-boss', { SOURCES: sources.folder, POSTGRES_URL: url });
    const deliver = () => receiver.deliver(...aDelivery('evt_1'));
    await boss.deleteQueue('webhooks');
    expect(await deliver()).toBe(500);
    await boss.createQueue('webhooks');
    expect(await deliver()).toBe(202);
    await receiver.end();
    sources.remove();
  });
});
