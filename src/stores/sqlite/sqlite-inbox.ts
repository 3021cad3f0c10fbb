import { endpointKey } from '../../endpoint.js';
import { WebhookError } from '../../errors.js';
import type { AnyEvent } from '../../event.js';
import { check, checkFunction, checkPositiveInteger } from '../../option-checks.js';
import type { Delivery } from '../../verify/verify.js';
import { type InboxOptions, type InboxResult, inboxSettings, type TransactionInbox } from '../inbox.js';
import type { KyselyClient } from '../kysely.js';
import { clientName } from '../named-client.js';
import { busyAsInProgress, openDatabase, type SqliteClient, type SqliteDatabase } from './database.js';
import { inboxStatements } from './inbox-statements.js';
import { kyselyInbox } from './kysely-inbox.js';
import { inboxSchema } from './schema.js';

/** An open handle, or the Drizzle database on one: of better-sqlite3, libsql's sync API, bun:sqlite or node:sqlite. */
export type SqliteInboxClient =
  | (SqliteClient & { drizzle?: undefined })
  | { drizzle: { readonly $client: SqliteDatabase }; betterSqlite3?: undefined; nodeSqlite?: undefined };

/** Options of {@link sqliteInbox}. The process blocks while `once` waits for another connection to write. */
export interface SqliteInboxOptions extends InboxOptions {
  /** The clock, in milliseconds since the epoch. Default: SQLite's, which is the clock of the host. */
  now?: (() => number) | undefined;
}

/** An inbox on a synchronous handle. */
export interface SqliteInbox extends Pick<TransactionInbox<never>, 'init' | 'forget' | 'purgeExpired'> {
  /**
   * Records the event and runs `work` in one transaction: in yours where one is open on the handle, and otherwise in
   * one of its own. If the event is already recorded, `work` does not run. If `work` throws, both are undone.
   *
   * @throws WebhookError `delivery_in_progress` where another connection writes for longer than `waitMs`: if your
   *   handler rethrows it, the delivery is answered 409. `invalid_option` where `work` returns a promise, for which a
   *   transaction on this handle cannot wait; nothing is recorded then.
   */
  once<T>(delivery: Pick<Delivery<AnyEvent>, 'event' | 'tenant'>, work: () => T): InboxResult<T>;
}

const FORMS = {
  betterSqlite3: { methods: ['prepare', 'exec'], example: 'db' },
  nodeSqlite: { methods: ['prepare', 'exec'], example: 'db' },
  drizzle: { methods: ['transaction'], example: 'db' },
  kysely: { methods: ['executeQuery'], example: 'db' },
};

/**
 * Returns an inbox, which records each event in the transaction of the writes it causes: both are committed or neither
 * is, whenever the process dies, so that the effects happen exactly once. The table must be in the database of those
 * writes. With an inbox a receiver needs no other dedupe.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const inbox = sqliteInbox({ betterSqlite3: db }, { name: 'clips' });
 * await inbox.init();
 * createReceiver({
 *   secret,
 *   dedupe: false,
 *   on: {
 *     'generation.completed': (event, { delivery }) => {
 *       inbox.once(delivery, () => insertClip.run(event.data.clipId));
 *     },
 *   },
 * });
 */
export function sqliteInbox(client: SqliteInboxClient, options: SqliteInboxOptions): SqliteInbox;
export function sqliteInbox(
  client: { kysely: KyselyClient },
  options: SqliteInboxOptions,
): TransactionInbox<KyselyClient>;
export function sqliteInbox(
  client: SqliteInboxClient | { kysely: KyselyClient },
  options: SqliteInboxOptions,
): SqliteInbox | TransactionInbox<KyselyClient> {
  const clientIs = clientName<keyof typeof FORMS>('sqliteInbox', client, FORMS);
  const settings = inboxSettings('sqliteInbox', options, ['now']);
  const { table = 'webhook_inbox', now } = options;
  checkFunction('now', now);
  const time = () => (now ? Math.trunc(now()) : null);
  if (clientIs === 'kysely') return kyselyInbox((client as { kysely: KyselyClient }).kysely, table, settings, time);

  const { drizzle, betterSqlite3, nodeSqlite } = client as SqliteInboxClient;
  const { name, retainMs, waitMs } = settings;
  const db = openDatabase((drizzle?.$client ?? betterSqlite3 ?? nodeSqlite) as SqliteDatabase, table);
  const sql = inboxStatements(table);

  /** Runs a call that waits for another connection for `waitMs` at most. */
  function bounded<T>(call: () => T): T {
    try {
      return db.waiting(waitMs, call);
    } catch (error) {
      throw busyAsInProgress(error);
    }
  }

  function record({ event, tenant }: Pick<Delivery<AnyEvent>, 'event' | 'tenant'>): boolean {
    return db.get(sql.record, keyOf(name, event.id, tenant), retainMs, time(), retainMs) !== undefined;
  }

  const inbox: SqliteInbox = {
    init: () => db.init(inboxSchema(table)),

    once(delivery, work) {
      const runOnce = () => {
        if (!bounded(() => record(delivery))) return { status: 'duplicate' } as const;
        const result = work();
        check(!isThenable(result), 'work must not return a promise');
        return { status: 'done', result } as const;
      };
      return db.atomically(runOnce, () => bounded(db.begin));
    },

    async forget(eventId, { tenant } = {}) {
      await db.change(sql.forget, keyOf(name, eventId, tenant));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return db.purgeInBatches(sql.purge, time, limit);
    },
  };
  return inbox;
}

/** @throws WebhookError `sync_crypto_unavailable` in a runtime without a synchronous hash, for an id that needs one */
function keyOf(name: string, eventId: string, tenant: string | undefined): string {
  const key = endpointKey(name, eventId, tenant);
  if (typeof key !== 'string') throw new WebhookError('sync_crypto_unavailable', { hint: 'Use the inbox on Node.' });
  return key;
}

function isThenable(value: unknown): boolean {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
