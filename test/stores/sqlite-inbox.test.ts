import type { Delivery } from 'service-webhooks';
import { type SqliteInbox, type SqliteInboxOptions, sqliteInbox, sqliteStore } from 'service-webhooks/stores/sqlite';
import { describe, expect, it } from 'vitest';
import { clientOf, type Handle } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { anEvent, aReceiver, aRequest, inShort, refusal, rejection } from '../support/deliveries.js';

const { newFile, open: openFile } = sqliteFiles();

const deliveryOf = (id: string) => ({ event: anEvent({ id }) }) as unknown as Pick<Delivery, 'event'>;

describe.each(libraries)('sqliteInbox on %s', (_, driver) => {
  const open = (file: string) => openFile(driver, file);

  /** An inbox, and a table for the effects of deliveries. */
  async function anInbox(options: Partial<SqliteInboxOptions> = {}, handle = open(newFile())) {
    const inbox = sqliteInbox(clientOf(driver, handle), { name: 'default', ...options });
    await inbox.init();
    handle.exec('CREATE TABLE IF NOT EXISTS clips (id TEXT)');
    return { inbox, handle, insert: (id: string) => void handle.prepare('INSERT INTO clips VALUES (?)').run(id) };
  }

  function clips(handle: Handle): number {
    return (handle.prepare('SELECT count(*) AS clips FROM clips').get() as { clips: number }).clips;
  }

  it('an inbox runs the work of an event once, and gives its result', async () => {
    const { inbox, handle, insert } = await anInbox();
    const work = () => {
      insert('a');
      return 42;
    };
    expect(inbox.once(deliveryOf('evt_1'), work)).toEqual({ status: 'done', result: 42 });
    expect(inbox.once(deliveryOf('evt_1'), work)).toEqual({ status: 'duplicate' });
    expect(inbox.once(deliveryOf('evt_2'), work)).toEqual({ status: 'done', result: 42 });
    expect(clips(handle)).toBe(2);
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

  it('ids that UTF-8 cannot hold are different ids', async () => {
    const { inbox } = await anInbox();
    for (const id of [
      'evt_\ud800',
      'evt_\ud801',
      'evt_\ufffd',
      'evt_\ud800_a',
      'evt_\ud801_a',
      'evt_a',
      'evt_a\0',
      'evt_a\0b',
      'evt_ü',
      'evt_u\u0308',
    ]) {
      expect(inbox.once(deliveryOf(id), () => {})).toMatchObject({ status: 'done' });
      expect(inbox.once(deliveryOf(id), () => {})).toEqual({ status: 'duplicate' });
      await inbox.forget(id);
      expect(inbox.once(deliveryOf(id), () => {})).toMatchObject({ status: 'done' });
    }
  });

  it('an inbox undoes the record and the writes when the work throws', async () => {
    const { inbox, handle, insert } = await anInbox();
    const failure = new Error('no such clip');
    const attempt = () =>
      inbox.once(deliveryOf('evt_1'), () => {
        insert('a');
        throw failure;
      });
    expect(attempt).toThrow(failure);
    expect(clips(handle)).toBe(0);
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toMatchObject({ status: 'done' });
    expect(clips(handle)).toBe(1);
  });

  it('a rollback of the open transaction undoes the record and the writes', async () => {
    const { inbox, handle, insert } = await anInbox();
    handle.exec('BEGIN');
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toMatchObject({ status: 'done' });
    handle.exec('ROLLBACK');
    expect(clips(handle)).toBe(0);
    handle.exec('BEGIN');
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toMatchObject({ status: 'done' });
    expect(() => handle.exec('RELEASE webhooks')).toThrow(/no such savepoint/);
    handle.exec('COMMIT');
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toEqual({ status: 'duplicate' });
    expect(clips(handle)).toBe(1);
  });

  it('an inbox leaves the rest of an open transaction alone when the work throws', async () => {
    const { inbox, handle, insert } = await anInbox();
    handle.exec('BEGIN');
    insert('before');
    const attempt = () =>
      inbox.once(deliveryOf('evt_1'), () => {
        insert('undone');
        throw new Error('no such clip');
      });
    expect(attempt).toThrow('no such clip');
    handle.exec('COMMIT');
    expect(clips(handle)).toBe(1);
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toMatchObject({ status: 'done' });
  });

  it('an inbox refuses work that returns a promise, and records nothing', async () => {
    const { inbox, handle, insert } = await anInbox();
    const error = refusal(() =>
      inbox.once(deliveryOf('evt_1'), async () => {
        insert('a');
      }),
    );
    expect(error.message).toContain('work must not return a promise');
    expect(clips(handle)).toBe(0);
    expect(inbox.once(deliveryOf('evt_0'), () => null)).toEqual({ status: 'done', result: null });
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toMatchObject({ status: 'done' });
  });

  it('an inbox refuses with delivery_in_progress while another connection writes', async () => {
    const file = newFile();
    const { inbox, handle, insert } = await anInbox({ waitMs: 1 }, open(file));
    const other = open(file);
    other.exec('BEGIN IMMEDIATE');
    const error = refusal(() => inbox.once(deliveryOf('evt_1'), () => insert('a')));
    expect(error).toMatchObject({
      code: 'delivery_in_progress',
      status: 409,
      retryable: true,
      cause: expect.any(Error),
    });
    expect(error.message).toContain('Another connection is writing.');
    other.exec('COMMIT');
    expect(inbox.once(deliveryOf('evt_1'), () => insert('a'))).toMatchObject({ status: 'done' });
    expect(clips(handle)).toBe(1);
  });

  it('an inbox sees what another connection has committed', async () => {
    const file = newFile();
    const [one, two] = [await anInbox({}, open(file)), await anInbox({}, open(file))];
    one.inbox.once(deliveryOf('evt_1'), () => one.insert('a'));
    expect(two.inbox.once(deliveryOf('evt_1'), () => two.insert('a'))).toEqual({ status: 'duplicate' });
  });

  it('an inbox runs the work with the busy timeout that the handle has', async () => {
    const { inbox, handle } = await anInbox();
    handle.exec('PRAGMA busy_timeout = 4321');
    const timeout = () => handle.prepare('PRAGMA busy_timeout').get();
    expect(inbox.once(deliveryOf('evt_1'), timeout)).toMatchObject({ result: { timeout: 4_321 } });
    expect(timeout()).toMatchObject({ timeout: 4_321 });
  });

  it('an inbox rethrows other errors', async () => {
    const inbox = sqliteInbox(clientOf(driver, open(newFile())), { name: 'clips' });
    expect(() => inbox.once(deliveryOf('evt_1'), () => {})).toThrow(/no such table/);
  });

  it('an inbox keeps two endpoints apart', async () => {
    const handle = open(newFile());
    const [orders, billing] = [await anInbox({ name: 'orders' }, handle), await anInbox({ name: 'billing' }, handle)];
    orders.inbox.once(deliveryOf('evt_1'), () => {});
    expect(billing.inbox.once(deliveryOf('evt_1'), () => {})).toMatchObject({ status: 'done' });
  });

  it.each(['evt_é', 'evt_\u0000a', `evt_${'x'.repeat(10_000)}`, "evt_'--", 'evt_A', 'evt_a', 'evt_ '])(
    'an inbox takes any id: %j',
    async (id) => {
      const { inbox } = await anInbox();
      expect(inbox.once(deliveryOf(id), () => {})).toMatchObject({ status: 'done' });
      expect(inbox.once(deliveryOf(id), () => {})).toEqual({ status: 'duplicate' });
      expect(inbox.once(deliveryOf(`${id}b`), () => {})).toMatchObject({ status: 'done' });
      expect(inbox.once(deliveryOf(id.slice(0, -1)), () => {})).toMatchObject({ status: 'done' });
    },
  );

  it('an inbox forgets an event after its retention, purged or not', async () => {
    const clock = { now: 1_000 };
    const retainMs = 6 * 3_600_000;
    const { inbox } = await anInbox({ retainMs, now: () => clock.now });
    const once = (id: string) => inbox.once(deliveryOf(id), () => {}).status;
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
    const { inbox } = await anInbox();
    inbox.once(deliveryOf('evt_1'), () => {});
    await inbox.forget('evt_1');
    expect(inbox.once(deliveryOf('evt_1'), () => {})).toMatchObject({ status: 'done' });
  });

  describe('behind a receiver', () => {
    function receiverWith(inbox: SqliteInbox, work: () => void, dedupe: Parameters<typeof aReceiver>[0] = {}) {
      return aReceiver({
        dedupe: false,
        ...dedupe,
        on: { '*': (__, { delivery }) => void inbox.once(delivery, work) },
      });
    }

    it('the work of two deliveries of one event runs once', async () => {
      const { inbox, handle, insert } = await anInbox();
      const { receiver } = receiverWith(inbox, () => insert('a'));
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(clips(handle)).toBe(1);
    });

    it('a receiver answers 409 while another connection writes', async () => {
      const file = newFile();
      const { inbox, insert } = await anInbox({ waitMs: 1 }, open(file));
      const { receiver } = receiverWith(inbox, () => insert('a'));
      const other = open(file);
      other.exec('BEGIN IMMEDIATE');
      expect(inShort(await receiver(aRequest()))).toBe('409 delivery_in_progress');
      other.exec('ROLLBACK');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
    });

    it('a receiver answers 500 when the work throws, and handles the next attempt', async () => {
      const { inbox, handle, insert } = await anInbox();
      const failures = [new Error('no such clip')];
      const { receiver } = receiverWith(inbox, () => {
        insert('a');
        const failure = failures.pop();
        if (failure) throw failure;
      });
      expect(inShort(await receiver(aRequest()))).toBe('500 handler_failed');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(clips(handle)).toBe(1);
    });

    it('an inbox works next to a store on the same handle', async () => {
      const { inbox, handle, insert } = await anInbox();
      const store = sqliteStore(clientOf(driver, handle));
      const { receiver, answers, notices } = receiverWith(inbox, () => insert('a'), {
        dedupe: { store, name: 'default' },
      });
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
      await store.forget?.('default:evt_1');
      expect(inShort(await receiver(aRequest()))).toBe('200 handled');
      expect(clips(handle)).toBe(1);
      expect([answers(), notices()]).toEqual([['handled', 'duplicate', 'handled'], []]);
    });
  });
});

describe('sqliteInbox', () => {
  const client = { betterSqlite3: { prepare: () => ({ get() {}, run: () => ({ changes: 0 }) }), exec() {} } };

  it.each<[options: Partial<SqliteInboxOptions> | undefined, problem: string]>([
    [undefined, 'sqliteInbox needs the name of the endpoint'],
    [{ name: undefined as never }, 'name must be the name of the endpoint'],
    [{ name: '' }, 'name must be the name of the endpoint: 1 to 64 visible ASCII'],
    [{ name: 'a:b' }, 'name must be the name of the endpoint: 1 to 64 visible ASCII'],
    [{ name: 'üa' }, 'name must be the name of the endpoint: 1 to 64 visible ASCII'],
    [{ name: 'a'.repeat(65) }, 'name must be the name of the endpoint: 1 to 64 visible ASCII'],
    [{ retainMs: 0 }, 'retainMs must be a positive integer'],
    [{ retainMs: 3_600_000 }, 'retainMs must be at least 21600000 (6 hours)'],
    [{ waitMs: 0 }, 'waitMs must be a positive integer'],
    [{ waitMs: 1.5 }, 'waitMs must be a positive integer'],
    [{ table: 'a b' }, 'table must be a name of letters, digits and _'],
    [{ now: 5 as unknown as () => number }, 'now must be a function'],
  ])('an inbox refuses the options %j', (options, problem) => {
    const given = options && { name: 'clips', ...options };
    expect(refusal(() => sqliteInbox(client, given as SqliteInboxOptions)).message).toContain(problem);
  });

  it('an inbox refuses a purge without a positive limit', async () => {
    expect((await rejection(sqliteInbox(client, { name: 'clips' }).purgeExpired({ limit: 0 }))).message).toContain(
      'limit must be a positive integer',
    );
  });
});
