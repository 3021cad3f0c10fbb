import mysql from 'mysql2';
import type { PoolConnection, RowDataPacket } from 'mysql2/promise';
import type { Delivery, WebhookError } from 'service-webhooks';
import { type Mysql2Transaction, type MysqlInbox, mysqlInbox } from 'service-webhooks/stores/mysql';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, rejection } from '../support/deliveries.js';
import { poolOf, startMysql, untilBlocked } from '../support/mysql.js';
import { buildProgram } from '../support/processes.js';
import type { Task } from './mysql-inbox-process.js';
import { deliveryOf, itRefuses, wrongInboxOptions } from './requests.js';

const server = await startMysql();

const program = await buildProgram('test/stores/mysql-inbox-process.ts');

afterAll(async () => {
  program.remove();
  await server?.stop();
});

const DEADLOCK = 1213;

describe.runIf(server)('mysqlInbox', () => {
  const { url = '', admin = poolOf('mysql://127.0.0.1'), database = '' } = server ?? {};
  const pool = poolOf(url, { connectionLimit: 12 });
  const inbox = mysqlInbox({ mysql2: pool }, { table: 'inbox', name: 'default' });
  const open: PoolConnection[] = [];

  beforeAll(async () => {
    await inbox.init();
    await admin.query('CREATE TABLE effects (id varchar(100) PRIMARY KEY)');
  });

  beforeEach(async () => {
    await admin.query('DELETE FROM inbox');
    await admin.query('DELETE FROM effects');
  });

  afterEach(async () => {
    for (const connection of open.splice(0)) {
      await connection.query('ROLLBACK');
      connection.destroy();
    }
  });

  afterAll(() => pool.end());

  async function begin(isolation = 'REPEATABLE READ', from = pool): Promise<PoolConnection> {
    const connection = await from.getConnection();
    open.push(connection);
    await connection.query(`SET TRANSACTION ISOLATION LEVEL ${isolation}`);
    await connection.query('START TRANSACTION');
    return connection;
  }

  /** Runs the work of an event in a transaction of its own. */
  async function deliver(
    of: string | Pick<Delivery, 'event'>,
    work: (connection: PoolConnection) => unknown = () => {},
    isolation?: string,
  ) {
    const connection = await begin(isolation);
    const delivery = typeof of === 'string' ? deliveryOf(of) : of;
    try {
      const result = await inbox.once(connection, delivery, () => work(connection));
      await connection.query('COMMIT');
      return result;
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      open.splice(open.indexOf(connection), 1);
      connection.release();
    }
  }

  async function column(statement: string, connection: { query: typeof admin.query } = admin): Promise<unknown[]> {
    const [rows] = await connection.query<RowDataPacket[]>(statement);
    return rows.map((row) => Object.values(row)[0]);
  }
  const write = (connection: PoolConnection, id = 'a') => connection.query('INSERT INTO effects VALUES (?)', [id]);
  const written = () => column('SELECT id FROM effects ORDER BY id');
  const recorded = () => column('SELECT CAST(`key` AS CHAR) FROM inbox ORDER BY `key`');

  it.each(['READ UNCOMMITTED', 'READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])(
    'a transaction that is %s finds an event that was committed after it began',
    async (isolation) => {
      const late = await begin(isolation);
      await column('SELECT COUNT(*) FROM inbox', late);
      const early = isolation === 'SERIALIZABLE' ? undefined : await deliver('evt_1', write, isolation);
      const result = await inbox.once(late, deliveryOf('evt_1'), () => write(late));
      await late.query('COMMIT');
      // A reader that is SERIALIZABLE locks what it has read, so that there is no event to find.
      expect([early?.status, result.status]).toEqual(early ? ['done', 'duplicate'] : [undefined, 'done']);
      expect(await deliver('evt_1', write, isolation)).toEqual({ status: 'duplicate' });
      expect(await written()).toEqual(['a']);
    },
  );

  it('an event that was committed after a snapshot is in progress where the server refuses such records', async () => {
    const late = await begin();
    const [[setting]] = await late.query<RowDataPacket[]>("SHOW VARIABLES LIKE 'innodb_snapshot_isolation'");
    if (setting === undefined) return; // of MariaDB alone
    await late.query('ROLLBACK');
    await late.query('SET SESSION innodb_snapshot_isolation = 1');
    await late.query('START TRANSACTION');
    await column('SELECT COUNT(*) FROM inbox', late);
    await deliver('evt_1', write);
    await write(late, 'lost with the snapshot');
    const refused = await rejection(inbox.once(late, deliveryOf('evt_1'), expect.fail));
    expect(refused).toMatchObject({ code: 'delivery_in_progress', cause: { errno: 1020 } });
    await write(late, 'too late').catch(() => {});
    await late.query('COMMIT');
    expect(await written()).toEqual(['a']);
  });

  it.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])(
    'each of many events runs once in transactions that are %s and begin at the same time',
    async (isolation) => {
      const ids = Array.from({ length: 4 }, (_, i) => `evt_${i}`);
      const attempts = await Promise.allSettled(
        [...ids, ...ids, ...ids].map((id) => deliver(id, (connection) => write(connection, id), isolation)),
      );
      for (const one of attempts) {
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'delivery_in_progress' });
      }
      const retries = ids.map((id) => deliver(id, (connection) => write(connection, id), isolation));
      await Promise.allSettled(retries);
      for (const id of ids) await deliver(id, (connection) => write(connection, id), isolation);
      expect(await written()).toEqual(ids);
    },
  );

  it.each([
    ['COMMIT', { status: 'duplicate' }],
    ['ROLLBACK', { status: 'done' }],
  ])('a duplicate that waits is decided by the %s of the first', async (end, result) => {
    const patient = mysqlInbox({ mysql2: pool }, { table: 'inbox', name: 'default', waitMs: 30_000 });
    const first = await begin();
    await patient.once(first, deliveryOf('evt_1'), () => write(first));
    const second = await begin();
    const waiting = patient.once(second, deliveryOf('evt_1'), () => write(second));
    await untilBlocked(admin);
    await first.query(end);
    expect(await waiting).toMatchObject(result);
    await second.query('COMMIT');
    expect(await written()).toEqual(['a']);
  });

  it('a transaction goes on after a duplicate was refused while that of the first was open', async () => {
    const first = await begin();
    await inbox.once(first, deliveryOf('evt_1'), () => write(first));
    const second = await begin();
    const refused = await rejection(inbox.once(second, deliveryOf('evt_1'), () => write(second)));
    expect(refused).toMatchObject({ code: 'delivery_in_progress', status: 409, cause: { errno: 1205 } });
    expect(refused.message).toContain('Another transaction holds this event.');
    await write(second, 'goes on');
    await second.query('COMMIT');
    await first.query('COMMIT');
    expect(await written()).toEqual(['a', 'goes on']);
  });

  it("an inbox leaves the user's own limits of waits to the writes of the user", async () => {
    const limits = "SELECT CONCAT(@@innodb_lock_wait_timeout, ' ', @@lock_wait_timeout)";
    const connection = await begin();
    await connection.query('SET SESSION innodb_lock_wait_timeout = 7, SESSION lock_wait_timeout = 9');
    const { result } = (await inbox.once(connection, deliveryOf('evt_1'), () => column(limits, connection))) as {
      result: unknown;
    };
    expect(result).toEqual(['7 9']);
    await inbox.once(connection, deliveryOf('evt_1'), expect.fail);
    expect(await column(limits, connection)).toEqual(['7 9']);
    const other = await begin();
    const before = await column(limits, other);
    await rejection(inbox.once(other, deliveryOf('evt_1'), expect.fail));
    expect(await column(limits, other)).toEqual(before);
    await Promise.allSettled([
      inbox.once(other, deliveryOf('evt_2'), () => {}),
      inbox.once(other, deliveryOf('evt_3'), () => {}),
    ]);
    expect(await column(limits, other)).toEqual(before);
  });

  /** Makes the server choose the transaction of `victim` when both wait for each other; resolves to its rejection. */
  async function deadlock(statement: () => Promise<unknown>, isInWork = false) {
    const rival = await begin();
    for (let i = 0; i < 50; i += 1) await write(rival, `rival ${i}`);
    if (isInWork) await write(rival, 'wanted');
    else await inbox.once(rival, deliveryOf('evt_1'), () => {});
    const refused = statement().catch((error: unknown) => error);
    await untilBlocked(admin, isInWork ? "% VALUES ('wanted')" : 'INSERT INTO `inbox`%');
    await rival.query("INSERT INTO effects VALUES ('held') ON DUPLICATE KEY UPDATE id = 'held'").catch(() => {});
    await rival.query('ROLLBACK');
    return (await refused) as WebhookError;
  }

  it('a deadlock refuses the delivery, and nothing of the transaction is committed', async () => {
    const victim = await begin();
    await write(victim, 'held');
    const refused = await deadlock(() => inbox.once(victim, deliveryOf('evt_1'), expect.fail));
    expect(refused).toMatchObject({ code: 'delivery_in_progress', status: 409, cause: { errno: DEADLOCK } });
    expect(refused.message).toContain('rolled back this transaction');
    await expect(write(victim, 'too late')).rejects.toMatchObject({ code: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION' });
    await victim.query('COMMIT');
    expect([await written(), await recorded()]).toEqual([[], []]);
    await write(victim, 'the next transaction');
    expect(await written()).toEqual(['the next transaction']);
    expect(await deliver('evt_1', write)).toMatchObject({ status: 'done' });
  });

  it('work that throws the error of a deadlock rejects with it, and nothing is committed', async () => {
    const victim = await begin();
    const work = async () => {
      await write(victim, 'held');
      await write(victim, 'wanted');
    };
    const refused = await deadlock(() => inbox.once(victim, deliveryOf('evt_1'), work), true);
    expect(refused).toMatchObject({ errno: DEADLOCK });
    await expect(write(victim, 'too late')).rejects.toMatchObject({ code: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION' });
    await victim.query('COMMIT');
    expect([await written(), await recorded()]).toEqual([[], []]);
  });

  it('work that hides a deadlock fails', async () => {
    const victim = await begin();
    const work = async () => {
      await write(victim, 'held');
      await write(victim, 'wanted').catch(() => {});
    };
    const refused = await deadlock(() => inbox.once(victim, deliveryOf('evt_1'), work), true);
    expect(refused).toMatchObject({ code: 'invalid_option' });
    expect(refused.message).toContain('The transaction has ended inside of work');
    await victim.query('COMMIT');
    expect([await written(), await recorded()]).toEqual([[], []]);
  });

  it.each(['CREATE TABLE made_in_work (id int)', 'COMMIT', 'ROLLBACK', 'START TRANSACTION'])(
    'work that ends the transaction by %s fails, and the transaction takes no more writes',
    async (statement) => {
      const connection = await begin();
      const refused = await rejection(inbox.once(connection, deliveryOf('evt_1'), () => connection.query(statement)));
      expect(refused).toMatchObject({ code: 'invalid_option', cause: { errno: 1305 } });
      expect(refused.message).toContain('The transaction has ended inside of work');
      expect(refused.hint).toContain('DDL');
      await expect(write(connection)).rejects.toMatchObject({ code: 'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION' });
    },
  );

  it('an inbox in the work of another one keeps its own part when that of the other is undone', async () => {
    const connection = await begin();
    const failure = new Error('no such clip');
    await inbox.once(connection, deliveryOf('evt_1'), async () => {
      await write(connection, 'outer');
      const inner = inbox.once(connection, deliveryOf('evt_2'), async () => {
        await write(connection, 'inner');
        throw failure;
      });
      await expect(inner).rejects.toBe(failure);
      await inbox.once(connection, deliveryOf('evt_3'), () => write(connection, 'second'));
    });
    await connection.query('COMMIT');
    expect(await written()).toEqual(['outer', 'second']);
    expect(await recorded()).toEqual(['default:evt_1', 'default:evt_3']);
  });

  it('an inbox refuses a connection that is in no transaction, and runs no work', async () => {
    const work = vi.fn();
    const connection = await begin();
    await connection.query('COMMIT');
    const refused = await rejection(inbox.once(connection, deliveryOf('evt_1'), work));
    expect(refused).toMatchObject({ code: 'invalid_option', cause: { errno: 1305 } });
    expect(refused.message).toContain('tx is not in a transaction');
    expect(refused.hint).toContain('the open transaction');
    const { message } = await rejection(inbox.once(pool as never, deliveryOf('evt_1'), work));
    expect(message).toContain('tx must be an open transaction of mysql2');
    expect(await recorded()).toEqual([]);
    expect(work).not.toHaveBeenCalled();
  });

  it('an inbox takes the transaction of a connection that commits no statement by itself', async () => {
    const connection = await begin();
    await connection.query('SET autocommit = 0');
    await connection.query('COMMIT');
    expect(await inbox.once(connection, deliveryOf('evt_1'), () => write(connection))).toMatchObject({
      status: 'done',
    });
    await connection.query('ROLLBACK');
    expect([await written(), await recorded()]).toEqual([[], []]);
  });

  it.each(['in work', 'before commit'] as const)(
    'an event has its effects exactly once though its process is killed %s',
    async (hang) => {
      const task: Task = { url, eventId: 'evt_1' };
      const killed = program.start({ ...task, hang });
      expect(await killed.next()).toBe('hangs');
      await killed.kill();
      const retries = [program.start(task), program.start(task), program.start(task)];
      const answers = await Promise.all(retries.map((retry) => retry.next()));
      expect(answers.sort()).toEqual(['done', 'duplicate', 'duplicate']);
      expect([await written(), await recorded()]).toEqual([['evt_1'], ['default:evt_1']]);
    },
  );

  it('an inbox takes a pool of callbacks, and settings that change rows', async () => {
    const callbacks = mysql.createPool({ uri: url, rowsAsArray: true, namedPlaceholders: true, nestTables: '_' });
    const inCallbacks = mysqlInbox({ mysql2: callbacks as never }, { table: 'inbox', name: 'default' });
    await inCallbacks.init();
    const connection = await new Promise<mysql.PoolConnection>((resolve, reject) => {
      callbacks.getConnection((error, found) => (error ? reject(error) : resolve(found)));
    });
    await connection.promise().query('START TRANSACTION');
    const once = () => inCallbacks.once(connection as unknown as Mysql2Transaction, deliveryOf('evt_1'), () => 1);
    expect([await once(), await once()]).toEqual([{ status: 'done', result: 1 }, { status: 'duplicate' }]);
    await connection.promise().query('COMMIT');
    await callbacks.promise().end();
    expect(await recorded()).toEqual(['default:evt_1']);
  });

  it('times depend on neither the time zone nor the SQL mode of a connection', async () => {
    for (const zone of ['+13:00', '-12:00']) {
      const connection = await begin();
      await connection.query(`SET time_zone = '${zone}', sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES'`);
      expect(await inbox.once(connection, deliveryOf(`evt_ü${zone}`), () => {})).toMatchObject({ status: 'done' });
      await connection.query('COMMIT');
      expect(await deliver(`evt_ü${zone}`)).toEqual({ status: 'duplicate' });
    }
    const [retained] = await column('SELECT MAX(expires_at - recorded_at) FROM inbox');
    expect(Number(retained)).toBe(72 * 3_600_000_000);
    expect(await inbox.purgeExpired({ limit: 10 })).toBe(0);
  });

  it('a purge waits for no live event that a transaction has locked', async () => {
    const values = (count: number, end: number) =>
      Array.from({ length: count }, () => [crypto.randomUUID(), 'token', 1, end]);
    await admin.query('INSERT INTO inbox VALUES ?', [values(300, 1)]);
    await admin.query('INSERT INTO inbox VALUES ?', [values(5, 9e15)]);
    await admin.query('INSERT INTO inbox VALUES ?', [[['live', 'token', 1, 9e15]]]);
    const other = await begin();
    await other.query("SELECT * FROM inbox WHERE `key` = 'live' FOR UPDATE");
    expect(await inbox.purgeExpired({ limit: 1_000 })).toBe(300);
    expect(await recorded()).toHaveLength(6);
  });

  it('an inbox keeps endpoints of different names apart, and any event id', async () => {
    const billing = mysqlInbox({ mysql2: pool }, { table: 'inbox', name: 'billing' });
    const connection = await begin();
    const ids = ['evt_1', 'EVT_1', 'evt_1 ', 'evt_\0', 'evt_\ud800', `evt_${'x'.repeat(500)}`, 'evt_ü', "evt_';--"];
    for (const id of ids) {
      for (const one of [inbox, billing]) {
        expect(await one.once(connection, deliveryOf(id), () => {})).toMatchObject({ status: 'done' });
        expect(await one.once(connection, deliveryOf(id), () => {})).toEqual({ status: 'duplicate' });
      }
    }
    await connection.query('COMMIT');
    const keys = await recorded();
    expect(keys).toHaveLength(ids.length * 2);
    expect(keys).toContain('billing:evt_1');
  });

  it('an inbox forgets an event, and takes a table of another database', async () => {
    const qualified = mysqlInbox({ mysql2: pool }, { table: `${database}.inbox`, name: 'default' });
    await qualified.init();
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
    await qualified.forget('evt_1');
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
  });

  it('init refuses a table of an engine without transactions', async () => {
    await admin.query('CREATE TABLE old_inbox (id int) ENGINE = MyISAM');
    const old: MysqlInbox<Mysql2Transaction> = mysqlInbox({ mysql2: pool }, { table: 'old_inbox', name: 'default' });
    const { code, message } = await rejection(old.init());
    expect(code).toBe('store_unavailable');
    expect(message).toContain('MyISAM');
  });

  it('a delivery is answered 409 while the first one runs', async () => {
    let concurrent: ReturnType<typeof receiver> | undefined;
    const { receiver, answers } = aReceiver({
      dedupe: false,
      on: {
        async '*'(_, { delivery }) {
          await deliver(delivery, async (connection) => {
            await write(connection);
            concurrent = receiver(aRequest());
            await concurrent;
          });
        },
      },
    });
    expect((await receiver(aRequest())).status).toBe(200);
    expect(await concurrent).toMatchObject({ status: 409, headers: { 'retry-after': '1' } });
    expect((await receiver(aRequest())).status).toBe(200);
    expect(answers()).toEqual(['in_progress', 'handled', 'handled']);
    expect(await written()).toEqual(['a']);
  });
});

describe('mysqlInbox', () => {
  const client = { mysql2: { getConnection: () => Promise.reject(new Error('nothing may be sent')) } };
  itRefuses(mysqlInbox, [
    ...wrongInboxOptions.map(([options, says]) => [client, options, says] as const),
    [client, { name: 'clips', table: 'a b' }, 'table must be a name, or database.name, of a-z, 0-9 and _'],
    [client, { name: 'clips', retainMS: 1 }, "id you mean 'retainMs'?"],
    [{ drizle: {} }, { name: 'clips' }, "id you mean 'drizzle'?"],
    [{ pg: client.mysql2 }, { name: 'clips' }, 'mysqlInbox'],
    [{ ...client, drizzle: {} }, { name: 'clips' }, 'mysqlInbox takes { mysql2: pool } or'],
    [client, undefined, 'mysqlInbox needs the name of the endpoint'],
  ]);

  /** A connection whose statements have these replies, by their first word. */
  const replying = (replies: Record<string, unknown>) => ({
    sent: [] as string[],
    async query({ sql }: { sql: string }): Promise<[unknown, unknown]> {
      this.sent.push(sql);
      const [word = ''] = sql.split(' ');
      if (replies[word] instanceof Error) throw replies[word];
      return [replies[word] ?? {}, undefined];
    },
    commit: async () => {},
    rollback: async () => {},
  });
  const errno = (number: number) => Object.assign(new Error('refused'), { errno: number });

  it.each(['SAVEPOINT', 'SET', 'INSERT', 'SELECT'])(
    'an inbox rejects with the error of the server, here of %s',
    async (failing) => {
      const lost = errno(1146);
      const tx = replying({ [failing]: lost });
      await expect(mysqlInbox(client, { name: 'clips' }).once(tx, deliveryOf('evt_1'), expect.fail)).rejects.toBe(lost);
    },
  );

  it('a server that prepares no SAVEPOINT gets a hint for Prisma', async () => {
    const tx = replying({ SAVEPOINT: errno(1295) });
    const refused = await rejection(mysqlInbox(client, { name: 'clips' }).once(tx, deliveryOf('evt_1'), expect.fail));
    expect(refused).toMatchObject({ code: 'invalid_option' });
    expect(refused.hint).toContain('useTextProtocol: true');
  });

  it('a duplicate is assumed where the server says nothing of the record', async () => {
    const tx = replying({ SELECT: [] });
    const result = await mysqlInbox(client, { name: 'clips' }).once(tx, deliveryOf('evt_1'), expect.fail);
    expect(result).toEqual({ status: 'duplicate' });
  });

  it('the time that an inbox waits is rounded up to whole seconds', async () => {
    const limits = async (waitMs: number) => {
      const tx = replying({});
      await mysqlInbox(client, { name: 'clips', waitMs }).once(tx, deliveryOf('evt_1'), () => {});
      return tx.sent.find((sql) => sql.startsWith('SET'))?.match(/SESSION \w+ = \d+/g);
    };
    const both = (seconds: number) => [
      `SESSION innodb_lock_wait_timeout = ${seconds}`,
      `SESSION lock_wait_timeout = ${seconds}`,
    ];
    expect(await limits(1)).toEqual(both(1));
    expect(await limits(1001)).toEqual(both(2));
    expect(await limits(Number.MAX_SAFE_INTEGER)).toEqual(both(1_000_000));
  });
});
