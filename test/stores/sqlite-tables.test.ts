import { sqliteInbox, sqliteStore, sqliteTables, sqliteTableVersion } from 'service-webhooks/stores/sqlite';
import { describe, expect, it } from 'vitest';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { refusal, rejection } from '../support/deliveries.js';

const { newFile, open } = sqliteFiles();

describe('sqliteTables', () => {
  it('the tables that are named are listed, and by default all', () => {
    const named = (names?: Parameters<typeof sqliteTables>[0]) => sqliteTables(names).tables.map(({ name }) => name);
    expect(named()).toEqual(['webhook_deliveries', 'webhook_inbox', 'webhook_deliveries_jobs']);
    expect(named({ table: 'seen' })).toEqual(['seen']);
    expect(sqliteTables({ inboxTable: 'seen' }).tables).toMatchObject([{ purpose: 'inbox', name: 'seen' }]);
    const jobsTable = `${'s'.repeat(63)}_jobs`;
    expect(sqliteTables({ jobsTable }).tables).toMatchObject([{ purpose: 'jobs', name: jobsTable }]);
  });

  it.each([
    [{ table: 'a b' }, 'table must be a name of letters, digits and _'],
    [{ jobsTable: 'a'.repeat(69) }, 'table must be a name of letters, digits and _'],
    [{ inboxTable: 'sqlite_a' }, 'table must be a name of letters, digits and _'],
    [{ inbox: 'a' }, "nknown option 'inbox' in sqliteTables"],
    [null, 'names must be an object'],
  ])('the names %j are refused', (names, says) => {
    const { code, message } = refusal(() => sqliteTables(names as never));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining(says)]);
  });
});

describe.each(libraries)('sqliteTableVersion on %s', (_, driver) => {
  it('the version of each table is read', async () => {
    const handle = open(driver, newFile());
    const client = clientOf(driver, handle);
    const { version, tables } = sqliteTables();
    const versions = () => Promise.all(tables.map(({ name }) => sqliteTableVersion(client, name)));
    expect(await versions()).toEqual([undefined, undefined, undefined]);
    const statements = tables.flatMap((one) => one.statements);
    for (const statement of [...statements, ...statements]) handle.exec(statement);
    expect(await versions()).toEqual([version, version, version]);
    handle.exec('DELETE FROM webhook_schema');
    expect(await versions()).toEqual([0, 0, 0]);
    const store = sqliteStore(client);
    await store.init?.();
    expect(await versions()).toEqual([version, 0, 0]);
    await store.jobs?.init?.();
    await sqliteInbox(client, { name: 'clips' }).init();
    expect(await versions()).toEqual([version, version, version]);
  });

  it('an invalid name or client is refused', async () => {
    const handle = open(driver, newFile());
    expect((await rejection(sqliteTableVersion(clientOf(driver, handle), "a'b"))).code).toBe('invalid_option');
    const { code, message } = await rejection(sqliteTableVersion(handle as never, 'a'));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining('sqliteTableVersion takes {')]);
  });
});
