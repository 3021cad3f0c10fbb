import type { Pool, PoolConnection, PoolOptions, RowDataPacket } from 'mysql2/promise';
import type { DedupeStore } from 'service-webhooks';
import { type Mysql2Connection, type MysqlClient, mysqlStore } from 'service-webhooks/stores/mysql';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { rejection } from '../support/deliveries.js';
import { isolation, killConnections, poolOf, startMysql, startPrivateMysql, untilBlocked } from '../support/mysql.js';
import { PATIENTLY } from '../support/patiently.js';
import { startProxyOf } from '../support/tcp-proxy.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses } from './requests.js';

const server = await startMysql();
afterAll(() => server?.stop());

describe.runIf(server)('mysqlStore', () => {
  const { url = '', database = '', version = '', admin = poolOf('mysql://127.0.0.1') } = server ?? {};
  const isMariadb = version.includes('MariaDB');

  const rows = async (sql: string, values?: unknown[]) => (await admin.query<RowDataPacket[]>(sql, values))[0];
  const row = async (table: string, key: string) => {
    const [found] = await rows(`SELECT state, CAST(owner AS CHAR) AS owner FROM ${table} WHERE \`key\` = ?`, [key]);
    return found;
  };

  function open(options: PoolOptions = {}, session: readonly string[] = [], at = url): Pool {
    const pool = poolOf(at, options, session);
    onTestFinished(() => pool.end());
    return pool;
  }

  async function storeOf(client: MysqlClient = { mysql2: open() }) {
    const table = newTable();
    const store = mysqlStore(client, { table });
    await store.init?.();
    return { store, table };
  }

  let tables = 0;
  function newTable(): string {
    tables += 1;
    return `${database}.t${tables}`;
  }

  /** A transaction that holds what its statements have locked until it is ended, at the latest with the test. */
  async function openTransaction(...statements: string[]): Promise<PoolConnection> {
    const connection = await open({ connectionLimit: 1 }).getConnection();
    await connection.query('START TRANSACTION');
    for (const statement of statements) await connection.query(statement);
    return connection;
  }

  /** A store on tables of this database, as a user with these rights alone. */
  async function storeOfUser(table: string, rights: string) {
    const user = `u${crypto.randomUUID().slice(0, 8)}`;
    await admin.query(`CREATE USER ${user}@'%' IDENTIFIED BY 'secret'`);
    onTestFinished(async () => void (await admin.query(`DROP USER ${user}@'%'`)));
    await admin.query(`GRANT ${rights} ON ${table} TO ${user}@'%'`);
    const at = Object.assign(new URL(url), { username: user, password: 'secret' }).href;
    const pool = open({}, [], at);
    return (name = table) => mysqlStore({ mysql2: pool }, { table: name });
  }

  const refusalOfInit = (store: DedupeStore) => rejection(store.init?.() as Promise<void>);

  describe('init', () => {
    it('sixteen processes that start at once create one table', async () => {
      const pools = Array.from({ length: 16 }, () => open({ connectionLimit: 1 }));
      await Promise.all(pools.map((pool) => pool.query('SELECT 1')));
      for (let round = 0; round < 5; round += 1) {
        const table = newTable();
        await Promise.all(pools.map((pool) => mysqlStore({ mysql2: pool }, { table }).init?.()));
        expect(await rows(`SELECT * FROM ${table}`)).toEqual([]);
      }
    });

    it('a second call keeps the rows', async () => {
      const { store } = await storeOf();
      await store.claim(aClaim('kept'));
      await store.init?.();
      expect(await store.inspect?.('kept')).toMatchObject({ state: 'in_progress' });
    });

    it('a user without the right to create tables uses one that is there', async () => {
      const { table } = await storeOf();
      const storeIn = await storeOfUser(table, 'SELECT, INSERT, UPDATE, DELETE');
      await storeIn().init?.();
      expect(await storeIn().claim(aClaim())).toMatchObject({ status: 'acquired' });
      const refused = await refusalOfInit(storeIn(`${table}_new`));
      expect(refused).toMatchObject({ code: 'store_unavailable', cause: { errno: 1142 } });
      expect(refused.message).toContain('does not exist, and this user may not change it');
      expect(refused.hint).toContain('npx service-webhooks-cli migrations print --mysql');
      await admin.query(`ALTER TABLE ${table} COMMENT = 'service-webhooks schema 0'`);
      const older = await refusalOfInit(storeIn());
      expect(older.message).toContain('has version 0 of 1, and this user may not change it');
    });

    it('a table of an engine without transactions and a view are refused', async () => {
      const { table } = await storeOf();
      await admin.query(`ALTER TABLE ${table} ENGINE = MyISAM`);
      const store = mysqlStore({ mysql2: open() }, { table });
      expect(await refusalOfInit(store)).toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('is of the engine MyISAM, and must be of InnoDB'),
        hint: expect.stringContaining('ENGINE = InnoDB'),
      });
      await admin.query(`ALTER TABLE ${table} ENGINE = InnoDB`);
      await store.init?.();
      await admin.query(`CREATE VIEW ${table}_view AS SELECT * FROM ${table}`);
      const refused = await refusalOfInit(mysqlStore({ mysql2: open() }, { table: `${table}_view` }));
      expect(refused.message).toContain('is a view, and must be of InnoDB');
    });

    it('the table of the jobs is created by their own init alone', async () => {
      const name = 't'.repeat(59);
      const store = mysqlStore({ mysql2: open() }, { table: name });
      await store.init?.();
      const isThere = async () => (await rows(`SHOW TABLES LIKE '${name}_jobs'`)).length === 1;
      expect(await isThere()).toBe(false);
      await Promise.all([store.jobs?.init?.(), store.jobs?.init?.()]);
      expect(await isThere()).toBe(true);
    });

    it('a missing database is an error until it is created', async () => {
      const later = `${database}_later`;
      const store = mysqlStore({ mysql2: open() }, { table: `${later}.deliveries` });
      await expect(store.init?.()).rejects.toMatchObject({ errno: 1049 });
      await admin.query(`CREATE DATABASE ${later}`);
      onTestFinished(async () => void (await admin.query(`DROP DATABASE ${later}`)));
      await store.init?.();
      expect(await store.claim(aClaim('a'))).toMatchObject({ status: 'acquired' });
    });

    it('a table that is up to date is not changed', async () => {
      const { table } = await storeOf();
      const sent: string[] = [];
      await mysqlStore({ mysql2: recording(open(), sent) }, { table }).init?.();
      expect(sent.filter((sql) => !sql.startsWith('SELECT '))).toEqual([]);
    });
  });

  /** A pool that writes down what is sent. */
  const recording = (pool: Pool, sent: string[]) => watched(pool, (sql) => sent.push(sql));

  /** A pool that calls this before each statement. */
  function watched(pool: Pool, before: (sql: string) => unknown): MysqlClient['mysql2'] {
    return {
      async getConnection() {
        const connection = await pool.getConnection();
        const query: Mysql2Connection['query'] = async (options) => {
          await before(options.sql);
          return connection.query(options as never);
        };
        return { query, release: () => connection.release(), destroy: () => connection.destroy() };
      },
    };
  }

  it('a claim of a new event is one statement, and leaves no transaction', async () => {
    const { store, table } = await storeOf();
    await store.claim(aClaim());
    const sent: string[] = [];
    const pool = open({ connectionLimit: 1 });
    const recorded = mysqlStore({ mysql2: recording(pool, sent) }, { table });
    await recorded.claim(aClaim());
    expect(sent).toEqual([expect.stringMatching(/^INSERT /)]);
    await expectEveryAnswer(recorded);
    const [[own]] = await pool.query<RowDataPacket[]>(
      `SELECT @@autocommit AS alone, (
         SELECT COUNT(*) FROM information_schema.INNODB_TRX WHERE trx_mysql_thread_id = CONNECTION_ID()
       ) AS open`,
    );
    expect(own).toEqual({ alone: 1, open: 0 });
  });

  const strange = {
    rowsAsArray: true,
    namedPlaceholders: true,
    supportBigNumbers: true,
    bigNumberStrings: true,
    decimalNumbers: true,
    dateStrings: true,
    timezone: '+05:00',
    nestTables: true,
    typeCast: () => 'cast',
  };
  it.each<[string, PoolOptions, string[]]>([
    ['the settings of the driver are strange', strange as PoolOptions, []],
    ['an update counts changed rows', { flags: ['-FOUND_ROWS'] }, []],
    ['the connection has another character set', { charset: 'latin1_swedish_ci' }, []],
    ['the connection has another time zone', {}, ["SET time_zone = '+13:00'"]],
    ['autocommit is off', {}, ['SET autocommit = 0', isolation('SERIALIZABLE')]],
    ['rows that were read before are in an old snapshot', {}, ['SET autocommit = 0', isolation('REPEATABLE READ')]],
    ['updates need keys', {}, ['SET sql_safe_updates = 1']],
    ['the SQL mode is empty', {}, ["SET sql_mode = ''"]],
    [
      'the SQL mode has other quotes and operators',
      {},
      ["SET sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,HIGH_NOT_PRECEDENCE,IGNORE_SPACE'"],
    ],
    ...(isMariadb
      ? ['ORACLE', 'MSSQL', 'SIMULTANEOUS_ASSIGNMENT', 'EMPTY_STRING_IS_NULL,STRICT_ALL_TABLES'].map(
          (mode): [string, PoolOptions, string[]] => [`the SQL mode is ${mode}`, {}, [`SET sql_mode = '${mode}'`]],
        )
      : []),
  ])('every answer and every text is right where %s', async (_, options, session) => {
    const { store } = await storeOf({ mysql2: open(options, session) });
    await expectEveryAnswer(store);
    expect(store.scope).toBe('shared');
    for (const text of [
      "'); DROP TABLE x; --",
      "\\'; SELECT 1; --",
      '$1 ? :name @x {0} "q" `t`',
      'ä € 😀',
      'a\n\r\t\0',
      '',
    ]) {
      const seen = { fingerprint: text, alias: text };
      const request = aClaim(`k${text}`, { token: `t${text}`, ...seen });
      expect(await store.claim(request)).toMatchObject({ status: 'acquired', seen });
      expect(await store.claim({ ...request, token: `t${text} ` })).toMatchObject({ status: 'in_progress', seen });
      expect(await store.claim({ ...request, key: `k${text} ` })).toMatchObject({ status: 'acquired', attempt: 1 });
      expect(await store.complete({ ...request, fence: 1 }, request)).toBe('ok');
      expect(await store.inspect?.(request.key)).toMatchObject({ state: 'completed', fingerprint: text });
    }
    await store.jobs?.init?.();
    const record = { key: 'job', version: 'v1', text: '{"note":"ä 😀 \'"}', dueAt: 5 };
    expect(await store.jobs?.write(record, undefined)).toBe(true);
    expect(await store.jobs?.write({ ...record, version: 'v2' }, 'v0')).toBe(false);
    expect(await store.jobs?.list({ limit: 5, overdue: true })).toEqual([record]);
    expect(await store.jobs?.count()).toMatchObject({ open: 1, overdue: 1, firstDueAt: 5 });
  });

  it('a text that a server would cut is refused before it is sent', async () => {
    const { store } = await storeOf({ mysql2: open({}, ["SET sql_mode = ''"]) });
    await store.claim(aClaim('k'.repeat(255)));
    expect(await rejection(store.claim(aClaim('k'.repeat(256))))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('key must have at most 255 bytes'),
    });
    expect((await rejection(store.claim(aClaim('é'.repeat(128))))).message).toContain('key must have');
    expect((await rejection(store.claim(aClaim('a', { token: 't'.repeat(256) })))).message).toContain('token must');
    const fingerprint = 'f'.repeat(65_536);
    expect((await rejection(store.claim(aClaim('a', { fingerprint })))).message).toContain('fingerprint must');
  });

  it('the newest 1,000 reports of an endpoint are kept, as are its events', async () => {
    const { store, table } = await storeOf();
    await store.claim(aClaim('clips:evt_1'));
    await store.saveReport?.({ name: 'clip', instance: 'other', text: '{}', ttlMs: 60_000 });
    const values = Array.from({ length: 1_100 }, (_, i) => [`:clips:${i}`, 'report', 0, 0, '{}', 1e15 * 9 + i]);
    await admin.query(`INSERT INTO ${table} (\`key\`, state, fence, attempt, fingerprint, expires_at) VALUES ?`, [
      values,
    ]);
    await store.saveReport?.({ name: 'clips', instance: 'one', text: '"one"', ttlMs: 1e13 });
    expect(await rows(`SELECT state, COUNT(*) AS count FROM ${table} GROUP BY state ORDER BY state`)).toEqual([
      { state: 'in_progress', count: 1 },
      { state: 'report', count: 1_001 },
    ]);
    expect(await store.loadReports?.('clips')).toContain('"one"');
  });

  it('a row that is no row of a store is an error, and stays', async () => {
    const { store, table } = await storeOf();
    const { key } = aClaim();
    const ref = { ...aClaim(key), fence: 1 };
    await admin.query(`INSERT INTO ${table} VALUES (?, 'other', NULL, 1, 1, NULL, 'f', NULL, 9000000000000000)`, [key]);
    for (const call of [
      () => store.claim(ref),
      () => store.complete(ref, ref),
      () => store.release(ref),
      () => store.inspect?.(key),
    ]) {
      await expect(call()).rejects.toThrow("not a row of mysqlStore: its state is 'other'");
    }
    expect(await store.extend(ref, ref)).toBe('lost');
    expect(await row(table, key)).toMatchObject({ state: 'other', owner: null });
  });

  it('a fence goes on from the last one where the clock of the server is behind it', async () => {
    const { store, table } = await storeOf();
    await store.claim(aClaim('ahead'));
    const ahead = (Date.now() + 3_600_000) * 1_000;
    await admin.query(`UPDATE ${table} SET fence = ${ahead}`);
    await store.forget?.('ahead');
    expect(await store.purgeExpired?.({ limit: 10 })).toBe(0);
    expect(await store.claim(aClaim('ahead'))).toMatchObject({ status: 'acquired', fence: ahead + 1, attempt: 1 });
  });

  it('an end of retention that is less than 1 % early is not written again, and an earlier one is', async () => {
    const { store, table } = await storeOf();
    const request = aClaim('a');
    const ref = { ...request, fence: (await store.claim(request)).fence };
    const end = async () => (await rows(`SELECT expires_at AS end FROM ${table}`))[0]?.['end'];
    await admin.query(`UPDATE ${table} SET expires_at = expires_at - 30 * 1000000`);
    const before = await end();
    await store.complete(ref, request);
    expect(await end()).toBe(before);
    await admin.query(`UPDATE ${table} SET expires_at = expires_at - 10 * 1000000`);
    await store.complete(ref, request);
    expect(await end()).toBeGreaterThan(before);
  });

  describe('a locked row', () => {
    it('a call rejects after innodb_lock_wait_timeout, and a read does not wait', async () => {
      const { store, table } = await storeOf({ mysql2: open({}, ['SET innodb_lock_wait_timeout = 1']) });
      const request = aClaim('locked');
      const ref = { ...request, fence: (await store.claim(request)).fence };
      const other = await openTransaction(`SELECT * FROM ${table} FOR UPDATE`);
      const calls = [
        store.claim(request),
        store.extend(ref, request),
        store.complete(ref, request),
        store.release(ref),
      ];
      const ended = await Promise.allSettled(calls);
      expect(ended).toEqual(
        ended.map(() => ({ status: 'rejected', reason: expect.objectContaining({ errno: 1205 }) })),
      );
      expect(await store.inspect?.('locked')).toMatchObject({ state: 'in_progress' });
      await other.query('ROLLBACK');
      expect(await store.complete(ref, request)).toBe('ok');
    });

    it('the victim of a deadlock is tried again and gets the right answer', async () => {
      const { store, table } = await storeOf();
      await store.claim(aClaim('k', { leaseMs: 1 }));
      // With so many rows of its own, the server spares the other transaction.
      await admin.query(`CREATE TABLE ${table}_heavy (id int)`);
      const heavy = `INSERT INTO ${table}_heavy VALUES ${Array.from({ length: 500 }, (_, i) => `(${i})`)}`;
      const other = await openTransaction(heavy, `SELECT * FROM ${table} WHERE \`key\` = 'k' LOCK IN SHARE MODE`);
      const claiming = store.claim(aClaim('k'));
      await untilBlocked(admin);
      await other.query(`UPDATE ${table} SET attempt = 7 WHERE \`key\` = 'k'`);
      await other.query('COMMIT');
      expect(await claiming).toMatchObject({ status: 'acquired', attempt: 8 });
    });

    it('a call whose connection is killed rejects, and the next one gets the right answer', async () => {
      const pool = open();
      const { store, table } = await storeOf({ mysql2: pool });
      const request = aClaim('k');
      await store.claim(request);
      const other = await openTransaction(`SELECT * FROM ${table} FOR UPDATE`);
      const releasing = store.release({ ...request, fence: 1 });
      const refused = expect(releasing).rejects.toThrow();
      await untilBlocked(admin, 'UPDATE %');
      await killConnections(admin, pool);
      await refused;
      await other.query('ROLLBACK');
      expect(await store.release({ ...request, fence: 1 })).toBe('ok');
    });

    it('a claim that waits while an insert of the key is undone acquires it', async () => {
      const { store, table } = await storeOf();
      const other = await openTransaction(
        `INSERT INTO ${table} VALUES ('new', 'completed', NULL, 1, 1, NULL, 'f', NULL, 9000000000000000)`,
      );
      const claiming = store.claim(aClaim('new'));
      await untilBlocked(admin);
      await other.query('ROLLBACK');
      expect(await claiming).toMatchObject({ status: 'acquired', attempt: 1 });
    });
  });

  it('a store finds its claim and its completion after their replies were lost', async () => {
    const { proxy, url: through } = await startProxyOf(url);
    onTestFinished(() => proxy.stop());
    const pool = open({ connectionLimit: 1 }, [], through);
    const { store, table } = await storeOf({ mysql2: pool });
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
  });

  it('a claim of an expired row that was not purged is remembered as new', async () => {
    const { store, table } = await storeOf();
    await store.claim(aClaim('expired'));
    await admin.query(`UPDATE ${table} SET expires_at = 1`);
    const seen = { fingerprint: 'other', alias: 'other' };
    const answer = await store.claim(aClaim('expired', seen));
    expect(answer).toEqual({ status: 'acquired', fence: expect.any(Number), attempt: 1, seen });
  });

  describe('purgeExpired', () => {
    const insertCompleted = (table: string, count: number, end: number) => {
      const values = Array.from({ length: count }, () => [crypto.randomUUID(), 'completed', 't', 1, 1, 'f', end]);
      const columns = '(`key`, state, owner, fence, attempt, fingerprint, expires_at)';
      return admin.query(`INSERT INTO ${table} ${columns} VALUES ?`, [values]);
    };

    it.each(['READ COMMITTED', 'REPEATABLE READ'])(
      'two processes purge at once, while events are claimed, and remove expired rows only (%s)',
      async (level) => {
        const table = newTable();
        const [one, two] = [1, 2].map(() => mysqlStore({ mysql2: open({}, [isolation(level)]) }, { table }));
        await one?.init?.();
        await insertCompleted(table, 1_000, 1);
        await insertCompleted(table, 10, 9e15);
        const removed: number[] = [];
        let claimed = 0;
        const purge = async (store = one) => {
          for (let count = 1; count > 0; removed.push(count)) count = (await store?.purgeExpired?.({ limit: 30 })) ?? 0;
        };
        const claim = async () => {
          while (removed.length < 20) {
            await one?.claim(aClaim());
            claimed += 1;
          }
        };
        await Promise.all([purge(one), purge(two), claim(), claim()]);
        expect(removed.reduce((sum, count) => sum + count)).toBe(1_000);
        expect(Math.max(...removed)).toBe(30);
        expect(await rows(`SELECT \`key\` FROM ${table}`)).toHaveLength(10 + claimed);
      },
    );

    it('a locked row is skipped until its transaction ends', async () => {
      const { store, table } = await storeOf();
      await insertCompleted(table, 3, 1);
      const other = await openTransaction(`SELECT * FROM ${table} ORDER BY \`key\` LIMIT 1 FOR UPDATE`);
      expect(await store.purgeExpired?.({ limit: 10 })).toBe(2);
      await other.query('ROLLBACK');
      expect(await store.purgeExpired?.({ limit: 10 })).toBe(1);
    });

    it.each(['', '_jobs'])(
      'a live row that is locked delays no purge, and no other live row is locked by it (table%s)',
      async (suffix) => {
        const { store, table } = await storeOf();
        await store.jobs?.init?.();
        const rowsOf = (name: string, count: number, end: number) =>
          suffix === ''
            ? insertCompleted(name, count, end)
            : admin.query(`INSERT INTO ${name} (\`key\`, version, record, expires_at) VALUES ?`, [
                Array.from({ length: count }, () => [crypto.randomUUID(), 'v', '{}', end]),
              ]);
        await rowsOf(table + suffix, 300, 1);
        await rowsOf(table + suffix, 5, 9e15);
        const live = `SELECT \`key\` FROM ${table}${suffix} FORCE INDEX (PRIMARY) WHERE expires_at > 1`;
        const [locked] = await rows(live);
        const other = await openTransaction(
          `SELECT * FROM ${table}${suffix} WHERE \`key\` = '${locked?.['key']}' FOR UPDATE`,
        );
        const free: number[] = [];
        const pool = watched(open(), async (sql) => {
          if (sql === 'COMMIT') free.push((await rows(`${live} FOR UPDATE SKIP LOCKED`)).length);
        });
        const purging = mysqlStore({ mysql2: pool }, { table });
        const { purgeExpired } = (suffix === '' ? purging : purging.jobs) as Required<DedupeStore>;
        expect(await purgeExpired({ limit: 1_000 })).toBe(300);
        expect(free).toEqual([4, 4]); // a batch of 250, and the rest
        await other.query('ROLLBACK');
      },
    );

    it('expired rows are removed where updates need keys', async () => {
      const { store, table } = await storeOf({ mysql2: open({}, ['SET sql_safe_updates = 1']) });
      await insertCompleted(table, 300, 1);
      expect(await store.purgeExpired?.({ limit: 1_000 })).toBe(300);
    });
  });
});

const crashing = await startPrivateMysql();
afterAll(() => crashing?.stop());

describe.runIf(crashing)('mysqlStore on a server that crashes', () => {
  it('what was completed stays completed, and the pool finds the server again', async () => {
    const pool = poolOf(String(crashing?.url));
    onTestFinished(() => pool.end());
    const store = mysqlStore({ mysql2: pool });
    await store.init?.();
    const [done, held] = [aClaim('done'), aClaim('held')];
    await store.complete({ ...done, fence: (await store.claim(done)).fence }, done);
    await store.claim(held);
    await crashing?.crash();
    await vi.waitFor(
      async () => expect(await store.claim(aClaim('done'))).toMatchObject({ status: 'completed' }),
      PATIENTLY,
    );
    expect(await store.claim(aClaim('held'))).toMatchObject({ status: 'in_progress' });
    expect(await store.claim(held)).toMatchObject({ status: 'acquired', attempt: 1 });
  });
});

describe('mysqlStore', () => {
  /** A pool whose connections answer each statement by this. */
  const poolBy = (query: (sql: string) => Promise<unknown>) => ({
    getConnection: async () => ({
      query: async ({ sql }: { sql: string }): Promise<[unknown, unknown]> => [await query(sql), []],
      release() {},
      destroy() {},
    }),
  });
  const client = { mysql2: poolBy(() => Promise.reject(new Error('nothing may be sent'))) };

  const takes = 'mysqlStore takes { mysql2: pool }';
  const wrongTables = ['', 'a b', 'a`b', 'a;b', '1a', 'A', 'é', 'a.b.c', '.a', 'a.', 'a-b', 'a'.repeat(60)];
  itRefuses(mysqlStore, [
    ...[{}, undefined, null, { mysql2: undefined }, { mysql2: {} }, { mysql2: 'mysql://' }].map(
      (wrong) => [wrong, {}, takes] as const,
    ),
    [{ client: client.mysql2 }, {}, "nknown option 'client' in the client of mysqlStore"],
    [{ mysql: client.mysql2 }, {}, "id you mean 'mysql2'?"],
    ...wrongTables.map((table) => [client, { table }, 'table must be a name'] as const),
    [client, { tabel: 'a' }, "id you mean 'table'?"],
  ]);

  it('an error names the wrong number, before anything is sent', async () => {
    const store = mysqlStore(client);
    await expectRefusals(store);
    for (const fence of [0, -1, 1.5, Number.NaN, 2 ** 53]) {
      const refused = await rejection(store.complete({ ...aClaim(), fence }, { retainMs: 1 }));
      expect(refused.message).toContain('fence must be a positive integer');
    }
    for (const dueAt of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY]) {
      const listing = store.jobs?.list({ limit: 1, overdue: false, after: { dueAt, key: 'a' } });
      expect((await rejection(listing as Promise<unknown>)).message).toContain('after.dueAt must be a time');
    }
  });

  it('a claim is tried ten times on a server that undoes it', async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(1);
    let tries = 0;
    const failing = poolBy(async (sql) => {
      if (sql === 'ROLLBACK') return {};
      tries += 1;
      throw Object.assign(new Error('Deadlock found'), { errno: 1213 });
    });
    const refused = expect(mysqlStore({ mysql2: failing }).claim(aClaim('a'))).rejects.toMatchObject({ errno: 1213 });
    await vi.runAllTimersAsync();
    await refused;
    expect(tries).toBe(10);
    vi.useRealTimers();
  });

  it.each([undefined, null, 'gone'])('a store rejects with the error of the client: %j', async (reason) => {
    const failing = mysqlStore({ mysql2: poolBy(() => Promise.reject(reason)) });
    expect(await failing.claim(aClaim('a')).catch((error: unknown) => [error])).toEqual([reason]);
  });

  it('a call on a row that changes again and again fails after five tries', async () => {
    const none = { serverStatus: 2, insertId: 0 };
    // In progress and of this owner, but no statement can write it.
    const found = [['in_progress', '1', '1', '5', '5', 'f', null, '1']];
    const query = vi.fn(async (sql: string) => (sql.startsWith('SELECT') ? found : none));
    const store = mysqlStore({ mysql2: poolBy(query) });
    const ref = { ...aClaim('a'), fence: 1 };
    await expect(store.claim(ref)).rejects.toThrow('the row changed 5 times during one claim');
    await expect(store.complete(ref, ref)).rejects.toThrow('the row changed 5 times during one completion');
    await expect(store.release(ref)).rejects.toThrow('the row changed 5 times during one release');
  });
});
