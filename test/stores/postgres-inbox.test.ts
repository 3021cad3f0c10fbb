import type pg from 'pg';
import postgres from 'postgres';
import type { Delivery } from 'service-webhooks';
import { type PgClient, type PostgresInbox, postgresInbox, postgresStore } from 'service-webhooks/stores/postgres';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, rejection } from '../support/deliveries.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { deliveryOf, itRefuses, wrongInboxOptions } from './requests.js';

const server = await startPostgres();

afterAll(() => server?.stop());

describe.runIf(server)('postgresInbox', () => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};
  const table = `${schema}.inbox`;
  const effects = `${schema}.effects`;
  const pool = poolOf(url);
  const sql = postgres(url, { max: 4, onnotice() {} });
  let inbox: PostgresInbox<PgClient>;
  const open: pg.PoolClient[] = [];

  beforeEach(async () => {
    inbox = postgresInbox({ pg: pool }, { table, name: 'default' });
    await inbox.init();
    await admin.query(`TRUNCATE ${table}; CREATE TABLE IF NOT EXISTS ${effects} (id text)`);
    await admin.query(`TRUNCATE ${effects}`);
  });

  afterEach(async () => {
    for (const client of open.splice(0)) {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  afterAll(async () => {
    await pool.end();
    await sql.end({ timeout: 1 });
  });

  async function begin(how = 'BEGIN'): Promise<pg.PoolClient> {
    const client = await pool.connect();
    open.push(client);
    await client.query(how);
    return client;
  }

  /** Runs the work of an event in a transaction of its own. */
  async function deliver(
    of: string | Pick<Delivery, 'event'>,
    work: (client: pg.PoolClient) => unknown = () => {},
    how?: string,
  ) {
    const client = await begin(how);
    const delivery = typeof of === 'string' ? deliveryOf(of) : of;
    const result = await inbox.once(client, delivery, () => work(client));
    await client.query('COMMIT');
    return result;
  }

  const write = (client: pg.PoolClient, id = 'a') => client.query(`INSERT INTO ${effects} VALUES ($1)`, [id]);
  const written = async () => (await admin.query(`SELECT id FROM ${effects}`)).rows.map(({ id }) => id);
  const recorded = async () => (await admin.query(`SELECT key FROM ${table}`)).rows.map(({ key }) => key);

  it('an inbox records an event with the effects of its work, and never runs it again', async () => {
    const first = await begin();
    const result = await inbox.once(first, deliveryOf('evt_1'), async () => {
      await write(first);
      return 42;
    });
    expect(result).toEqual({ status: 'done', result: 42 });
    expect(await recorded()).toEqual([]);
    await first.query('COMMIT');
    expect(await recorded()).toEqual(['default:evt_1']);
    expect(await deliver('evt_1', write)).toEqual({ status: 'duplicate' });
    expect(await written()).toEqual(['a']);
  });

  it('an inbox forgets the event when the transaction is rolled back', async () => {
    const first = await begin();
    await inbox.once(first, deliveryOf('evt_1'), () => write(first, 'undone'));
    await first.query('ROLLBACK');
    expect(await deliver('evt_1', (second) => write(second, 'kept'))).toMatchObject({ status: 'done' });
    expect(await written()).toEqual(['kept']);
  });

  it('work that throws is undone in a transaction that is committed', async () => {
    const failure = new Error('no such clip');
    const client = await begin();
    await write(client, 'before');
    const attempt = inbox.once(client, deliveryOf('evt_1'), async () => {
      await write(client, 'undone');
      throw failure;
    });
    await expect(attempt).rejects.toBe(failure);
    await client.query('COMMIT');
    expect(await written()).toEqual(['before']);
    expect(await recorded()).toEqual([]);
  });

  it('an inbox undoes the work that hides an error of the database', async () => {
    const client = await begin();
    const attempt = inbox.once(client, deliveryOf('evt_1'), () => client.query('SELECT 1 / 0').catch(() => {}));
    await expect(attempt).rejects.toMatchObject({ code: '25P02' });
    await client.query('COMMIT');
    expect(await recorded()).toEqual([]);
  });

  it('an inbox works in a transaction of postgres.js', async () => {
    const inJs = postgresInbox({ postgresJs: sql }, { table, name: 'default' });
    const deliverInJs = () => sql.begin((tx) => inJs.once(tx, deliveryOf('evt_1'), () => tx`SELECT 1 AS one`));
    expect(await deliverInJs()).toEqual({ status: 'done', result: [{ one: 1 }] });
    expect(await deliverInJs()).toEqual({ status: 'duplicate' });
    const failure = new Error('no such clip');
    const failing = sql.begin((tx) =>
      inJs.once(tx, deliveryOf('evt_2'), () => {
        throw failure;
      }),
    );
    await expect(failing).rejects.toBe(failure);
    expect(await recorded()).toEqual(['default:evt_1']);
    const first = await begin();
    await inbox.once(first, deliveryOf('evt_3'), () => write(first));
    const concurrent = sql.begin((tx) => inJs.once(tx, deliveryOf('evt_3'), () => {}));
    expect((await rejection(concurrent)).code).toBe('delivery_in_progress');
  });

  it('a duplicate is refused while the transaction of the first is open', async () => {
    const first = await begin();
    await inbox.once(first, deliveryOf('evt_1'), () => write(first));
    const second = await begin();
    const refused = await rejection(inbox.once(second, deliveryOf('evt_1'), () => write(second)));
    expect(refused).toMatchObject({ code: 'delivery_in_progress', status: 409, cause: { code: '55P03' } });
    expect(refused.message).toContain('Another transaction holds this event.');
    await write(second, 'the transaction goes on');
    await second.query('COMMIT');
    await first.query('COMMIT');
    expect(await written()).toEqual(expect.arrayContaining(['a', 'the transaction goes on']));
    expect(await deliver('evt_1', write)).toEqual({ status: 'duplicate' });
  });

  it.each([
    ['COMMIT', { status: 'duplicate' }],
    ['ROLLBACK', { status: 'done' }],
  ])('a duplicate that waits is decided by the %s of the first', async (end, result) => {
    const patient = postgresInbox({ pg: pool }, { table, name: 'default', waitMs: 30_000 });
    const first = await begin();
    await patient.once(first, deliveryOf('evt_1'), () => write(first));
    const second = await begin();
    const waiting = patient.once(second, deliveryOf('evt_1'), () => write(second));
    await untilBlocked();
    await first.query(end);
    expect(await waiting).toMatchObject(result);
    await second.query('COMMIT');
    expect(await written()).toEqual(['a']);
  });

  async function untilBlocked(): Promise<void> {
    const blocked = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${schema}%'`;
    while ((await admin.query(blocked)).rows.length === 0);
  }

  it.each(['0', '7s'])('an inbox leaves the lock_timeout of %s to the writes of the user', async (before) => {
    const client = await begin();
    await client.query(`SET LOCAL lock_timeout = '${before}'`);
    const show = async () => (await client.query('SHOW lock_timeout')).rows[0].lock_timeout;
    const { result } = (await inbox.once(client, deliveryOf('evt_1'), show)) as { result: string };
    expect(result).toBe(before);
    await inbox.once(client, deliveryOf('evt_1'), show);
    expect(await show()).toBe(before);
    const other = await begin();
    await other.query(`SET LOCAL lock_timeout = '${before}'`);
    await rejection(inbox.once(other, deliveryOf('evt_1'), show));
    expect((await other.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: before }]);
    await client.query('COMMIT');
    expect((await client.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
  });

  it('an inbox refuses a client that is in no transaction, and runs no work', async () => {
    const work = vi.fn();
    const client = await pool.connect();
    open.push(client);
    const inJs = postgresInbox({ postgresJs: sql }, { table, name: 'default' });
    for (const attempt of [
      () => inbox.once(pool, deliveryOf('evt_1'), work),
      () => inbox.once(client, deliveryOf('evt_1'), work),
      () => inJs.once(sql, deliveryOf('evt_1'), work),
    ]) {
      const refused = await rejection(attempt());
      expect(refused).toMatchObject({ code: 'invalid_option', cause: { code: '25P01' } });
      expect(refused.message).toContain('tx is not in a transaction');
      expect(refused.hint).toContain('the open transaction');
    }
    const { message } = await rejection(inbox.once({} as typeof pool, deliveryOf('evt_1'), work));
    expect(message).toContain('tx must be an open transaction of pg');
    expect(await recorded()).toEqual([]);
    expect(work).not.toHaveBeenCalled();
  });

  it('a serialization failure is delivery_in_progress, and duplicate afterwards', async () => {
    const strict = await begin('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await strict.query('SELECT 1');
    await deliver('evt_1', write);
    const attempt = inbox.once(strict, deliveryOf('evt_1'), () => write(strict));
    const inProgress = { code: 'delivery_in_progress', status: 409, cause: { code: '40001' } };
    expect(await rejection(attempt)).toMatchObject(inProgress);
    expect(await deliver('evt_1', write, 'BEGIN ISOLATION LEVEL REPEATABLE READ')).toEqual({ status: 'duplicate' });
  });

  it('an inbox keeps endpoints of different names apart, and any event id', async () => {
    const billing = postgresInbox({ pg: pool }, { table, name: 'billing' });
    const client = await begin();
    const ids = ['evt_1', 'evt_1 ', 'evt_\0', 'evt_\ud800', `evt_${'x'.repeat(500)}`, 'evt_ü', "evt_';--"];
    for (const id of ids) {
      for (const one of [inbox, billing]) {
        expect(await one.once(client, deliveryOf(id), () => {})).toMatchObject({ status: 'done' });
        expect(await one.once(client, deliveryOf(id), () => {})).toEqual({ status: 'duplicate' });
      }
    }
    await client.query('COMMIT');
    const keys = await recorded();
    expect(keys).toHaveLength(ids.length * 2);
    expect(keys).toContain('billing:evt_1');
  });

  it('an inbox has the keys of a store', async () => {
    const store = postgresStore({ pg: pool }, { table: `${schema}.deliveries` });
    const { receiver } = aReceiver({
      dedupe: { store, name: 'default' },
      on: {
        '*': async (_, { delivery }) => void (await deliver(delivery)),
      },
    });
    const ids = ['evt_1', 'evt_ü', 'evt_ü_1', 'evt_'.padEnd(120, '1'), 'evt_'.padEnd(121, '1')];
    for (const id of ids) await receiver(aRequest({ event: { id } }));
    const { rows } = await admin.query(`SELECT key FROM ${schema}.deliveries`);
    expect(rows).toHaveLength(ids.length);
    expect((await recorded()).sort()).toEqual(rows.map(({ key }) => key).sort());
  });

  it('an inbox runs an event again after its retention, and after forget', async () => {
    const deliverBoth = async () => [(await deliver('evt_1')).status, (await deliver('evt_2')).status];
    expect(await deliverBoth()).toEqual(['done', 'done']);
    await admin.query(`UPDATE ${table} SET expires_at = now() WHERE key = 'default:evt_1'`);
    await inbox.forget('evt_2');
    expect(await deliverBoth()).toEqual(['done', 'done']);
    expect(await deliverBoth()).toEqual(['duplicate', 'duplicate']);
  });

  it('an inbox purges what is expired, up to a limit', async () => {
    await admin.query(`INSERT INTO ${table} SELECT i, now(), now() FROM generate_series(1, 5) i`);
    await admin.query(`INSERT INTO ${table} VALUES ('new', now(), now() + interval '1 day')`);
    expect(await inbox.purgeExpired({ limit: 3 })).toBe(3);
    expect(await inbox.purgeExpired({ limit: 3 })).toBe(2);
    expect(await recorded()).toEqual(['new']);
    expect((await rejection(inbox.purgeExpired({ limit: 0 }))).message).toContain('limit must be a positive integer');
  });

  it('a delivery is answered 409 while the first one runs', async () => {
    let concurrent: ReturnType<typeof receiver> | undefined;
    const { receiver, answers } = aReceiver({
      dedupe: false,
      on: {
        async '*'(_, { delivery }) {
          await deliver(delivery, async (client) => {
            await write(client);
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

describe('postgresInbox', () => {
  const client = { pg: { query: () => Promise.reject(new Error('nothing may be sent')) } };
  itRefuses(postgresInbox, [
    ...wrongInboxOptions.map(([options, says]) => [client, options, says] as const),
    [
      client,
      { name: 'clips', table: 'a b' },
      'table must be a name, or schema.name, of a-z, 0-9 and _, at most 48 characters',
    ],
    [client, { name: 'clips', retainMS: 1 }, "id you mean 'retainMs'?"],
    [{ drizle: {} }, { name: 'clips' }, "id you mean 'drizzle'?"],
    [client, { name: 'clips', table: ['inbox'] }, 'table must be a name, or schema.name'],
    [{ ...client, drizle: {} }, { name: 'clips' }, 'postgresInbox takes { pg: pool } or'],
    [
      {},
      { name: 'clips' },
      'postgresInbox takes { pg: pool } or { postgresJs: sql } or { drizzle: db } or { kysely: db } or { knex: knex } or { prisma: prisma } or { typeorm: dataSource } or { sequelize: sequelize } or { mikroOrm: orm.em }',
    ],
    [client, undefined, 'postgresInbox needs the name of the endpoint'],
  ]);

  it('a client that is undefined next to another is left out', () => {
    expect(() => postgresInbox({ ...client, drizzle: undefined } as typeof client, { name: 'clips' })).not.toThrow();
  });

  it.each(['SAVEPOINT', 'record'])('an inbox rejects with the error of the server, here of %s', async (failing) => {
    const lost = Object.assign(new Error('no such table'), { code: '42P01' });
    let calls = 0;
    const query = async () => {
      calls += 1;
      if (failing === 'SAVEPOINT' || calls > 1) throw lost;
      return { rows: [] };
    };
    const pg = { query };
    await expect(postgresInbox({ pg }, { name: 'clips' }).once(pg, deliveryOf('evt_1'), expect.fail)).rejects.toBe(
      lost,
    );
  });

  it('an inbox takes the shortest retention and the longest name', () => {
    const options = { retainMs: 6 * 3_600_000, name: 'a'.repeat(64) };
    expect(() => postgresInbox(client, options)).not.toThrow();
  });
});
