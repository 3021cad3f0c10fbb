import { readFileSync } from 'node:fs';
import pg from 'pg';
import postgres from 'postgres';
import type { ClaimRequest } from 'service-webhooks';
import { type PgClient, type PostgresClient, postgresInbox, postgresStore } from 'service-webhooks/stores/postgres';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { refusal } from '../support/deliveries.js';
import { poolOf, startPostgres, startProxy } from '../support/postgres.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';

vi.setConfig({ testTimeout: 60_000 });
const server = await startPostgres();
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(async () => {
  await server?.stop();
});

describe.runIf(server)('postgresStore', () => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};
  const row = async (table: string, key: string) =>
    (await admin.query(`SELECT * FROM ${table} WHERE key = $1`, [key])).rows[0];

  function open(options: pg.PoolConfig = {}, at = url): pg.Pool {
    const pool = poolOf(at, options);
    closing.push(() => pool.end());
    return pool;
  }

  function openPostgresJs(options: Parameters<typeof postgres>[1] = {}, at = url): postgres.Sql {
    const sql = postgres(at, { max: 6, onnotice() {}, ...options });
    closing.push(() => sql.end({ timeout: 1 }));
    return sql;
  }

  async function storeOf(client: PostgresClient = { pg: open() }, options: { waitMs?: number } = {}) {
    const table = newTable();
    const store = postgresStore(client, { table, ...options });
    await store.init?.();
    return { store, table };
  }

  let tables = 0;
  function newTable(): string {
    tables += 1;
    return `${schema}.t${tables}`;
  }

  /** A transaction that somebody forgot to end. */
  async function openTransaction(statement: string): Promise<pg.PoolClient> {
    const client = await admin.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return client;
  }

  async function endTransaction(client: pg.PoolClient): Promise<void> {
    await client.query('ROLLBACK');
    client.release();
  }

  describe('init', () => {
    it('makes the table for all of sixteen processes that start at once', async () => {
      const pools = Array.from({ length: 16 }, () => open({ max: 1 }));
      await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
      for (let round = 0; round < 10; round += 1) {
        const table = newTable();
        await Promise.all(pools.map((pool) => postgresStore({ pg: pool }, { table }).init?.()));
        expect((await admin.query(`SELECT FROM ${table}`)).rows).toEqual([]);
        expect((await admin.query('SELECT FROM pg_index WHERE indrelid = to_regclass($1)', [table])).rows).toHaveLength(
          2,
        );
      }
    });

    it('may be called twice, and keeps what is there', async () => {
      const { store } = await storeOf();
      await store.claim(aClaim('kept'));
      await store.init?.();
      expect(await store.inspect?.('kept')).toMatchObject({ state: 'in_progress' });
    });

    it('needs no right to make a table that is there', async () => {
      const { table } = await storeOf();
      const role = `${schema}_receiver`;
      await admin.query(`CREATE ROLE ${role}`);
      closing.push(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
      await admin.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}`);
      await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO ${role}`);
      const pool = open({ options: `-c role=${role}` });
      const store = postgresStore({ pg: pool }, { table });
      await store.init?.();
      expect(await store.claim(aClaim('a'))).toMatchObject({ status: 'acquired' });
      await expect(postgresStore({ pg: pool }, { table: `${table}_new` }).init?.()).rejects.toMatchObject({
        code: '42501',
      });
    });

    it('rejects where the schema is missing, and works once it is there', async () => {
      const store = postgresStore({ pg: open() }, { table: `${schema}_later.deliveries` });
      await expect(store.init?.()).rejects.toMatchObject({ code: '3F000' });
      await admin.query(`CREATE SCHEMA ${schema}_later`);
      closing.push(() => admin.query(`DROP SCHEMA ${schema}_later CASCADE`));
      await store.init?.();
      expect(await store.claim(aClaim('a'))).toMatchObject({ status: 'acquired' });
    });

    it.each([
      ['postgres.sql', (client: { pg: PgClient }) => postgresStore(client)],
      ['postgres-inbox.sql', (client: { pg: PgClient }) => postgresInbox(client)],
    ])('runs what sql/%s holds', async (file, make) => {
      const sent: string[] = [];
      const recording = {
        async query(text: string) {
          sent.push(text);
          return { rows: [], rowCount: 0 };
        },
      };
      await make({ pg: recording }).init?.();
      const text = readFileSync(new URL(`../../sql/${file}`, import.meta.url), 'utf8');
      expect(sent.at(-1)).toBe(text.replace(/^--.*\n/gm, ''));
      await admin.query(`SET search_path = ${schema}; ${text} ${text} RESET search_path`);
    });
  });

  describe('a row that another transaction has locked', () => {
    it('is waited for no longer than waitMs, and no connection stays blocked', async () => {
      const { store, table } = await storeOf(undefined, { waitMs: 20 });
      const request = aClaim('locked');
      const { fence } = await store.claim(request);
      const ref = { ...request, fence };
      await store.release(ref);
      await store.claim(request);
      const other = await openTransaction(`SELECT FROM ${table} FOR UPDATE`);
      const calls = [
        () => store.claim(request),
        () => store.extend(ref, request),
        () => store.complete(ref, request),
        () => store.release(ref),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: '55P03' });
      expect(await blockedBackends(table)).toBe(0);
      await endTransaction(other);
      expect(await store.complete(ref, request)).toBe('ok');
    });

    it('is waited for no longer than waitMs where it is not yet committed', async () => {
      const { store, table } = await storeOf(undefined, { waitMs: 20 });
      const other = await openTransaction(
        `INSERT INTO ${table} VALUES ('new', 'released', NULL, 1, 1, NULL, 'f', NULL, now() + interval '1 day')`,
      );
      const ref = { ...aClaim('new'), fence: 1 };
      await expect(store.claim(ref)).rejects.toMatchObject({ code: '55P03' });
      await expect(store.complete(ref, ref)).rejects.toMatchObject({ code: '55P03' });
      await endTransaction(other);
      expect(await store.claim(ref)).toMatchObject({ status: 'acquired', fence: 1 });
    });

    it('is read all the same by a claim that cannot have it', async () => {
      const { store, table } = await storeOf();
      const [held, done] = [aClaim('held'), aClaim('done')];
      await store.claim(held);
      const { fence } = await store.claim(done);
      await store.complete({ ...done, fence }, done);
      const other = await openTransaction(`SELECT FROM ${table} FOR UPDATE`);
      expect(await store.claim(aClaim('held'))).toMatchObject({ status: 'in_progress' });
      expect(await store.claim(aClaim('done'))).toMatchObject({ status: 'completed' });
      await endTransaction(other);
    });

    async function blockedBackends(table: string): Promise<number> {
      const { rows } = await admin.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
        [table.split('.')[1]],
      );
      return rows.length;
    }
  });

  describe('a session', () => {
    it('is left as it was: no setting, no prepared statement, no lock, no open transaction', async () => {
      const pool = open({ max: 1 });
      const sql = openPostgresJs({ max: 1, fetch_types: false });
      for (const client of [{ pg: pool }, { postgresJs: sql }]) {
        const { store } = await storeOf(client);
        await expectEveryAnswer(store);
        const question = `SELECT current_setting('lock_timeout') AS lock_timeout, now() = statement_timestamp() AS alone,
          (SELECT count(*)::int FROM pg_prepared_statements) AS prepared,
          (SELECT count(*)::int FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') AS locks`;
        const [answer] = 'pg' in client ? (await pool.query(question)).rows : await sql.unsafe(question);
        expect(answer).toEqual({ lock_timeout: '0', alone: true, prepared: 0, locks: 0 });
      }
    });

    it('may be another one for every statement', async () => {
      const clients = Array.from({ length: 3 }, () => new pg.Client(url));
      await Promise.all(clients.map((client) => client.connect()));
      closing.push(() => Promise.all(clients.map((client) => client.end())));
      let sent = 0;
      const query: PgClient['query'] = (text, values) => {
        sent += 1;
        return (clients[sent % clients.length] as pg.Client).query(text, values);
      };
      await expectEveryAnswer((await storeOf({ pg: { query } })).store);
      expect(sent).toBeGreaterThan(12);
    });
  });

  it('reads its rows whatever the client makes of names, numbers and dates', async () => {
    const types = { getTypeParser: () => String } as unknown as pg.CustomTypesConfig;
    const bigint = { to: 20, from: [20, 23], serialize: String, parse: BigInt };
    const clients: PostgresClient[] = [
      { pg: open({ types }) },
      { postgresJs: openPostgresJs({ transform: postgres.camel }) },
      { postgresJs: openPostgresJs({ transform: postgres.toPascal, types: { bigint } }) },
    ];
    for (const client of clients) {
      const { store } = await storeOf(client);
      await expectEveryAnswer(store);
      expect(store.scope).toBe('shared');
    }
  });

  it.each(['pg', 'postgresJs'] as const)(
    'finds its claim and its completion after their replies to %s were lost',
    async (kind) => {
      const proxy = await startProxy(url);
      closing.push(() => proxy.stop());
      const client = kind === 'pg' ? { pg: open({}, proxy.url) } : { postgresJs: openPostgresJs({}, proxy.url) };
      const { store, table } = await storeOf(client);
      const request = aClaim('lost');
      proxy.loseNextReply();
      await expect(store.claim(request)).rejects.toThrow();
      expect(await row(table, 'lost')).toMatchObject({ state: 'in_progress', owner: request.token });
      const again = await store.claim(request);
      expect(again).toMatchObject({ status: 'acquired', fence: 1, attempt: 1 });
      const ref = { ...request, fence: 1 };
      proxy.loseNextReply();
      await expect(store.complete(ref, request)).rejects.toThrow();
      expect(await row(table, 'lost')).toMatchObject({ state: 'completed' });
      expect(await store.complete(ref, request)).toBe('ok');
    },
  );

  it('hands a key on with a growing fence through 100 takeovers, each to exactly one of four', async () => {
    const table = newTable();
    const clients: PostgresClient[] = [{ pg: open() }, { postgresJs: openPostgresJs() }];
    const stores = clients.map((client) => postgresStore(client, { table }));
    for (const store of stores) await store.init?.();
    for (let fence = 1; fence <= 100; fence += 1) {
      const claims = [...stores, ...stores].map((store) => store.claim(aClaim('passed on')));
      const answers = await Promise.all(claims);
      expect(answers.filter(({ status }) => status === 'acquired')).toMatchObject([{ fence, attempt: fence }]);
      await admin.query(`UPDATE ${table} SET lease_until = clock_timestamp()`);
    }
  });

  it('gives a row that expired and was never purged to exactly one, as new but with the next fence', async () => {
    const { store, table } = await storeOf();
    const first = aClaim('expired');
    await store.claim(first);
    await store.release({ ...first, fence: 1 });
    await store.claim({ ...first, token: 'second' });
    await admin.query(`UPDATE ${table} SET expires_at = clock_timestamp()`);
    const rivals = Array.from({ length: 20 }, () => ({ ...aClaim('expired'), fingerprint: 'other', alias: 'other' }));
    const answers = await Promise.all(rivals.map((rival) => store.claim(rival)));
    expect(answers.filter(({ status }) => status === 'acquired')).toEqual([
      { status: 'acquired', fence: 3, attempt: 1, seen: { fingerprint: 'other', alias: 'other' } },
    ]);
  });

  describe('purgeExpired', () => {
    it('removes what is expired in batches, from two processes at once, and nothing else', async () => {
      const table = newTable();
      const [one, two] = [{ pg: open() }, { postgresJs: openPostgresJs() }].map((client) =>
        postgresStore(client, { table }),
      );
      await one?.init?.();
      await admin.query(
        `INSERT INTO ${table} SELECT 'old' || i, 'completed', 't', 1, 1, NULL, 'f', NULL, now() FROM generate_series(1, 1000) i`,
      );
      await admin.query(
        `INSERT INTO ${table} SELECT 'new' || i, 'completed', 't', 1, 1, NULL, 'f', NULL, now() + interval '1 day' FROM generate_series(1, 10) i`,
      );
      const removed: number[] = [];
      const purge = async (store = one) => {
        for (let count = 1; count > 0; removed.push(count)) count = (await store?.purgeExpired?.({ limit: 30 })) ?? 0;
      };
      await Promise.all([purge(one), purge(two)]);
      expect(removed.reduce((sum, count) => sum + count)).toBe(1_000);
      expect(Math.max(...removed)).toBe(30);
      expect((await admin.query(`SELECT count(*)::int AS left FROM ${table}`)).rows).toEqual([{ left: 10 }]);
    });

    it('passes over a row that somebody has locked', async () => {
      const { store, table } = await storeOf();
      await admin.query(
        `INSERT INTO ${table} SELECT i, 'completed', 't', 1, 1, NULL, 'f', NULL, now() FROM generate_series(1, 3) i`,
      );
      const other = await openTransaction(`SELECT FROM ${table} WHERE key = '2' FOR UPDATE`);
      expect(await store.purgeExpired?.({ limit: 10 })).toBe(2);
      await endTransaction(other);
      expect(await store.purgeExpired?.({ limit: 10 })).toBe(1);
    });

    it('keeps a row for as long as its owner extends the lease', async () => {
      const { store } = await storeOf();
      const request = { ...aClaim('long'), leaseMs: 60_000, retainMs: 60_000 };
      const { fence } = await store.claim(request);
      await store.extend({ ...request, fence }, { leaseMs: 120_000 });
      expect((await store.inspect?.('long'))?.retainMsLeft).toBeGreaterThan(60_000);
    });
  });
});

describe('postgresStore', () => {
  const client = { pg: { query: () => Promise.reject(new Error('nothing may be sent')) } };

  it.each([
    {},
    undefined,
    null,
    { pg: undefined },
    { pg: {} },
    { postgresJs: 'postgres://' },
    { client: client.pg },
    { ...client, postgresJs: { unsafe: client.pg.query } },
  ])('refuses %j for a client', (wrong) => {
    expect(refusal(() => postgresStore(wrong as unknown as PostgresClient)).message).toBe(
      'invalid_option: postgresStore takes { pg: pool } or { postgresJs: sql }',
    );
  });

  it.each(['', 'a b', 'a"b', 'a;b', '1a', 'A', 'é', 'a.b.c', '.a', 'a.', 'a-b', 'a'.repeat(49)])(
    'refuses %j for a table',
    (table) => {
      expect(refusal(() => postgresStore(client, { table })).message).toContain('table must be a name');
    },
  );

  it.each([0, -1, 1.5, Number.NaN, '1'])('refuses %j for waitMs', (waitMs) => {
    expect(refusal(() => postgresStore(client, { waitMs: waitMs as number })).message).toContain('waitMs must be');
  });

  it('says which number is wrong, before anything is sent', async () => {
    await expectRefusals(postgresStore(client));
  });

  it('gives up on a server that refuses to serialize, after ten tries with longer waits between them', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    let tries = 0;
    const failing = {
      async query(): Promise<never> {
        tries += 1;
        throw Object.assign(new Error('could not serialize access'), { code: '40001' });
      },
    };
    const refused = expect(postgresStore({ pg: failing }).claim(aClaim('a'))).rejects.toMatchObject({ code: '40001' });
    for (let wait = 10; wait <= 90; wait += 10) {
      await vi.advanceTimersByTimeAsync(wait - 1);
      expect(tries).toBe(wait / 10);
      await vi.advanceTimersByTimeAsync(1);
    }
    await refused;
    expect(tries).toBe(10);
  });

  it.each([undefined, null, 'gone'])('passes on what a client fails with: %j', async (reason) => {
    const failing = postgresStore({ pg: { query: () => Promise.reject(reason) } });
    expect(await failing.claim(aClaim('a')).catch((error: unknown) => [error])).toEqual([reason]);
  });

  it.each([
    ['23505', true],
    ['42P07', true],
    ['42710', true],
    ['42501', false],
  ])('takes a table that another process made meanwhile for made: %s, %s', async (code, made) => {
    const query = vi
      .fn<PgClient['query']>()
      .mockResolvedValueOnce({ rows: [], rowCount: 0 })
      .mockRejectedValue({ code });
    const error = await postgresStore({ pg: { query } })
      .init?.()
      .catch((reason: unknown) => reason);
    expect(error).toEqual(made ? undefined : { code });
    expect(query).toHaveBeenCalledTimes(2);
  });

  it('names the index of a table after it, in whatever schema it is', async () => {
    const query = vi.fn<PgClient['query']>(async () => ({ rows: [], rowCount: 0 }));
    await postgresStore({ pg: { query } }, { table: 'hooks.seen' }).init?.();
    expect(query.mock.lastCall?.[0]).toContain('INDEX IF NOT EXISTS "seen_expires_at" ON "hooks"."seen" (');
  });

  it('gives up on a row that is neither free nor held, each time it looks', async () => {
    const query = vi.fn(async () => ({ rows: [], rowCount: 0 }));
    const claim = postgresStore({ pg: { query } }).claim(aClaim('a'));
    await expect(claim).rejects.toThrow('the row of a claim changed 3 times meanwhile');
    expect(query).toHaveBeenCalledTimes(6);
  });

  it('asks once for an event that is new', async () => {
    const query = vi.fn(async () => ({ rows: [], rowCount: 1 }));
    await postgresStore({ pg: { query } }).claim(aClaim('a'));
    expect(query).toHaveBeenCalledTimes(1);
  });
});

function aClaim(key: string): ClaimRequest {
  return { key, token: crypto.randomUUID(), fingerprint: 'f', alias: 'a', leaseMs: 60_000, retainMs: 3_600_000 };
}
