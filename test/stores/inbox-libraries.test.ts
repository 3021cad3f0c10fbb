import type { TransactionInbox } from 'service-webhooks/stores/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Connected, isInstalled } from '../integration/orms/libraries.js';
import { aReceiver, aRequest, inShort, rejection } from '../support/deliveries.js';
import { type InboxDatabase, openMysql, openPostgres } from './inbox-databases.js';
import { deliveryOf } from './requests.js';

const databases = { postgresInbox: await openPostgres(), mysqlInbox: await openMysql() };
const cases = Object.entries(databases).flatMap(([name, database]) =>
  (database?.libraries ?? []).map(([library, connect]) => [name, library, connect, database as InboxDatabase] as const),
);

afterAll(async () => {
  for (const database of Object.values(databases)) await database?.stop();
});

describe.runIf(cases.length === 0)('the libraries of inboxes', () => {
  it('none of them is installed', () => {
    expect(isInstalled).toBe(false);
  });
});

describe.each(cases)('%s in transactions of %s', (_, libraryName, connect, database) => {
  const { column, lock, inbox: inboxOf } = database;
  const table = `inbox_${libraryName.toLowerCase().replaceAll(' ', '_')}`;
  let library: Connected;
  let inbox: TransactionInbox<never>;

  beforeAll(async () => {
    library = await connect();
    inbox = inboxOf(library.client, { name: 'clips', table });
    await inbox.init();
    await inbox.init();
  });

  beforeEach(async () => {
    await column('DELETE FROM clips');
    await column(`DELETE FROM ${table}`);
  });

  afterAll(() => library.close());

  /** Runs a delivery in a transaction of its own. */
  const deliver = (id: string, work?: (tx: never) => Promise<unknown>) =>
    library.transaction((tx) =>
      inbox.once(tx, deliveryOf(id), () => (work ? work(tx) : library.insert(tx, id).then(() => 'inserted'))),
    );
  const clips = () => column('SELECT id FROM clips');
  const keys = () => column(`SELECT i.key FROM ${table} i`);

  it('an event is recorded with the writes of its work, and a duplicate does not run', async () => {
    expect(await deliver('evt_1')).toEqual({ status: 'done', result: 'inserted' });
    expect(await deliver('evt_1')).toEqual({ status: 'duplicate' });
    expect([await clips(), await keys()]).toEqual([['evt_1'], ['clips:evt_1']]);
  });

  it('an event runs once for each tenant, and that of one is forgotten', async () => {
    const once = async (tenant?: string) => {
      const delivery = { ...deliveryOf('evt_1'), tenant };
      return (await library.transaction((tx) => inbox.once(tx, delivery, () => library.insert(tx, `${tenant}`))))
        .status;
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
    const unlock = await lock(table);
    const refused = await deliver('evt_1').catch((error: unknown) => error);
    await unlock();
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
    for (const id of ['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']) await deliver(id);
    await column(`UPDATE ${table} SET expires_at = recorded_at`);
    await deliver('evt_6');
    expect([await inbox.purgeExpired({ limit: 3 }), await inbox.purgeExpired({ limit: 3 })]).toEqual([3, 2]);
    expect(await keys()).toEqual(['clips:evt_6']);
  });

  it('an event runs again after its retention', async () => {
    await deliver('evt_1', async () => 1);
    await column(`UPDATE ${table} SET expires_at = recorded_at`);
    expect(await deliver('evt_1', async () => 2)).toEqual({ status: 'done', result: 2 });
    expect(await deliver('evt_1')).toEqual({ status: 'duplicate' });
  });

  it('one of many transactions that begin at the same time runs the event', async () => {
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => deliver('evt_1')));
    const results = attempts.map((one) => (one.status === 'fulfilled' ? one.value.status : one.reason.code));
    expect(results.filter((one) => one === 'done')).toHaveLength(1);
    expect(new Set(['done', 'duplicate', 'delivery_in_progress', ...results]).size).toBe(3);
    expect(await clips()).toEqual(['evt_1']);
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
