import pg from 'pg';
import postgres from 'postgres';
import { createClientPool } from 'redis';
import type { JobRecords } from 'service-webhooks';
import { type PgListener, type PostgresClient, postgresStore } from 'service-webhooks/stores/postgres';
import { type RedisClient, redisStore } from 'service-webhooks/stores/redis';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { poolOf, startPostgres } from '../support/postgres.js';
import { canStartRedis, openIoredis, openNodeRedis, startRedis } from '../support/redis.js';

const server = await startPostgres();
const redis = canStartRedis() ? await startRedis() : undefined;
afterAll(async () => {
  await server?.stop();
  await redis?.stop();
});

const ended = (key: string = crypto.randomUUID()) => ({
  key,
  version: crypto.randomUUID(),
  text: '{}',
  keepMs: 60_000,
});

async function watch(jobs: JobRecords) {
  const woken: string[] = [];
  const end = await jobs.watch?.((key) => void woken.push(key));
  if (end) onTestFinished(end);
  return { woken, end };
}

/** Writes records until a watcher is called. */
const becomesWoken = (jobs: JobRecords, woken: string[]) =>
  expect
    .poll(async () => {
      expect(await jobs.write(ended(), undefined)).toBe(true);
      return woken.length;
    })
    .toBeGreaterThan(0);

describe.runIf(redis)('a watcher of redisStore', () => {
  const { url = '' } = redis ?? {};

  function jobsOf(client: RedisClient): JobRecords {
    return redisStore(client, { keyPrefix: `${crypto.randomUUID()}:` }).jobs as JobRecords;
  }

  function open() {
    const client = openIoredis(url);
    onTestFinished(() => client.disconnect());
    return client;
  }

  function openNode() {
    const client = openNodeRedis(url);
    onTestFinished(() => client.destroy());
    return client;
  }

  const subscribers = async (admin: ReturnType<typeof open>) =>
    String(await admin.call('CLIENT', 'LIST', 'TYPE', 'pubsub'))
      .split('\n')
      .filter(Boolean).length;

  it.each([
    ['ioredis', () => ({ ioredis: open() })],
    ['node-redis', () => ({ nodeRedis: openNode() })],
  ])('a watcher is called again after its connection was cut, over %s', async (_, client) => {
    const [jobs, admin] = [jobsOf(client()), open()];
    const { woken, end } = await watch(jobs);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await becomesWoken(jobs, woken);
    end?.();
    await expect.poll(() => subscribers(admin)).toBe(0);
  });

  it('the client of the app keeps its listeners, and works after the end', async () => {
    const ioredis = open();
    await ioredis.ping();
    const listeners = () => ioredis.eventNames().map((name) => [name, ioredis.listenerCount(name)]);
    const before = listeners();
    const jobs = jobsOf({ ioredis });
    const { end } = await watch(jobs);
    end?.();
    expect(listeners()).toEqual(before);
    expect(await jobs.write(ended(), undefined)).toBe(true);
  });

  it('a client without a duplicate does not notify', async () => {
    const pool = await createClientPool({ url })
      .on('error', () => {})
      .connect();
    onTestFinished(() => void pool?.destroy());
    expect((await watch(jobsOf({ nodeRedis: pool as NonNullable<typeof pool> }))).end).toBeUndefined();
    expect((await watch(jobsOf({ upstash: { eval: async () => '' } }))).end).toBeUndefined();
  });

  it('a watch rejects where the server refuses the connection', async () => {
    const ioredis = openIoredis('redis://127.0.0.1:1', { retryStrategy: () => null });
    await expect(jobsOf({ ioredis }).watch?.(() => {})).rejects.toThrow();
  });

  it('a user without a right to the channel writes without a notification', async () => {
    const admin = open();
    const rights = ['resetchannels', '+eval', '+get', '+set', '+del', '+time', '+publish', '+@hash', '+@sortedset'];
    await admin.acl('SETUSER', 'worker', 'on', '>pass', '~*', '-@all', ...rights);
    const limited = openIoredis(url, { username: 'worker', password: 'pass', enableReadyCheck: false });
    onTestFinished(() => limited.disconnect());
    const jobs = jobsOf({ ioredis: limited });
    const record = ended();
    expect(await jobs.write(record, undefined)).toBe(true);
    expect(await jobs.read(record.key)).toMatchObject({ record: { version: record.version } });
    await expect(limited.publish('any', 'text')).rejects.toThrow(/NOPERM|no permissions/);
  });
});

describe.runIf(server)('a watcher of postgresStore', () => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};
  let tables = 0;

  async function jobsOf(client: PostgresClient): Promise<JobRecords> {
    tables += 1;
    const { jobs } = postgresStore(client, { table: `${schema}.watched${tables}` });
    await jobs?.init?.();
    return jobs as JobRecords;
  }

  function open() {
    const pool = poolOf(url);
    onTestFinished(() => pool.end());
    return pool;
  }

  function openPostgresJs() {
    const sql = postgres(url, { max: 2, onnotice() {} });
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  }

  const LISTENING = `FROM pg_stat_activity WHERE datname = current_database() AND query ~* '^listen'`;
  const listening = async () => (await admin.query(`SELECT pid ${LISTENING}`)).rows.length;

  it.each([
    ['pg', () => ({ pg: open() })],
    ['postgres.js', () => ({ postgresJs: openPostgresJs() })],
  ])('a watcher is called again after its connection was cut, over %s', async (_, client) => {
    const jobs = await jobsOf(client());
    const { woken } = await watch(jobs);
    expect((await admin.query(`SELECT pg_terminate_backend(pid) ${LISTENING}`)).rows).toHaveLength(1);
    await becomesWoken(jobs, woken);
  });

  it('the connection of a watcher closes at its end', async () => {
    const jobs = await jobsOf({ pg: open() });
    const { end } = await watch(jobs);
    expect(await listening()).toBe(1);
    end?.();
    await expect.poll(listening).toBe(0);
  });

  it('a watcher of postgres.js is not called after its end, also after its connection was cut', async () => {
    const jobs = await jobsOf({ postgresJs: openPostgresJs() });
    const [first, second] = [await watch(jobs), await watch(jobs)];
    await admin.query(`SELECT pg_terminate_backend(pid) ${LISTENING}`);
    await becomesWoken(jobs, second.woken);
    first.end?.();
    const before = first.woken.length;
    second.woken.length = 0;
    await becomesWoken(jobs, second.woken);
    expect(first.woken).toHaveLength(before);
  });

  it('a single connection and a transaction do not notify', async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    expect((await watch(await jobsOf({ pg: client }))).end).toBeUndefined();
    await openPostgresJs().begin(async (tx) => {
      expect((await watch(await jobsOf({ postgresJs: tx }))).end).toBeUndefined();
    });
  });

  it('a watch rejects where the server refuses the connection', async () => {
    const jobs = postgresStore({ pg: poolOf('postgres://postgres@127.0.0.1:1/test') }).jobs as JobRecords;
    await expect(jobs.watch?.(() => {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  it('a connection that cannot be opened again is tried until the end', async () => {
    const pool = open();
    const clients: FailingClient[] = [];
    let refuses = false;
    class FailingClient implements PgListener {
      readonly #client = new pg.Client({ connectionString: url });
      readonly on = this.#client.on.bind(this.#client) as PgListener['on'];
      readonly end = () => this.#client.end();
      readonly query = (text: string) => this.#client.query(text);
      constructor() {
        clients.push(this);
      }
      async connect() {
        if (refuses) throw new Error('refused');
        await this.#client.connect();
      }
    }
    const jobs = await jobsOf({
      pg: { query: (text, values) => pool.query(text, values), Client: FailingClient, options: {} },
    });
    const { woken, end } = await watch(jobs);
    refuses = true;
    await admin.query(`SELECT pg_terminate_backend(pid) ${LISTENING}`);
    await expect.poll(() => clients.length).toBeGreaterThan(2);
    refuses = false;
    await becomesWoken(jobs, woken);
    end?.();
    await expect.poll(listening).toBe(0);
  });
});
