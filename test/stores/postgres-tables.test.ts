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
  it('the tables that are named are listed, and by default both', () => {
    const inbox = ['inbox', 'webhook_inbox'];
    expect(named()).toEqual([['store', 'webhook_deliveries'], inbox]);
    expect(named({ table: undefined, inboxTable: undefined })).toEqual(named());
    expect(named({ table: 'seen' })).toEqual([['store', 'seen']]);
    expect(named({ inboxTable: 'app.seen' })).toEqual([['inbox', 'app.seen']]);
    expect(named({ table: 'a', inboxTable: 'b' })).toHaveLength(2);
  });

  it.each([
    [{ table: 'a"b' }, 'table must be a name, or schema.name'],
    [{ inboxTable: 'a.b.c' }, 'table must be a name, or schema.name'],
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
    const [table, inboxTable] = [`${schema}.store`, `${schema}.inbox`];
    onTestFinished(async () => void (await admin.query(`DROP TABLE ${table}, ${inboxTable}`)));
    const versions = () => Promise.all([table, inboxTable].map((name) => postgresTableVersion(client, name)));
    expect(await versions()).toEqual([undefined, undefined]);
    const { version, tables } = postgresTables({ table, inboxTable });
    const statements = tables.flatMap((one) => one.statements);
    for (const statement of [...statements, ...statements]) await admin.query(statement);
    expect(await versions()).toEqual([version, version]);
    await admin.query(`COMMENT ON TABLE ${table} IS NULL`);
    expect(await versions()).toEqual([0, version]);
    await admin.query(`COMMENT ON TABLE ${table} IS 'service-webhooks schema 12'`);
    expect(await versions()).toEqual([12, version]);
    await admin.query(`COMMENT ON TABLE ${table} IS NULL`);
    await postgresStore({ pg: admin }, { table }).init?.();
    await postgresInbox({ pg: admin }, { name: 'clips', table: inboxTable }).init();
    expect(await versions()).toEqual([version, version]);
  });

  it('an invalid name or client is refused', async () => {
    expect((await rejection(postgresTableVersion({ pg: admin }, 'a b'))).code).toBe('invalid_option');
    const { code, message } = await rejection(postgresTableVersion(admin as never, 'a'));
    expect([code, message]).toEqual(['invalid_option', expect.stringContaining('postgresTableVersion takes {')]);
  });
});
