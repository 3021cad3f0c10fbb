import { type MysqlInbox, mysqlInbox } from 'service-webhooks/stores/mysql';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { LIBRARIES } from '../../src/stores/mysql/inbox-clients.js';
import { type Connected, isInstalled } from '../integration/orms/libraries.js';
import { poolOf, startMysql, untilBlocked } from '../support/mysql.js';
import { mysqlLibraries } from './inbox-databases.js';
import { deliveryOf } from './requests.js';

const server = await startMysql();

afterAll(() => server?.stop());

describe.runIf(mysqlLibraries.length === 0)('the libraries of inboxes', () => {
  it('none of them is installed', () => {
    expect(isInstalled).toBe(false);
  });
});

// What mysqlInbox has in common with postgresInbox is in inbox-libraries.test.ts.
describe.runIf(server).each(mysqlLibraries)('mysqlInbox in transactions of %s after a deadlock', (name, connect) => {
  const { url = '', admin = poolOf('mysql://127.0.0.1') } = server ?? {};
  const options = { name: 'clips', table: `inbox_${name.toLowerCase().replaceAll(/\W/g, '_')}` };
  let library: Connected;
  let inbox: MysqlInbox<never>;

  beforeAll(async () => {
    await admin.query('CREATE TABLE IF NOT EXISTS clips (id varchar(255) PRIMARY KEY)');
    await admin.query('DELETE FROM clips');
    library = await connect(url);
    inbox = mysqlInbox(library.client as never, options) as MysqlInbox<never>;
    await inbox.init();
  });

  afterAll(() => library.close());

  const column = async (sql: string) => (await admin.query({ sql, rowsAsArray: true }))[0] as unknown[];

  it('the delivery is in progress, and nothing of the transaction is committed', async () => {
    const pool = poolOf(url);
    onTestFinished(() => pool.end());
    const rivals = mysqlInbox({ mysql2: pool }, options);
    const rival = await pool.getConnection();
    await rival.beginTransaction();
    // The server ends the transaction that has written less.
    for (let i = 0; i < 50; i += 1) await rival.query('INSERT INTO clips VALUES (?)', [`rival ${i}`]);
    await rivals.once(rival, deliveryOf('evt_1'), () => {});

    const outcomes: unknown[] = [];
    const ended = library
      .transaction(async (tx) => {
        await library.insert(tx, 'held');
        const attempt = inbox.once(tx, deliveryOf('evt_1'), expect.fail);
        await untilBlocked(admin);
        const held = rival.query("INSERT INTO clips VALUES ('held')");
        outcomes.push(await attempt.catch((error: { code?: string }) => error.code));
        // A handler that goes on all the same.
        outcomes.push(
          await library.insert(tx, 'too late').then(
            () => 'written',
            () => 'refused',
          ),
        );
        await held;
      })
      .catch(() => {}); // Sequelize refuses the commit
    await ended;
    await rival.rollback();
    expect(outcomes).toEqual(['delivery_in_progress', 'refused']);
    expect(await column('SELECT id FROM clips')).toEqual([]);

    // Each connection of the pool has the limits of the user again.
    const [[own]] = (await column('SELECT @@innodb_lock_wait_timeout')) as [[number]];
    const [used, client] = Object.entries(library.client)[0] as ['knex', never];
    const query = LIBRARIES[used].query(client);
    const limits = Array.from({ length: 10 }, () => query('SELECT @@innodb_lock_wait_timeout AS seconds'));
    for (const { rows } of await Promise.all(limits)) expect(rows).toEqual([[String(own)]]);
    const retry = library.transaction((tx) => inbox.once(tx, deliveryOf('evt_1'), () => library.insert(tx, 'retried')));
    await retry;
    expect(await column('SELECT id FROM clips')).toEqual([['retried']]);
  });
});
