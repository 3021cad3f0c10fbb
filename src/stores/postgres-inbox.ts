import { check, checkPositiveInteger, integers } from '../check.js';
import { WebhookError } from '../errors.js';
import { fingerprint } from '../hmac.js';
import type { Delivery } from '../verify.js';
import {
  createTable,
  type PgClient,
  type PostgresClient,
  type PostgresJsClient,
  querying,
  quoted,
  retrying,
  sqlState,
} from './postgres-client.js';
import { createInboxSql, inboxSql } from './postgres-sql.js';

/** Options of {@link postgresInbox}. */
export interface PostgresInboxOptions {
  /** Its table, `name` or `schema.name`; `'webhook_inbox'`. Not the one of a store. */
  table?: string | undefined;
  /** This endpoint's name, as in the options of dedupe; `'default'`. */
  name?: string | undefined;
  /** How long an event is remembered, in milliseconds; 72 h. Below 6 h is refused: retries span 5 h 15 m. */
  retainMs?: number | undefined;
  /** How long a delivery waits for a transaction that has recorded the same event, in milliseconds; 300. */
  waitMs?: number | undefined;
}

/** See {@link postgresInbox}. */
export interface PostgresInbox<Transaction> {
  /** Makes the table where it is missing; may be called twice. */
  init(): Promise<void>;
  /**
   * Records the delivery in `tx`, your open transaction, and runs `work`, which writes through the same one. An event
   * that is recorded already is a duplicate, and `work` does not run. Both become true with your COMMIT. What `work`
   * throws undoes both, whether you roll back or not.
   *
   * @throws WebhookError `delivery_in_progress` where another open transaction has recorded the event and does not end
   *   within `waitMs`: a handler that lets it through answers 409. `invalid_option` where no transaction is open.
   */
  once<T>(
    tx: Transaction,
    delivery: Pick<Delivery, 'event'>,
    work: () => T | PromiseLike<T>,
  ): Promise<{ status: 'done'; result: T } | { status: 'duplicate' }>;
  /** For the operator: forgets an event, so that a redelivery runs again. */
  forget(eventId: string): Promise<void>;
  /** For the operator: removes up to `limit` events whose retention is over, and says how many. */
  purgeExpired(options: { limit: number }): Promise<number>;
}

const HOUR = 3_600_000;
const LOCK_NOT_AVAILABLE = '55P03';
const NO_ACTIVE_TRANSACTION = '25P01';

/**
 * Effects exactly once: an event is recorded in the transaction of the writes it causes, so that both are there or
 * neither is, whenever the process dies. It needs no other dedupe; beside one, it covers the crash between the work
 * and its record. The table has to be in the database of those writes.
 *
 * Should a receiver vanish without closing its connection, `idle_in_transaction_session_timeout` decides when another
 * may have the event.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const inbox = postgresInbox({ postgresJs: sql });
 * await inbox.init();
 * createReceiver({
 *   secret,
 *   dedupe: false,
 *   on: {
 *     'generation.completed': async (event, { delivery }) => {
 *       await sql.begin((tx) => inbox.once(tx, delivery, () => tx`INSERT INTO clips VALUES (${event.data.clipId})`));
 *     },
 *   },
 * });
 */
export function postgresInbox(client: { pg: PgClient }, options?: PostgresInboxOptions): PostgresInbox<PgClient>;
export function postgresInbox(
  client: { postgresJs: PostgresJsClient },
  options?: PostgresInboxOptions,
): PostgresInbox<PostgresJsClient>;
export function postgresInbox(
  client: PostgresClient,
  options: PostgresInboxOptions = {},
): PostgresInbox<PgClient & PostgresJsClient> {
  const table = quoted(options.table ?? 'webhook_inbox');
  const { name = 'default' } = options;
  check(/^[!-9;-~]{1,64}$/.test(name), 'name must be 1 to 64 visible ASCII characters, no colon');
  const { retainMs, waitMs } = integers(options, { retainMs: 72 * HOUR, waitMs: 300 });
  check(retainMs >= 6 * HOUR, 'retainMs must be >= 6 h');
  const sql = inboxSql(table, waitMs);
  const query = retrying(querying(client, 'postgresInbox'));

  const keyOf = async (id: string) => `${name}:${await storable(id)}`;

  return {
    init: () => createTable(query, table, createInboxSql(table)),

    async once(tx, { event }, work) {
      const run = querying(client.pg ? { pg: tx } : { postgresJs: tx }, 'tx');
      const key = await keyOf(event.id);
      await run(sql.begin).catch(explain);
      try {
        const [recorded] = (await run(sql.record, key, `${retainMs} ms`).catch(explain)).rows.flat();
        const done =
          recorded === '1' ? ({ status: 'done', result: await work() } as const) : ({ status: 'duplicate' } as const);
        await run(sql.end);
        return done;
      } catch (error) {
        await run(sql.undo).catch(() => {}); // a connection that is gone has undone it
        throw error;
      }
    },

    async forget(eventId) {
      await query(sql.forget, await keyOf(eventId));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const { count } = await query(sql.purge, limit);
      return count;
    },
  };
}

/** Everything else is the user's to see as it is: 40001, for one, makes many of them run their transaction again. */
function explain(cause: unknown): never {
  if (sqlState(cause) === LOCK_NOT_AVAILABLE) {
    throw new WebhookError('delivery_in_progress', 409, 'Nothing to do: another transaction has it.', undefined, {
      cause,
    });
  }
  if (sqlState(cause) === NO_ACTIVE_TRANSACTION) {
    const hint = 'Hand on the client that ran BEGIN, or the sql of begin().';
    throw new WebhookError('invalid_option', 500, hint, 'tx is in no transaction', { cause });
  }
  throw cause;
}

/** As the key of a store: what is long or holds more than visible ASCII is hashed. */
async function storable(id: string): Promise<string> {
  return /^[!-~]{1,120}$/.test(id) ? id : `sha256:${await fingerprint(JSON.stringify(id))}`;
}
