import { type PgClient, type PostgresInbox, postgresInbox } from 'service-webhooks/stores/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connected, isInstalled, LIBRARIES } from '../integration/orms/libraries.js';
import { aReceiver, aRequest, inShort, rejection } from '../support/deliveries.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { deliveryOf } from './requests.js';

const server = isInstalled ? await startPostgres() : undefined;

afterAll(() => server?.stop());

describe.runIf(server).each(Object.entries(LIBRARIES))('postgresInbox in transactions of %s', (name, connect) => {
  const { url = '', schema = '', admin = poolOf('') } = server ?? {};
  const table = `inbox_${name.toLowerCase().replaceAll(' ', '_')}`;
  let library: Connected;
  let inbox: PostgresInbox<never>;

  beforeAll(async () => {
    await admin.query(`CREATE TABLE IF NOT EXISTS ${schema}.clips (id text)`);
    library = await connect(`${url}?options=${encodeURIComponent(`-c search_path=${schema}`)}`, schema);
    const options = { name: 'clips', table: `${schema}.${table}` };
    inbox = postgresInbox(library.client as { pg: PgClient }, options) as PostgresInbox<never>;
    await inbox.init();
    await inbox.init();
  });

  beforeEach(async () => {
    await admin.query(`TRUNCATE ${schema}.clips, ${schema}.${table}`);
  });

  afterAll(() => library.close());

  /** Runs a delivery in a transaction of its own. */
  const deliver = (id: string, work?: (tx: never) => Promise<unknown>) =>
    library.transaction((tx) =>
      inbox.once(tx, deliveryOf(id), () => (work ? work(tx) : library.insert(tx, id).then(() => 'inserted'))),
    );
  const clips = async () => (await admin.query(`SELECT id FROM ${schema}.clips`)).rows.map(({ id }) => id);
  const keys = async () => (await admin.query(`SELECT key FROM ${schema}.${table}`)).rows.map(({ key }) => key);

  it('an event is recorded with the writes of its work, and a duplicate does not run', async () => {
    expect(await deliver('evt_1')).toEqual({ status: 'done', result: 'inserted' });
    expect(await deliver('evt_1')).toEqual({ status: 'duplicate' });
    expect([await clips(), await keys()]).toEqual([['evt_1'], ['clips:evt_1']]);
  });

  it('an event runs once for each tenant, and that of one is forgotten', async () => {
    const once = async (tenant?: string) => {
      const delivery = { ...deliveryOf('evt_1'), tenant };
      return (await library.transaction((tx) => inbox.once(tx, delivery, () => library.insert(tx, 'evt_1')))).status;
    };
    expect([await once(), await once('acme'), await once('acme')]).toEqual(['done', 'done', 'duplicate']);
    await inbox.forget('evt_1', { tenant: 'acme' });
    expect([await once(), await once('acme')]).toEqual(['duplicate', 'done']);
    expect((await keys()).sort()).toEqual(['clips:evt_1', 'clips:tenant=acme:evt_1']);
  });

  it('a rollback after once undoes the record and the writes, and the event runs again', async () => {
    const undo = new Error('undo');
    const undone = library.transaction(async (tx) => {
      const { status } = await inbox.once(tx, deliveryOf('evt_1'), () => library.insert(tx, 'evt_1'));
      expect(status).toBe('done');
      throw undo;
    });
    await expect(undone).rejects.toBe(undo);
    expect([await clips(), await keys()]).toEqual([[], []]);
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
    expect(await clips()).toEqual(['evt_1']);
  });

  it('work that throws undoes its writes and the record, and the transaction goes on', async () => {
    const failure = new Error('no such clip');
    await library.transaction(async (tx) => {
      await library.insert(tx, 'before');
      const failed = inbox.once(tx, deliveryOf('evt_1'), async () => {
        await library.insert(tx, 'undone');
        throw failure;
      });
      await expect(failed).rejects.toBe(failure);
      await library.insert(tx, 'after');
    });
    expect((await clips()).sort()).toEqual(['after', 'before']);
    expect(await keys()).toEqual([]);
  });

  it('a concurrent attempt is refused with 409 while the transaction of the first is open', async () => {
    let refused: unknown;
    await deliver('evt_1', async (tx) => {
      refused = await rejection(deliver('evt_1'));
      await library.insert(tx, 'evt_1');
    });
    expect(refused).toMatchObject({ code: 'delivery_in_progress', status: 409 });
    expect(await deliver('evt_1')).toEqual({ status: 'duplicate' });
    expect(await clips()).toEqual(['evt_1']);
  });

  it('a delivery is refused as in progress once its table was locked for waitMs', async () => {
    const other = await admin.connect();
    await other.query('BEGIN');
    await other.query(`LOCK TABLE ${schema}.${table} IN ACCESS EXCLUSIVE MODE`);
    const refused = await deliver('evt_1').catch((error: unknown) => error);
    await other.query('ROLLBACK');
    other.release();
    expect(refused).toMatchObject({ code: 'delivery_in_progress' });
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
  });

  it('an object that is not an open transaction is refused, and no work runs', async () => {
    const work = vi.fn();
    const [outside] = Object.values(library.client);
    for (const wrong of [outside, undefined, null, {}, 'tx']) {
      expect(await rejection(inbox.once(wrong as never, deliveryOf('evt_1'), work))).toMatchObject({
        code: 'invalid_option',
      });
    }
    expect(work).not.toHaveBeenCalled();
    expect(await keys()).toEqual([]);
  });

  it('any event id is recorded, and a forgotten event runs again', async () => {
    for (const id of ['evt_ü', "evt_';--", 'evt_\0', 'evt_?$1:a', `evt_${'x'.repeat(500)}`]) {
      expect(await deliver(id, async () => 1)).toEqual({ status: 'done', result: 1 });
      expect(await deliver(id, async () => 1)).toEqual({ status: 'duplicate' });
      await inbox.forget(id);
      expect(await deliver(id, async () => 2)).toEqual({ status: 'done', result: 2 });
    }
  });

  it('a purge removes events whose retention is over, up to its limit', async () => {
    await admin.query(`INSERT INTO ${schema}.${table} SELECT i, now(), now() FROM generate_series(1, 5) i`);
    expect([await inbox.purgeExpired({ limit: 3 }), await inbox.purgeExpired({ limit: 3 })]).toEqual([3, 2]);
  });

  it('a receiver answers 409 to a concurrent attempt, and the event has its effect once', async () => {
    let concurrent = '';
    const { receiver } = aReceiver({
      dedupe: false,
      on: {
        async '*'(event, { delivery }) {
          await library.transaction((tx) =>
            inbox.once(tx, delivery, async () => {
              await library.insert(tx, event.id);
              concurrent ||= inShort(await receiver(aRequest()));
            }),
          );
        },
      },
    });
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(concurrent).toBe('409 delivery_in_progress');
    expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    expect(await clips()).toEqual(['evt_1']);
  });
});
