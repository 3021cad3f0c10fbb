import { type KyselyClient, sqliteInbox } from 'service-webhooks/stores/sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { hasSqlite, openSqliteLibraries } from '../integration/orms/libraries.js';
import { sqliteFiles } from '../integration/sqlite-libraries.js';
import { rejection } from '../support/deliveries.js';
import { deliveryOf } from './requests.js';

const { newFile } = sqliteFiles();

function open(file = newFile()) {
  const database = openSqliteLibraries(file);
  onTestFinished(() => database.close());
  return { ...database, file };
}

const failure = new Error('no such clip');

describe.runIf(hasSqlite)('sqliteInbox in transactions of Drizzle', () => {
  async function anInbox() {
    const database = open();
    const inbox = sqliteInbox({ drizzle: database.drizzle }, { name: 'clips' });
    await inbox.init();
    const { drizzle, clips } = database;
    const insert = (tx: typeof drizzle, id: string) => tx.insert(clips).values({ id }).run();
    return { ...database, inbox, insert };
  }

  it('an event is recorded with the writes of its work, and a duplicate does not run', async () => {
    const { drizzle, inbox, insert, ids, keys } = await anInbox();
    const deliver = () =>
      drizzle.transaction((tx: typeof drizzle) => inbox.once(deliveryOf('evt_1'), () => void insert(tx, 'a')));
    expect([deliver(), deliver()]).toEqual([{ status: 'done', result: undefined }, { status: 'duplicate' }]);
    expect([ids(), keys()]).toEqual([['a'], ['clips:evt_1']]);
  });

  it('a rollback of Drizzle undoes the record and the writes, and the event runs again', async () => {
    const { drizzle, inbox, insert, ids } = await anInbox();
    const undone = () =>
      drizzle.transaction((tx: typeof drizzle) => {
        inbox.once(deliveryOf('evt_1'), () => void insert(tx, 'a'));
        throw failure;
      });
    expect(undone).toThrow(failure);
    expect(ids()).toEqual([]);
    expect(inbox.once(deliveryOf('evt_1'), () => void insert(drizzle, 'b'))).toMatchObject({ status: 'done' });
    expect(ids()).toEqual(['b']);
  });
});

describe.runIf(hasSqlite)('sqliteInbox in transactions of Kysely', () => {
  async function anInbox(file?: string) {
    const database = open(file);
    const { kysely } = database;
    const inbox = sqliteInbox({ kysely: kysely as KyselyClient }, { name: 'clips', waitMs: 20 });
    await inbox.init();
    const insert = (tx: typeof kysely, id: string) => tx.insertInto('clips').values({ id }).execute();
    const deliver = (id: string, work = (tx: typeof kysely) => insert(tx, id)) =>
      kysely.transaction().execute((tx: typeof kysely) => inbox.once(tx, deliveryOf(id), () => work(tx)));
    return { ...database, inbox, insert, deliver };
  }

  it('an event is recorded with the writes of its work, and a duplicate does not run', async () => {
    const { deliver, ids, keys } = await anInbox();
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
    expect(await deliver('evt_1')).toEqual({ status: 'duplicate' });
    expect([ids(), keys()]).toEqual([['evt_1'], ['clips:evt_1']]);
  });

  it('a rollback of Kysely undoes the record and the writes, and the event runs again', async () => {
    const { kysely, inbox, insert, deliver, ids, keys } = await anInbox();
    const undone = kysely.transaction().execute(async (tx: typeof kysely) => {
      await inbox.once(tx, deliveryOf('evt_1'), () => insert(tx, 'a'));
      throw failure;
    });
    await expect(undone).rejects.toBe(failure);
    expect([ids(), keys()]).toEqual([[], []]);
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
  });

  it('work that throws undoes its writes and the record, and the transaction goes on', async () => {
    const { kysely, inbox, insert, ids, keys } = await anInbox();
    await kysely.transaction().execute(async (tx: typeof kysely) => {
      await insert(tx, 'before');
      const failed = inbox.once(tx, deliveryOf('evt_1'), async () => {
        await insert(tx, 'undone');
        throw failure;
      });
      await expect(failed).rejects.toBe(failure);
    });
    expect([ids(), keys()]).toEqual([['before'], []]);
  });

  it('an attempt is refused with 409 while another connection writes, and the busy timeout stays', async () => {
    const { file, deliver, busyTimeout } = await anInbox();
    const other = open(file);
    const before = busyTimeout();
    other.exec('BEGIN IMMEDIATE');
    expect(await rejection(deliver('evt_1'))).toMatchObject({ code: 'delivery_in_progress', status: 409 });
    other.exec('ROLLBACK');
    expect(busyTimeout()).toEqual(before);
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
    expect(busyTimeout()).toEqual(before);
  });

  it('an event runs once for each tenant, and that of one is forgotten', async () => {
    const { inbox, kysely } = await anInbox();
    const once = async (tenant?: string) => {
      const delivery = { ...deliveryOf('evt_1'), tenant };
      return (await kysely.transaction().execute((tx: typeof kysely) => inbox.once(tx, delivery, () => {}))).status;
    };
    expect([await once(), await once('acme'), await once('acme')]).toEqual(['done', 'done', 'duplicate']);
    await inbox.forget('evt_1', { tenant: 'acme' });
    expect([await once(), await once('acme')]).toEqual(['duplicate', 'done']);
  });

  it('a database in place of a transaction is refused, and no work runs', async () => {
    const { inbox, kysely, keys } = await anInbox();
    const work = vi.fn();
    const { code, message } = await rejection(inbox.once(kysely, deliveryOf('evt_1'), work));
    expect([code, message]).toEqual([
      'invalid_option',
      expect.stringContaining('tx must be an open transaction of Kysely'),
    ]);
    expect(work).not.toHaveBeenCalled();
    expect(keys()).toEqual([]);
  });

  it('a forgotten event runs again, and a purge removes events whose retention is over', async () => {
    const { inbox, deliver, exec } = await anInbox();
    await deliver('evt_1');
    await inbox.forget('evt_1');
    expect(await deliver('evt_1')).toMatchObject({ status: 'done' });
    expect(await inbox.purgeExpired({ limit: 10 })).toBe(0);
    exec('UPDATE webhook_inbox SET expires_at = 0');
    expect(await inbox.purgeExpired({ limit: 10 })).toBe(1);
    const { message } = await rejection(inbox.purgeExpired({ limit: 0 }));
    expect(message).toContain('limit must be a positive integer');
  });

  it('init() sends no statement that changes a table which is up to date', async () => {
    const { inbox, kysely } = await anInbox();
    const execute = vi.spyOn(kysely, 'executeQuery');
    await inbox.init();
    const sent = execute.mock.calls.map(([query]) => (query as { sql: string }).sql);
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.filter((statement) => !/^(PRAGMA|SELECT) /.test(statement))).toEqual([]);
  });
});
