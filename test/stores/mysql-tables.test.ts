import mysql from 'mysql2';
import { mysqlStore, mysqlTables, mysqlTableVersion } from 'service-webhooks/stores/mysql';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { refusal, rejection } from '../support/deliveries.js';
import { poolOf, startMysql } from '../support/mysql.js';

const server = await startMysql();
afterAll(() => server?.stop());

const named = (names?: Parameters<typeof mysqlTables>[0]) =>
  mysqlTables(names).tables.map(({ purpose, name }) => [purpose, name]);

describe('mysqlTables', () => {
  it('the tables that are named are listed, and by default all', () => {
    expect(named()).toEqual([
      ['store', 'webhook_deliveries'],
      ['inbox', 'webhook_inbox'],
      ['jobs', 'webhook_deliveries_jobs'],
    ]);
    expect(named({ table: undefined, inboxTable: undefined })).toEqual(named());
    expect(named({ table: 'seen' })).toEqual([['store', 'seen']]);
    expect(named({ inboxTable: 'app.seen' })).toEqual([['inbox', 'app.seen']]);
    expect(named({ table: 'a', inboxTable: 'b', jobsTable: 'c' })).toHaveLength(3);
  });

  it.each([
    [{ table: 'a`b' }, 'table must be a name, or database.name'],
    [{ inboxTable: 'a.b.c' }, 'table must be a name, or database.name'],
    [{ table: 'a'.repeat(60) }, 'at most 59 characters'],
    [{ jobsTable: 'a'.repeat(65) }, 'at most 64 characters'],
    [{ inbox: 'a' }, "nknown option 'inbox' in mysqlTables"],
    [null, 'names must be an object'],
  ])('the names %j are refused', (names, says) => {
    const { code, message } = refusal(() => mysqlTables(names as never));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining(says)]);
  });
});

describe.runIf(server)('mysqlTableVersion', () => {
  const { url = '', database = '', admin = poolOf('mysql://127.0.0.1') } = server ?? {};

  it.each(['promises', 'callbacks'])('the version of each table is read over a pool of %s', async (kind) => {
    const callbacks = mysql.createPool(url);
    const client = { mysql2: kind === 'promises' ? admin : callbacks };
    const table = `${database}.${'s'.repeat(59)}`;
    const [inboxTable, jobsTable] = ['inbox', `${table}_jobs`];
    const names = [table, inboxTable, jobsTable];
    onTestFinished(async () => {
      await admin.query(`DROP TABLE ${names}`);
      await callbacks.promise().end();
    });
    const versions = () => Promise.all(names.map((name) => mysqlTableVersion(client, name)));
    expect(await versions()).toEqual([undefined, undefined, undefined]);
    const { version, tables } = mysqlTables({ table, inboxTable, jobsTable });
    const statements = tables.flatMap((one) => one.statements);
    for (const statement of [...statements, ...statements]) await admin.query(statement);
    expect(await versions()).toEqual([version, version, version]);
    await admin.query(`ALTER TABLE ${table} COMMENT = ''`);
    expect(await versions()).toEqual([0, version, version]);
    await admin.query(`ALTER TABLE ${table} COMMENT = 'service-webhooks schema 12'`);
    expect(await versions()).toEqual([12, version, version]);
    for (const name of names) await admin.query(`ALTER TABLE ${name} COMMENT = 'of the app'`);
    const store = mysqlStore(client, { table });
    await store.init?.();
    expect(await versions()).toEqual([version, 0, 0]);
    await store.jobs?.init?.();
    expect(await versions()).toEqual([version, 0, version]);
  });

  it('an invalid name or client is refused', async () => {
    expect((await rejection(mysqlTableVersion({ mysql2: admin }, 'a b'))).code).toBe('invalid_option');
    const { code, message } = await rejection(mysqlTableVersion(admin as never, 'a'));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining('mysqlTableVersion takes {')]);
  });
});
