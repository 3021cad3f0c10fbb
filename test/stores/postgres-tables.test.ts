import postgres from 'postgres';
import { postgresInbox, postgresStore, postgresTables, postgresTableVersion } from 'service-webhooks/stores/postgres';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { refusal, rejection } from '../support/deliveries.js';
import { poolOf, startPostgres } from '../support/postgres.js';

const server = await startPostgres();
afterAll(() => server?.stop());

const named = (names?: Parameters<typeof postgresTables>[0]) =>
  postgresTables(names).tables.map(({ purpose, name }) => [purpose, name]);

describe('postgresTables', () => {
  it('the tables that are named are listed, and by default all', () => {
    expect(named()).toEqual([
      ['store', 'webhook_deliveries'],
      ['inbox', 'webhook_inbox'],
      ['jobs', 'webhook_deliveries_jobs'],
    ]);
    expect(named({ table: undefined, inboxTable: undefined })).toEqual(named());
    expect(named({ table: 'seen' })).toEqual([['store', 'seen']]);
    expect(named({ inboxTable: 'app.seen' })).toEqual([['inbox', 'app.seen']]);
    expect(named({ jobsTable: 'app.seen_jobs' })).toEqual([['jobs', 'app.seen_jobs']]);
    expect(named({ table: 'a', inboxTable: 'b' })).toHaveLength(2);
    expect(named({ table: 'a', inboxTable: 'b', jobsTable: 'c' })).toHaveLength(3);
  });

  it.each([
    [{ table: 'a"b' }, 'table must be a name, or schema.name'],
    [{ inboxTable: 'a.b.c' }, 'table must be a name, or schema.name'],
    [{ table: 'a'.repeat(49) }, 'at most 48 characters'],
    [{ jobsTable: 'a'.repeat(54) }, 'at most 53 characters'],
    [{ inbox: 'a' }, "nknown option 'inbox' in postgresTables"],
    [null, 'names must be an object'],
  ])('the names %j are refused', (names, says) => {
    const { code, message } = refusal(() => postgresTables(names as never));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining(says)]);
  });
});

describe.runIf(server)('postgresTableVersion', () => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};
  const sql = postgres(url, { onnotice() {} });
  afterAll(() => sql.end({ timeout: 1 }));

  it.each(['pg', 'postgresJs'] as const)('the version of each table is read over %s', async (library) => {
    const client = library === 'pg' ? { pg: admin } : { postgresJs: sql };
    const table = `${schema}.${'s'.repeat(48)}`;
    const [inboxTable, jobsTable] = [`${schema}.inbox`, `${table}_jobs`];
    const names = [table, inboxTable, jobsTable];
    onTestFinished(async () => void (await admin.query(`DROP TABLE ${names}`)));
    const versions = () => Promise.all(names.map((name) => postgresTableVersion(client, name)));
    expect(await versions()).toEqual([undefined, undefined, undefined]);
    const { version, tables } = postgresTables({ table, inboxTable, jobsTable });
    const statements = tables.flatMap((one) => one.statements);
    for (const statement of [...statements, ...statements]) await admin.query(statement);
    expect(await versions()).toEqual([version, version, version]);
    await admin.query(`COMMENT ON TABLE ${table} IS NULL`);
    expect(await versions()).toEqual([0, version, version]);
    await admin.query(`COMMENT ON TABLE ${table} IS 'service-webhooks schema 12'`);
    expect(await versions()).toEqual([12, version, version]);
    for (const name of names) await admin.query(`COMMENT ON TABLE ${name} IS NULL`);
    const store = postgresStore({ pg: admin }, { table });
    await store.init?.();
    expect(await versions()).toEqual([version, 0, 0]);
    await store.jobs?.init?.();
    await postgresInbox({ pg: admin }, { name: 'clips', table: inboxTable }).init();
    expect(await versions()).toEqual([version, version, version]);
  });

  it('an invalid name or client is refused', async () => {
    expect((await rejection(postgresTableVersion({ pg: admin }, 'a b'))).code).toBe('invalid_option');
    const { code, message } = await rejection(postgresTableVersion(admin as never, 'a'));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining('postgresTableVersion takes {')]);
  });
});
