import type { ReceiverOptions } from 'service-webhooks';
import { type SqliteInbox, type SqliteInboxOptions, sqliteInbox, sqliteStore } from 'service-webhooks/stores/sqlite';
import { describe, expect, it, vi } from 'vitest';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { aReceiver, aRequest, inShort, refusal, rejection } from '../support/deliveries.js';
import { deliveryOf, itRefuses, wrongInboxOptions } from './requests.js';

const { newFile, open: openFile } = sqliteFiles();

describe.each(libraries)('sqliteInbox on %s', (_, driver) => {
  const open = (file: string) => openFile(driver, file);

  /** An inbox, and a table for the effects of deliveries. */
  async function anInbox(options: Partial<SqliteInboxOptions> = {}, handle = open(newFile())) {
    const inbox = sqliteInbox(clientOf(driver, handle), { name: 'default', ...options });
    await inbox.init();
    handle.exec('CREATE TABLE IF NOT EXISTS clips (id TEXT)');
    const insert = () => void handle.exec("INSERT INTO clips VALUES ('a')");
    const clips = () => (handle.prepare('SELECT count(*) AS clips FROM clips').get() as { clips: number }).clips;
    const once = (id = 'evt_1', work: () => unknown = insert) => inbox.once(deliveryOf(id), work);
    return { inbox, handle, insert, clips, once };
  }

  const done = { status: 'done' };
  const duplicate = { status: 'duplicate' };

  it('an inbox runs the work of an event once, and gives its result', async () => {
    const { handle, insert, clips, once } = await anInbox();
    const work = () => {
      insert();
      return 42;
    };
    expect(once('evt_1', work)).toEqual({ status: 'done', result: 42 });
    expect(once('evt_1', work)).toEqual(duplicate);
    expect(once('evt_2', work)).toEqual({ status: 'done', result: 42 });
    expect(clips()).toBe(2);
    const { keys } = handle.prepare('SELECT group_concat(key) AS keys FROM webhook_inbox').get() as { keys: string };
    expect(keys.split(',').sort()).toEqual(['default:evt_1', 'default:evt_2']);
  });

  it('an inbox runs an event once for each tenant, and forgets that of one', async () => {
    const { inbox } = await anInbox();
    const once = (tenant?: string) => inbox.once({ ...deliveryOf('evt_1'), tenant }, () => {}).status;
    expect([once(), once('acme'), once('Müller'), once('acme')]).toEqual(['done', 'done', 'done', 'duplicate']);
    await inbox.forget('evt_1', { tenant: 'acme' });
    expect([once(), once('acme'), once('Müller')]).toEqual(['duplicate', 'done', 'duplicate']);
  });

  it('an inbox undoes the record and the writes when the work throws', async () => {
    const { insert, clips, once } = await anInbox();
    const failure = new Error('no such clip');
    const attempt = () =>
      once('evt_1', () => {
        insert();
        throw failure;
      });
    expect(attempt).toThrow(failure);
    expect(clips()).toBe(0);
    expect(once()).toMatchObject(done);
    expect(clips()).toBe(1);
  });

  it('a rollback of the open transaction undoes the record and the writes', async () => {
    const { handle, clips, once } = await anInbox();
    handle.exec('BEGIN');
    expect(once()).toMatchObject(done);
    handle.exec('ROLLBACK');
    expect(clips()).toBe(0);
    handle.exec('BEGIN');
    expect(once()).toMatchObject(done);
    expect(() => handle.exec('RELEASE webhooks')).toThrow(/no such savepoint/);
    handle.exec('COMMIT');
    expect(once()).toEqual(duplicate);
    expect(clips()).toBe(1);
  });

  it('an inbox leaves the rest of an open transaction alone when the work throws', async () => {
    const { handle, insert, clips, once } = await anInbox();
    handle.exec('BEGIN');
    insert();
    const attempt = () =>
      once('evt_1', () => {
        insert();
        throw new Error('no such clip');
      });
    expect(attempt).toThrow('no such clip');
    handle.exec('COMMIT');
    expect(clips()).toBe(1);
    expect(once()).toMatchObject(done);
  });

  it('an inbox refuses work that returns a promise, and records nothing', async () => {
    const { insert, clips, once } = await anInbox();
    expect(refusal(() => once('evt_1', async () => insert())).message).toContain('work must not return a promise');
    expect(clips()).toBe(0);
    expect(once('evt_0', () => null)).toEqual({ status: 'done', result: null });
    expect(once()).toMatchObject(done);
  });

  it('an inbox refuses with delivery_in_progress while another connection writes', async () => {
    const file = newFile();
    const { clips, once } = await anInbox({ waitMs: 1 }, open(file));
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    const error = refusal(() => once());
    const inProgress = { code: 'delivery_in_progress', status: 409, retryable: true, cause: expect.any(Error) };
    expect(error).toMatchObject(inProgress);
    expect(error.message).toContain('Another connection is writing.');
    other.exec('COMMIT');
    expect(once()).toMatchObject(done);
    expect(clips()).toBe(1);
  });

  it('an inbox sees what another connection has committed', async () => {
    const file = newFile();
    const [one, two] = [await anInbox({}, open(file)), await anInbox({}, open(file))];
    one.once();
    expect(two.once()).toEqual(duplicate);
  });

  it('an inbox runs the work with the busy timeout that the handle has', async () => {
    const { handle, once } = await anInbox();
    handle.exec('PRAGMA busy_timeout = 4321');
    const timeout = () => handle.prepare('PRAGMA busy_timeout').get();
    expect(once('evt_1', timeout)).toMatchObject({ result: { timeout: 4_321 } });
    expect(timeout()).toMatchObject({ timeout: 4_321 });
  });

  it('an inbox rethrows other errors', async () => {
    const inbox = sqliteInbox(clientOf(driver, open(newFile())), { name: 'clips' });
    expect(() => inbox.once(deliveryOf('evt_1'), () => {})).toThrow(/no such table/);
  });

  it('an inbox keeps two endpoints apart', async () => {
    const handle = open(newFile());
    const [orders, billing] = [await anInbox({ name: 'orders' }, handle), await anInbox({ name: 'billing' }, handle)];
    orders.once();
    expect(billing.once()).toMatchObject(done);
  });

  it('an inbox takes any id, and for the same only itself', async () => {
    const { inbox, once } = await anInbox();
    const notInUtf8 = ['evt_\ud800', 'evt_\ud801', 'evt_\ufffd', 'evt_\ud800_a', 'evt_\ud801_a'];
    const cut = ['evt_', 'evt_ ', 'evt_a', 'evt_A', 'evt_a\0', 'evt_a\0b', 'evt_\0a', "evt_'", "evt_'--"];
    const long = [`evt_${'x'.repeat(10_000)}`, `evt_${'x'.repeat(10_001)}`];
    for (const id of [...notInUtf8, ...cut, ...long, 'evt_é', 'evt_e\u0301']) {
      expect(once(id)).toMatchObject(done);
      expect(once(id)).toEqual(duplicate);
      await inbox.forget(id);
      expect(once(id)).toMatchObject(done);
    }
  });

  it('an inbox forgets an event after its retention, purged or not', async () => {
    const clock = { now: 1_000 };
    const retainMs = 6 * 3_600_000;
    const { inbox, ...made } = await anInbox({ retainMs, now: () => clock.now });
    const once = (id: string) => made.once(id).status;
    expect(once('evt_1')).toBe('done');
    clock.now += retainMs - 1;
    expect(once('evt_1')).toBe('duplicate');
    expect(await inbox.purgeExpired({ limit: 10 })).toBe(0);
    clock.now += 1;
    expect(once('evt_1')).toBe('done');
    expect(once('evt_2')).toBe('done');
    expect(once('evt_3')).toBe('done');
    clock.now += retainMs;
    expect(await inbox.purgeExpired({ limit: 2 })).toBe(2);
    expect(await inbox.purgeExpired({ limit: 2 })).toBe(1);
  });

  it('an inbox forgets an event on demand', async () => {
    const { inbox, once } = await anInbox();
    once();
    await inbox.forget('evt_1');
    expect(once()).toMatchObject(done);
  });

  describe('behind a receiver', () => {
    const receiverWith = (inbox: SqliteInbox, work: () => void, dedupe: ReceiverOptions['dedupe'] = false) =>
      aReceiver({ dedupe, on: { '*': (__, { delivery }) => void inbox.once(delivery, work) } });

    it('the work of two deliveries of one event runs once', async () => {
      const { inbox, insert, clips } = await anInbox();
      const { receiver } = receiverWith(inbox, insert);
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(clips()).toBe(1);
    });

    it('a receiver answers 409 while another connection writes', async () => {
      const file = newFile();
      const { inbox, insert } = await anInbox({ waitMs: 1 }, open(file));
      const { receiver } = receiverWith(inbox, insert);
      const other = open(file);
      other.exec('BEGIN IMMEDIATE');
      expect(inShort(await receiver(aRequest()))).toBe('409 delivery_in_progress');
      other.exec('ROLLBACK');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    });

    it('a receiver answers 500 when the work throws, and handles the next attempt', async () => {
      const { inbox, insert, clips } = await anInbox();
      const failures = [new Error('no such clip')];
      const { receiver } = receiverWith(inbox, () => {
        insert();
        const failure = failures.pop();
        if (failure) throw failure;
      });
      expect(inShort(await receiver(aRequest()))).toBe('500 handler_failed');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(clips()).toBe(1);
    });

    it('an inbox works next to a store on the same handle', async () => {
      const { inbox, handle, insert, clips } = await anInbox();
      const store = sqliteStore(clientOf(driver, handle));
      const { receiver, answers, notices } = receiverWith(inbox, insert, { store, name: 'default' });
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
      await store.forget?.('default:evt_1');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(clips()).toBe(1);
      expect([answers(), notices()]).toEqual([['handled', 'duplicate', 'handled'], []]);
    });
  });
});

describe('sqliteInbox', () => {
  const statement = { get: () => ({ timeout: 0 }), all: () => [], run: () => ({ changes: 0 }) };
  const client = { betterSqlite3: { prepare: () => statement, exec() {} } };

  const takes = 'sqliteInbox takes { betterSqlite3: db } or { nodeSqlite: db } or { drizzle: db } or { kysely: db }';
  itRefuses(sqliteInbox, [
    ...wrongInboxOptions.map(([options, says]) => [client, options, says] as const),
    ...[{}, { betterSqlite3: { exec() {} } }, { nodeSqlite: { prepare() {} } }, { kysely: {} }].map(
      (wrong) => [wrong, { name: 'clips' }, takes] as const,
    ),
    [client, undefined, 'sqliteInbox needs the name of the endpoint'],
    [client, { name: undefined }, 'name must be the name of the endpoint'],
    [client, { name: 'clips', table: 'a b' }, 'table must be a name of letters, digits and _'],
    [client, { name: 'clips', now: 5 }, 'now must be a function'],
  ]);

  it('an id that needs a hash is refused where the runtime has no synchronous one', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    vi.resetModules();
    const { sqliteInbox: onTheWeb } = await import('../../src/stores/sqlite.js');
    const { code, hint } = refusal(() => onTheWeb(client, { name: 'clips' }).once(deliveryOf('evt_é'), expect.fail));
    expect([code, hint]).toEqual(['sync_crypto_unavailable', 'Use the inbox on Node.']);
  });

  it('an inbox refuses a purge without a positive limit', async () => {
    const { message } = await rejection(sqliteInbox(client, { name: 'clips' }).purgeExpired({ limit: 0 }));
    expect(message).toContain('limit must be a positive integer');
  });
});
