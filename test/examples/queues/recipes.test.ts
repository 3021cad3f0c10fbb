import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { compileSources } from '../sources.js';
import { type Receiver, startReceiver, startWorker, type Worker } from './app.js';
import { aDelivery } from './event.js';
import { type Gate, startGate } from './gate.js';
import { createPostgresDatabase, takeRedisDatabase } from './servers.js';

const redis = await takeRedisDatabase();
const postgres = await createPostgresDatabase();

interface Recipe {
  name: string;
  /** The address of its server, and the variable the programs take it from. */
  server?: { url: string; variable: string; port: number } | undefined;
  /** How many jobs of the event the queue has, in whatever state; a queue may drop the ones that are done. */
  jobs(eventId: string): Promise<number>;
  /** As after a crash between the job and the receiver's record of it. */
  forget?(eventId: string): Promise<unknown>;
  /** As when the lease is over of a claim that could not be released. */
  lapse?(eventId: string): Promise<unknown>;
  /** Makes the queue refuse every job, while all else works. */
  breakQueue(): Promise<unknown>;
  repairQueue(): Promise<unknown>;
  /** Where its jobs are, if that is a table. */
  table?: string;
}

const postgresServer = postgres && { url: postgres.url, variable: 'POSTGRES_URL', port: 5432 };
const sql = async (text: string, ...values: string[]) => (await postgres?.client.query(text, values))?.rows[0];

const recipes: Recipe[] = [
  {
    name: 'bullmq',
    server: redis && { url: redis.url, variable: 'REDIS_URL', port: 6379 },
    jobs: async (id) => (await redis?.client.exists(`bull:webhooks:${encodeURIComponent(id)}`)) ?? 0,
    forget: async (id) => redis?.client.del(`service-webhooks:clips:${id}`),
    breakQueue: async () =>
      redis?.client.multi().rename('bull:webhooks:id', 'away').set('bull:webhooks:id', 'no number').exec(),
    repairQueue: async () => redis?.client.rename('away', 'bull:webhooks:id'),
  },
  {
    name: 'pg-boss',
    server: postgresServer,
    jobs: async (id) => (await sql("SELECT count(*)::int AS jobs FROM pgboss.job WHERE data->>'id' = $1", id)).jobs,
    forget: (id) => sql('DELETE FROM webhook_deliveries WHERE key = $1', `clips:${id}`),
    lapse: (id) => sql('UPDATE webhook_deliveries SET lease_until = now() WHERE key = $1', `clips:${id}`),
    breakQueue: () => sql('ALTER TABLE pgboss.job RENAME TO away'),
    repairQueue: () => sql('ALTER TABLE pgboss.away RENAME TO job'),
    table: 'pgboss.job',
  },
  {
    name: 'graphile-worker',
    server: postgresServer,
    jobs: async (id) =>
      (await sql(`SELECT count(*)::int AS jobs FROM graphile_worker._private_jobs WHERE payload->>'id' = $1`, id)).jobs,
    breakQueue: () => sql('ALTER FUNCTION graphile_worker.add_job RENAME TO away'),
    repairQueue: () => sql('ALTER FUNCTION graphile_worker.away RENAME TO add_job'),
    table: 'graphile_worker._private_jobs',
  },
];

let sources: ReturnType<typeof compileSources>;
beforeAll(() => {
  sources = compileSources();
});
afterAll(async () => {
  sources.remove();
  await redis?.drop();
  await postgres?.drop();
});

describe.each(recipes)(
  'the queue recipe for $name',
  ({ name, server, jobs, forget, lapse, breakQueue, repairQueue, table }) => {
    // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
    if (server === undefined) return it.skip('no test runs without the server of the recipe', () => {});
    const { url, variable, port } = server;
    let gate: Gate;
    let receivers: [Receiver, Receiver];
    let worker: Worker;

    beforeAll(async () => {
      gate = await startGate(url, port);
      const env = { SOURCES: sources.folder, [variable]: gate.url };
      receivers = [await startReceiver(name, env), await startReceiver(name, env)];
      worker = await startWorker(name, { ...env, [variable]: url });
    });
    beforeEach(() => worker.freeze());
    afterAll(async () => {
      for (const app of [...receivers, worker]) await app.end();
      await gate.close();
    });

    /** Sends one attempt to the first receiver or the second, and gives the status of the answer. */
    const attempt = (eventId: string, receiver: 0 | 1 = 0) => receivers[receiver].deliver(...aDelivery(eventId));

    /** How often the worker did the event by the time nothing is left to do. */
    async function runs(eventId: string): Promise<number> {
      worker.thaw();
      const last = newId(); // there is one worker, which takes one job after the other
      await attempt(last);
      await vi.waitFor(() => expect(worker.runs(last)).toBe(1), PATIENTLY);
      return worker.runs(eventId);
    }

    it('an event is answered with 202 once its job is queued, and the worker runs the job', async () => {
      const id = newId();
      expect(await attempt(id)).toBe(202);
      expect(await jobs(id)).toBe(1);
      expect(await runs(id)).toBe(1);
    });

    it.each(['a:b', 'a:b:c', '{} %é', '\u0001'])('an event with %j in its id is queued and done', async (part) => {
      const id = newId() + part;
      expect(await attempt(id)).toBe(202);
      expect(await runs(id)).toBe(1);
    });

    it('a redelivery queues no second job while the first one waits', async () => {
      const id = newId();
      await attempt(id);
      expect(await attempt(id)).toBe(forget ? 200 : 202);
      await forget?.(id);
      expect(await attempt(id, 1)).toBe(202);
      expect(await jobs(id)).toBe(1);
      expect(await runs(id)).toBe(1);
    });

    it('an event that is redelivered after its job finished is not done again', async () => {
      const id = newId();
      await attempt(id);
      expect(await runs(id)).toBe(1);
      expect(await attempt(id)).toBe(forget ? 200 : 202);
      await forget?.(id);
      expect(await attempt(id, 1)).toBe(202);
      expect(await runs(id)).toBe(1);
    });

    it('fifty simultaneous attempts at two receivers queue one job', async () => {
      const id = newId();
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => attempt(id, i % 2 === 0 ? 0 : 1)));
      expect(answers).toContain(202);
      for (const status of answers) expect([200, 202, 409]).toContain(status);
      expect(await jobs(id)).toBe(1);
      expect(await runs(id)).toBe(1);
    });

    it('a delivery is refused while the queue server is down, and its retry is queued', async () => {
      const id = newId();
      await gate.close();
      for (const status of [await attempt(id), await attempt(id)]) expect([500, 503]).toContain(status);
      await gate.open();
      await vi.waitFor(async () => expect(await attempt(id)).toBe(202), PATIENTLY);
      expect(await runs(id)).toBe(1);
    });

    it.each(table === undefined ? [] : [table])(
      'a delivery is refused when the connection to %s breaks, and its retry is queued',
      async () => {
        const id = newId();
        await attempt(newId()); // so that its connection is open
        const lock = await postgres?.client.connect();
        onTestFinished(() => lock?.release(true)); // and its transaction ends, however this does
        await lock?.query(`BEGIN; LOCK TABLE ${table} IN EXCLUSIVE MODE`);
        const answer = attempt(id);
        await vi.waitFor(async () => expect(await waiting()).toBe(1), PATIENTLY);
        await gate.close();
        expect(await answer).toBe(500);
        await lock?.query('ROLLBACK');
        await gate.open();
        await lapse?.(id);
        expect(await attempt(id)).toBe(202);
        expect(await runs(id)).toBe(1);
      },
    );

    it('a delivery is refused when the queue refuses its job, and its retry is queued', async () => {
      const id = newId();
      await attempt(newId()); // so that there is something to break
      await breakQueue();
      expect(await attempt(id).finally(repairQueue)).toBe(500);
      expect(await jobs(id)).toBe(0);
      expect(await attempt(id)).toBe(202);
      expect(await runs(id)).toBe(1);
    });

    it('a request with a wrong signature queues nothing', async () => {
      const id = newId();
      expect(await receivers[0].deliver(...aDelivery(id, 'a guess'))).toBe(401);
      expect(await jobs(id)).toBe(0);
    });
  },
);

/** How many jobs cannot be queued for a lock. A frozen worker may wait with them for a next one. */
async function waiting(): Promise<number> {
  const answer = await sql(`SELECT count(*)::int AS waiting FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ~* 'insert|add_job'`);
  return answer.waiting;
}

function newId(): string {
  return `evt_${crypto.randomUUID()}`;
}
