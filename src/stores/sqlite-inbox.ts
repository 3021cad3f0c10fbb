import { check, checkFunction, checkPositiveInteger, integers } from '../check.js';
import { WebhookError } from '../errors.js';
import type { Delivery } from '../verify.js';
import { isBusy, NOW, openDatabase, purge, type SqliteClient } from './sqlite-database.js';

/** Options of {@link sqliteInbox}. */
export interface SqliteInboxOptions {
  /** Its table; `'webhook_inbox'`. Not the one of a store. */
  table?: string | undefined;
  /** This endpoint's name, as in the options of dedupe; `'default'`. */
  name?: string | undefined;
  /** How long an event is remembered, in milliseconds; 72 h. Below 6 h is refused: retries span 5 h 15 m. */
  retainMs?: number | undefined;
  /** How long a delivery waits for another connection that writes, in milliseconds; 300. The process waits with it. */
  waitMs?: number | undefined;
  /** Its clock, in milliseconds since the epoch; by default SQLite's, which is the host's. */
  now?: (() => number) | undefined;
}

/** See {@link sqliteInbox}. */
export interface SqliteInbox {
  /** Makes the table where it is missing, and sets the journal to WAL; may be called twice. */
  init(): Promise<void>;
  /**
   * Records the delivery and runs `work`, in one transaction: in yours where one is open on the handle, else in one of
   * its own. An event that is recorded already is a duplicate, and `work` does not run. What `work` throws undoes
   * both. It is synchronous, as the handle is, and so is this.
   *
   * @throws WebhookError `delivery_in_progress` where another connection writes for longer than `waitMs`: a handler
   *   that lets it through answers 409. `invalid_option` where `work` returns a promise, which no transaction here can
   *   wait for; nothing is recorded then.
   */
  once<T>(delivery: Pick<Delivery, 'event'>, work: () => T): { status: 'done'; result: T } | { status: 'duplicate' };
  /** For the operator: forgets an event, so that a redelivery runs again. */
  forget(eventId: string): Promise<void>;
  /** For the operator: removes up to `limit` events whose retention is over, and says how many. */
  purgeExpired(options: { limit: number }): Promise<number>;
}

const HOUR = 3_600_000;

/**
 * Effects exactly once: an event is recorded in the transaction of the writes it causes, so that both are there or
 * neither is, whenever the process dies. It needs no other dedupe; beside one, it covers the crash between the work
 * and its record. The table is in the database of those writes.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const inbox = sqliteInbox({ betterSqlite3: db });
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
export function sqliteInbox(client: SqliteClient, options: SqliteInboxOptions = {}): SqliteInbox {
  const { name = 'default', now } = options;
  check(/^[!-9;-~]{1,64}$/.test(name), 'name must be visible ASCII, no colon');
  const { retainMs, waitMs } = integers(options, { retainMs: 72 * HOUR, waitMs: 300 });
  check(retainMs >= 6 * HOUR, 'retainMs must be >= 6 h');
  checkFunction('now', now);
  const db = openDatabase(client, options.table ?? 'webhook_inbox');
  const sql = statements(db.table);
  const time = () => (now ? Math.trunc(now()) : null);
  // What is odd as JSON, which keeps apart what UTF-8 has no bytes for.
  const keyOf = (id: string) => `${name}:${/^[!-~]+$/.test(id) ? id : JSON.stringify(id)}`;

  /** What waits for another connection, if only for so long. */
  function bounded<T>(call: () => T): T {
    try {
      return db.waiting(waitMs, call);
    } catch (cause) {
      if (!isBusy(cause)) throw cause;
      throw new WebhookError('delivery_in_progress', 409, 'Another connection is writing.', undefined, { cause });
    }
  }

  function record(eventId: string): boolean {
    return db.get(sql.record, keyOf(eventId), retainMs, time(), retainMs) !== undefined;
  }

  return {
    init: () => db.init(schema(db.table)),

    once(delivery, work) {
      const runOnce = () => {
        if (!bounded(() => record(delivery.event.id))) return { status: 'duplicate' } as const;
        const result = work();
        check(!isThenable(result), 'work must not return a promise');
        return { status: 'done', result } as const;
      };
      return db.atomically(runOnce, () => bounded(db.begin));
    },

    async forget(eventId) {
      await db.write(() => db.run(sql.forget, keyOf(eventId)));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return db.write(() => db.run(sql.purge, time(), limit));
    },
  };
}

function isThenable(value: unknown): boolean {
  return typeof (value as PromiseLike<unknown> | null | undefined)?.then === 'function';
}

const schema = (table: string) => `
CREATE TABLE IF NOT EXISTS ${table} (key TEXT NOT NULL PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${table}_expires_at ON ${table} (expires_at)`;

const statements = (table: string) => ({
  // A row when it is new, or as good as new.
  record: `
INSERT INTO ${table} AS d (key, expires_at)
SELECT key, now + retain FROM (SELECT ? AS key, ? AS retain, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at WHERE d.expires_at <= excluded.expires_at - ?
RETURNING key`,

  forget: `DELETE FROM ${table} WHERE key = ?`,

  purge: purge(table),
});
