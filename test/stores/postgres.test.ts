import pg from 'pg';
import postgres from 'postgres';
import type { DedupeStore } from 'service-webhooks';
import { type PgClient, type PostgresClient, postgresStore } from 'service-webhooks/stores/postgres';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { rejection } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { poolOf, startPostgres, startProxy } from '../support/postgres.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses } from './requests.js';

const server = await startPostgres();
afterAll(() => server?.stop());

describe.runIf(server)('postgresStore', () => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};
  const rows = async (query: string, values?: unknown[]) => (await admin.query(query, values)).rows;
  const row = async (table: string, key: string) => (await rows(`SELECT * FROM ${table} WHERE key = $1`, [key]))[0];
  const indexesOf = async (table: string) =>
    (await rows('SELECT FROM pg_index WHERE indrelid = to_regclass($1)', [table])).length;

  function open(options: pg.PoolConfig = {}, at = url): pg.Pool {
    const pool = poolOf(at, options);
    onTestFinished(() => pool.end());
    return pool;
  }

  function openPostgresJs(options: Parameters<typeof postgres>[1] = {}, at = url): postgres.Sql {
    const sql = postgres(at, { max: 6, onnotice() {}, ...options });
    onTestFinished(() => sql.end({ timeout: 1 }));
    return sql;
  }

  const openAs = (library: 'pg' | 'postgresJs', at = url): PostgresClient =>
    library === 'pg' ? { pg: open({}, at) } : { postgresJs: openPostgresJs({}, at) };

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

  /** A transaction that holds what its statement has locked until it is ended, at the latest with the test. */
  async function openTransaction(statement: string): Promise<pg.Client> {
    const client = new pg.Client(url);
    onTestFinished(() => client.end());
    await client.connect();
    await client.query('BEGIN');
    await client.query(statement);
    return client;
  }

  /** A store on a table that is there, as a role without the right to create or change one. */
  async function storeOfRole(table: string, right = 'SELECT') {
    const role = `${schema}_receiver`;
    await admin.query(`CREATE ROLE ${role}`);
    onTestFinished(async () => void (await admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`)));
    await admin.query(`GRANT USAGE ON SCHEMA ${schema} TO ${role}; GRANT ${right} ON ${table} TO ${role}`);
    const pool = open({ options: `-c role=${role}` });
    return (name = table) => postgresStore({ pg: pool }, { table: name });
  }

  const refusalOfInit = (store: DedupeStore) => rejection(store.init?.() as Promise<void>);

  describe('init', () => {
    it('sixteen processes that start at once create one table', async () => {
      const pools = Array.from({ length: 16 }, () => open({ max: 1 }));
      await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
      for (let round = 0; round < 10; round += 1) {
        const table = newTable();
        await Promise.all(pools.map((pool) => postgresStore({ pg: pool }, { table }).init?.()));
        expect([await rows(`SELECT FROM ${table}`), await indexesOf(table)]).toEqual([[], 2]);
      }
    });

    it('a second call keeps the rows', async () => {
      const { store } = await storeOf();
      await store.claim(aClaim('kept'));
      await store.init?.();
      expect(await store.inspect?.('kept')).toMatchObject({ state: 'in_progress' });
    });

    it('a role without the right to create tables uses one that is there', async () => {
      const { table } = await storeOf();
      const storeIn = await storeOfRole(table, 'SELECT, INSERT, UPDATE, DELETE');
      await storeIn().init?.();
      expect(await storeIn().claim(aClaim())).toMatchObject({ status: 'acquired' });
      const refused = await refusalOfInit(storeIn(`${table}_new`));
      expect(refused).toMatchObject({ code: 'store_unavailable', cause: { code: '42501' } });
      expect(refused.message).toContain('does not exist, and this role may not change it');
      expect(refused.hint).toContain('npx service-webhooks-cli migrations print --postgres');
    });

    it('the table of the jobs is created by their own init alone', async () => {
      const table = `${schema}.${'t'.repeat(48)}`;
      const store = postgresStore({ pg: open() }, { table });
      await store.init?.();
      const isThere = async () => (await rows(`SELECT to_regclass('${table}_jobs') IS NOT NULL AS there`))[0].there;
      expect(await isThere()).toBe(false);
      await Promise.all([store.jobs?.init?.(), store.jobs?.init?.()]);
      expect([await isThere(), await indexesOf(`${table}_jobs`)]).toEqual([true, 3]);
      const storeIn = await storeOfRole(table, 'SELECT');
      const refused = await rejection(storeIn(`${table.slice(0, -1)}s`).jobs?.init?.() as Promise<void>);
      expect(refused).toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('ts_jobs" does not'),
      });
    });

    it('a missing schema is an error until it is created', async () => {
      const store = postgresStore({ pg: open() }, { table: `${schema}_later.deliveries` });
      await expect(store.init?.()).rejects.toMatchObject({ code: '3F000' });
      await admin.query(`CREATE SCHEMA ${schema}_later`);
      onTestFinished(async () => void (await admin.query(`DROP SCHEMA ${schema}_later CASCADE`)));
      await store.init?.();
      expect(await store.claim(aClaim('a'))).toMatchObject({ status: 'acquired' });
    });

    it('a table without a version is brought up to date and keeps its rows', async () => {
      const table = newTable();
      await admin.query(
        `CREATE TABLE ${table} (key text COLLATE "C" PRIMARY KEY, state text NOT NULL, owner text, fence bigint NOT NULL,
         attempt integer NOT NULL, lease_until timestamptz, fingerprint text NOT NULL, alias text,
         expires_at timestamptz NOT NULL)`,
      );
      await admin.query(
        `INSERT INTO ${table} VALUES ('old', 'released', NULL, 3, 3, NULL, 'f', NULL, now() + interval '1 day')`,
      );
      const store = postgresStore({ pg: open() }, { table });
      await store.init?.();
      const claimed = await store.claim(aClaim('old'));
      expect(claimed).toMatchObject({ status: 'acquired', attempt: 4 });
      expect(claimed.fence).toBeGreaterThan(3);
      expect(await indexesOf(table)).toBe(2);
      expect(await rows('SELECT reloptions FROM pg_class WHERE oid = to_regclass($1)', [table])).toEqual([
        { reloptions: ['fillfactor=80'] },
      ]);
    });

    it('an error names the version of an older table that the role may not change', async () => {
      const { table } = await storeOf();
      await admin.query(`COMMENT ON TABLE ${table} IS 'service-webhooks schema 0'`);
      const refused = await refusalOfInit((await storeOfRole(table))());
      expect(refused.message).toContain('has version 0 of 1, and this role may not change it');
    });

    it('a table that is up to date is not changed', async () => {
      const { table } = await storeOf();
      const sent: string[] = [];
      const pool = open();
      const recording: PgClient = {
        query(text, values) {
          sent.push(text);
          return pool.query(text, values);
        },
      };
      await postgresStore({ pg: recording }, { table }).init?.();
      expect(sent).toEqual([expect.stringMatching(/^SELECT /)]);
    });
  });

  describe('the writes of a store', () => {
    it('claims, extends, completes and releases are heap-only updates', async () => {
      const pool = poolOf(url);
      const { store, table } = await storeOf({ pg: pool });
      for (let i = 0; i < 200; i += 1) {
        const request = { ...aClaim(`evt_${i}`), retainMs: 259_200_000 };
        const { fence } = await store.claim(request);
        if (i % 2 === 0) {
          await store.release({ ...request, fence });
          await store.claim(request);
        }
        await store.extend({ ...request, fence }, request);
        expect(await store.complete({ ...request, fence }, request)).toBe('ok');
      }
      // A connection reports the last of its counts when it ends.
      await pool.end();
      await vi.waitFor(async () => {
        const counts = 'n_tup_ins::int AS inserts, n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot';
        expect(await rows(`SELECT ${counts} FROM pg_stat_all_tables WHERE relid = to_regclass($1)`, [table])).toEqual([
          { inserts: 200, updates: 600, hot: 600 },
        ]);
      }, PATIENTLY);
    });

    it('the retention counts from the completion where the claim is more than 1 % older', async () => {
      const { store, table } = await storeOf();
      const request = aClaim('slow');
      const { fence } = await store.claim(request);
      await admin.query(`UPDATE ${table} SET expires_at = expires_at - interval '37 seconds'`);
      await store.complete({ ...request, fence }, request);
      expect((await store.inspect?.('slow'))?.retainMsLeft).toBeGreaterThan(3_590_000);
    });

    it.each([35_000, 1_000])(
      'an end of retention that is %d ms early, of an hour, is not written again',
      async (ms) => {
        const { store, table } = await storeOf();
        const request = aClaim('quick');
        const { fence } = await store.claim(request);
        await admin.query(`UPDATE ${table} SET expires_at = expires_at - interval '${ms} ms'`);
        const before = (await row(table, 'quick')).expires_at;
        await store.complete({ ...request, fence }, request);
        expect((await row(table, 'quick')).expires_at).toEqual(before);
      },
    );
  });

  it('the newest 1,000 reports of an endpoint are kept, as are its events', async () => {
    const { store, table } = await storeOf();
    await store.claim(aClaim('clips:evt_1'));
    await store.saveReport?.({ name: 'clip', instance: 'other', text: '{}', ttlMs: 60_000 });
    await admin.query(
      `INSERT INTO ${table} SELECT ':clips:' || i, 'report', NULL, 0, 0, NULL, '{}', NULL, now() + i * interval '1 ms'
         FROM generate_series(1, 1100) AS i`,
    );
    await store.saveReport?.({ name: 'clips', instance: 'one', text: '"one"', ttlMs: 60_000 });
    expect(await rows(`SELECT state, count(*)::int FROM ${table} GROUP BY state ORDER BY state`)).toEqual([
      { state: 'in_progress', count: 1 },
      { state: 'report', count: 1_001 },
    ]);
  });

  it.each([
    "'); DROP TABLE x; --",
    "\\'; SELECT 1; --",
    '$1 ? :name @x %s {0}',
    '"quoted" `ticks`',
    'ä € 😀',
    'line\nbreak\r\ttab',
  ])('the text %j is returned unchanged, also without standard_conforming_strings', async (text) => {
    for (const options of ['', '-c standard_conforming_strings=off -c escape_string_warning=off']) {
      const { store } = await storeOf({ pg: open({ options }) });
      const seen = { fingerprint: text, alias: text };
      const request = aClaim(`k${text}`, { token: text, ...seen });
      expect(await store.claim(request)).toMatchObject({ status: 'acquired', seen });
      expect(await store.claim({ ...request, token: `${text}2` })).toMatchObject({ status: 'in_progress', seen });
      expect(await store.complete({ ...request, fence: 1 }, request)).toBe('ok');
      expect(await store.inspect?.(request.key)).toMatchObject({ state: 'completed', fingerprint: text });
    }
  });

  it('a fence goes on from the last one where the clock of the server is behind it', async () => {
    const { store, table } = await storeOf();
    const request = aClaim('ahead');
    await store.claim(request);
    const ahead = (Date.now() + 3_600_000) * 1_000;
    await admin.query(`UPDATE ${table} SET fence = ${ahead}`);
    await store.forget?.('ahead');
    expect(await store.purgeExpired?.({ limit: 10 })).toBe(0);
    expect(await store.claim(aClaim('ahead'))).toMatchObject({ status: 'acquired', fence: ahead + 1, attempt: 1 });
  });

  describe('a locked row', () => {
    it.each(['pg', 'postgresJs'] as const)(
      'a call over %s rejects after waitMs, also where the table is locked',
      async (library) => {
        const { store, table } = await storeOf(openAs(library), { waitMs: 20 });
        const request = aClaim('locked');
        const ref = { ...request, fence: (await store.claim(request)).fence };
        const writes = [
          () => store.claim(request),
          () => store.extend(ref, request),
          () => store.complete(ref, request),
          () => store.release(ref),
        ];
        const others = [
          () => store.claim(aClaim()),
          () => store.inspect?.('locked'),
          () => store.forget?.('locked'),
          () => store.purgeExpired?.({ limit: 1 }),
        ];
        for (const [lock, calls] of [
          [`SELECT FROM ${table} FOR UPDATE`, writes],
          [`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`, [...writes, ...others]],
        ] as const) {
          const other = await openTransaction(lock);
          for (const call of calls) await expect(call()).rejects.toMatchObject({ code: '55P03' });
          expect(await blockedBackends(table)).toBe(0);
          await other.query('ROLLBACK');
        }
        expect(await store.complete(ref, request)).toBe('ok');
      },
    );

    it('a release that waits while another owner takes the event is lost', async () => {
      const { store, table } = await storeOf(undefined, { waitMs: 30_000 });
      const claim = { ...aClaim('k'), retainMs: 2_000, leaseMs: 1 };
      await store.claim(claim);
      const rival = await openTransaction(
        `UPDATE ${table} SET owner = 'rival', fence = fence + 1, lease_until = now() + interval '1 h',
       expires_at = now() + interval '1 h'`,
      );
      const releasing = store.release({ ...claim, fence: 1 });
      const hasExpired = `SELECT FROM ${table} WHERE expires_at < clock_timestamp()`;
      while ((await rows(hasExpired)).length === 0);
      await rival.query('COMMIT');
      expect(await releasing).toBe('lost');
    });

    it('a call rejects after waitMs while an insert of the key is not committed', async () => {
      const { store, table } = await storeOf(undefined, { waitMs: 20 });
      const other = await openTransaction(
        `INSERT INTO ${table} VALUES ('new', 'released', NULL, 1, 1, NULL, 'f', NULL, now() + interval '1 day')`,
      );
      const ref = { ...aClaim('new'), fence: 1 };
      await expect(store.claim(ref)).rejects.toMatchObject({ code: '55P03' });
      await expect(store.complete(ref, ref)).rejects.toMatchObject({ code: '55P03' });
      await other.query('ROLLBACK');
      expect(await store.claim(ref)).toMatchObject({ status: 'acquired', attempt: 1 });
    });

    it('a claim of a held or completed event does not wait', async () => {
      const { store, table } = await storeOf();
      const [held, done] = [aClaim('held'), aClaim('done')];
      await store.claim(held);
      const { fence } = await store.claim(done);
      await store.complete({ ...done, fence }, done);
      const other = await openTransaction(`SELECT FROM ${table} FOR UPDATE`);
      expect(await store.claim(aClaim('held'))).toMatchObject({ status: 'in_progress' });
      expect(await store.claim(aClaim('done'))).toMatchObject({ status: 'completed' });
      await other.query('ROLLBACK');
    });

    const blockedBackends = async (table: string) =>
      (
        await rows(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`, [
          table.split('.')[1],
        ])
      ).length;
  });

  describe('the sessions of a pool', () => {
    it('no setting, prepared statement, lock or transaction is left behind', async () => {
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

    it('each statement may go to another one', async () => {
      const clients = Array.from({ length: 3 }, () => new pg.Client(url));
      await Promise.all(clients.map((client) => client.connect()));
      onTestFinished(async () => void (await Promise.all(clients.map((client) => client.end()))));
      let sent = 0;
      const query: PgClient['query'] = (text, values) => {
        sent += 1;
        return (clients[sent % clients.length] as pg.Client).query(text, values);
      };
      await expectEveryAnswer((await storeOf({ pg: { query } })).store);
      expect(sent).toBeGreaterThan(12);
    });
  });

  it('rows are read from clients that convert names, numbers and dates', async () => {
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
    'a store finds its claim and its completion after their replies to %s were lost',
    async (library) => {
      const proxy = await startProxy(url);
      onTestFinished(() => proxy.stop());
      const { store, table } = await storeOf(openAs(library, proxy.url));
      const request = aClaim('lost');
      proxy.loseNextReply();
      await expect(store.claim(request)).rejects.toThrow();
      expect(await row(table, 'lost')).toMatchObject({ state: 'in_progress', owner: request.token });
      const again = await store.claim(request);
      expect(again).toMatchObject({ status: 'acquired', attempt: 1 });
      const ref = { ...request, fence: again.fence };
      proxy.loseNextReply();
      await expect(store.complete(ref, request)).rejects.toThrow();
      expect(await row(table, 'lost')).toMatchObject({ state: 'completed' });
      expect(await store.complete(ref, request)).toBe('ok');
    },
  );

  it('a claim of an expired row that was not purged is remembered as new', async () => {
    const { store, table } = await storeOf();
    await store.claim(aClaim('expired'));
    await admin.query(`UPDATE ${table} SET expires_at = clock_timestamp()`);
    const seen = { fingerprint: 'other', alias: 'other' };
    const answer = await store.claim(aClaim('expired', seen));
    expect(answer).toEqual({ status: 'acquired', fence: expect.any(Number), attempt: 1, seen });
  });

  describe('purgeExpired', () => {
    const insertCompleted = (table: string, count: number, end: string) =>
      admin.query(
        `INSERT INTO ${table} SELECT gen_random_uuid(), 'completed', 't', 1, 1, NULL, 'f', NULL, ${end}
         FROM generate_series(1, ${count})`,
      );

    it('two processes purge at once, in batches, and remove expired rows only', async () => {
      const table = newTable();
      const [one, two] = [openAs('pg'), openAs('postgresJs')].map((client) => postgresStore(client, { table }));
      await one?.init?.();
      await insertCompleted(table, 1_000, 'now()');
      await insertCompleted(table, 10, "now() + interval '1 day'");
      const removed: number[] = [];
      const purge = async (store = one) => {
        for (let count = 1; count > 0; removed.push(count)) count = (await store?.purgeExpired?.({ limit: 30 })) ?? 0;
      };
      await Promise.all([purge(one), purge(two)]);
      expect(removed.reduce((sum, count) => sum + count)).toBe(1_000);
      expect(Math.max(...removed)).toBe(30);
      expect(await rows(`SELECT FROM ${table}`)).toHaveLength(10);
    });

    it('a locked row is skipped until its transaction ends', async () => {
      const { store, table } = await storeOf();
      await insertCompleted(table, 3, 'now()');
      const other = await openTransaction(`SELECT FROM ${table} LIMIT 1 FOR UPDATE`);
      expect(await store.purgeExpired?.({ limit: 10 })).toBe(2);
      await other.query('ROLLBACK');
      expect(await store.purgeExpired?.({ limit: 10 })).toBe(1);
    });
  });
});

describe('postgresStore', () => {
  const client = { pg: { query: () => Promise.reject(new Error('nothing may be sent')) } };

  const takes = 'postgresStore takes { pg: pool } or { postgresJs: sql }';
  const wrongClients = [{}, undefined, null, { pg: undefined }, { pg: {} }, { postgresJs: 'postgres://' }];
  const wrongTables = ['', 'a b', 'a"b', 'a;b', '1a', 'A', 'é', 'a.b.c', '.a', 'a.', 'a-b', 'a'.repeat(49)];
  itRefuses(postgresStore, [
    ...wrongClients.map((wrong) => [wrong, {}, takes] as const),
    [{ ...client, postgresJs: { unsafe: client.pg.query } }, {}, takes],
    [{ client: client.pg }, {}, "nknown option 'client' in the client of postgresStore"],
    [{ postgresjs: {} }, {}, "id you mean 'postgresJs'?"],
    ...wrongTables.map((table) => [client, { table }, 'table must be a name'] as const),
    ...[0, -1, 1.5, Number.NaN, '1'].map((waitMs) => [client, { waitMs }, 'waitMs must be'] as const),
    [client, { waitMS: 5 }, "nknown option 'waitMS' in postgresStore"],
    [client, { waitMS: 5 }, "id you mean 'waitMs'?"],
  ]);

  it('an error names the wrong number, before anything is sent', async () => {
    await expectRefusals(postgresStore(client));
  });

  it('a claim is tried ten times on a server that refuses to serialize', async () => {
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

  it.each([undefined, null, 'gone'])('a store rejects with the error of the client: %j', async (reason) => {
    const failing = postgresStore({ pg: { query: () => Promise.reject(reason) } });
    expect(await failing.claim(aClaim('a')).catch((error: unknown) => [error])).toEqual([reason]);
  });

  it.each([
    ['23505', true],
    ['42P07', true],
    ['42710', true],
    ['42501', false],
  ])('the error %s of init counts as a table that another process has created: %s', async (code, made) => {
    const failure = { code };
    const query = vi.fn<PgClient['query']>().mockResolvedValueOnce({ rows: [] }).mockRejectedValueOnce(failure);
    query.mockResolvedValue({ rows: [] });
    const error = await postgresStore({ pg: { query } })
      .init?.()
      .catch((reason: unknown) => reason);
    if (made) expect(error).toBeUndefined();
    else expect(error).toMatchObject({ code: 'store_unavailable', cause: failure });
  });

  it('the index is named after its table, without the schema', async () => {
    const query = vi.fn<PgClient['query']>(async () => ({ rows: [] }));
    await postgresStore({ pg: { query } }, { table: 'hooks.seen' }).init?.();
    expect(query.mock.calls.join('\n')).toContain('INDEX IF NOT EXISTS "seen_expires_at" ON "hooks"."seen" (');
  });

  it('a claim of a row that is neither free nor held fails after three changes', async () => {
    const query = vi.fn(async () => ({ rows: [] }));
    const claim = postgresStore({ pg: { query } }).claim(aClaim('a'));
    await expect(claim).rejects.toThrow('the row changed 3 times during one claim');
    expect(query).toHaveBeenCalledTimes(6);
  });

  it('a claim of a new event is one statement', async () => {
    const query = vi.fn(async () => ({ rows: [{ fence: '1' }] }));
    await postgresStore({ pg: { query } }).claim(aClaim('a'));
    expect(query).toHaveBeenCalledTimes(1);
  });
});
