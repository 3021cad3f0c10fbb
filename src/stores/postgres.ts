import { checkPositiveInteger, integers } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore } from './contract.js';
import { createTable, type PostgresClient, querying, quoted, retrying } from './postgres-client.js';
import { createStoreSql, storeSql } from './postgres-sql.js';

export type { PgClient, PostgresClient, PostgresJsClient } from './postgres-client.js';
export { type PostgresInbox, type PostgresInboxOptions, postgresInbox } from './postgres-inbox.js';

/** Where a {@link postgresStore} keeps its rows. */
export interface PostgresStoreOptions {
  /** Its table, `name` or `schema.name`; `'webhook_deliveries'`. */
  table?: string | undefined;
  /**
   * How long a call waits for a row that another transaction has locked, in milliseconds; 1 000. Then it fails, and no
   * connection stays blocked.
   */
  waitMs?: number | undefined;
}

const MAX_TRIES = 3;

/**
 * Remembers events in PostgreSQL, for all receivers on it. The server's clock counts; the first claim of an event is
 * one round trip. Every call is a transaction of its own without a prepared statement or anything else that stays in
 * the session, so that it works through PgBouncer.
 *
 * `init()` makes the table where there is none; `sql/postgres.sql` is the same for migration tools. Call
 * `purgeExpired` now and then: nothing else removes what is expired.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: postgresStore({ pg: new Pool() }) } });
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): DedupeStore {
  const table = quoted(options.table ?? 'webhook_deliveries');
  const { waitMs } = integers(options, { waitMs: 1_000 });
  const sql = storeSql(table, waitMs);
  const query = retrying(querying(client, 'postgresStore'));

  return {
    scope: 'shared',

    init: () => createTable(query, table, createStoreSql(table)),

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      const values = [
        key,
        token,
        interval('leaseMs', leaseMs),
        fingerprint,
        alias,
        interval('retainMs', retainMs),
      ] as const;
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        const inserted = await query(sql.insert, ...values);
        if (inserted.count > 0) return { status: 'acquired', fence: 1, attempt: 1, seen: { fingerprint, alias } };
        const [known] = (await query(sql.take, ...values)).rows;
        if (known) return toResult(known);
      }
      throw new Error(`the row of a claim changed ${MAX_TRIES} times meanwhile`);
    },

    async extend({ key, token }, { leaseMs }) {
      const { count } = await query(sql.extend, key, token, interval('leaseMs', leaseMs));
      return count > 0 ? 'ok' : 'lost';
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }) {
      const retention = interval('retainMs', retainMs);
      const own = await query(sql.complete, key, token, retention);
      if (own.count > 0) return 'ok';
      const again = await query(sql.completeAgain, key, token, fence, fingerprint, alias, retention);
      return again.count > 0 ? 'ok' : 'lost';
    },

    async release({ key, token }) {
      const { count } = await query(sql.release, key, token);
      return count > 0 ? 'ok' : 'lost';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const [row] = (await query(sql.inspect, key)).rows;
      if (row === undefined) return undefined;
      const [state, fence, attempt, lease, retain, fingerprint, alias] = row;
      return {
        state: state as DedupeRecord['state'],
        fence: Number(fence),
        attempt: Number(attempt),
        fingerprint: String(fingerprint),
        alias: alias ?? undefined,
        leaseMsLeft: lease == null ? undefined : Number(lease),
        retainMsLeft: Number(retain),
      };
    },

    async forget(key) {
      await query(sql.forget, key);
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const { count } = await query(sql.purge, limit);
      return count;
    },
  };
}

function toResult([status, count, number, print, alias]: (string | null)[]): ClaimResult {
  const fence = Number(count);
  const seen = { fingerprint: String(print), alias: alias ?? undefined };
  if (status === 'acquired') return { status, fence, attempt: Number(number), seen };
  if (status === 'in_progress') return { status, fence, retryAfterMs: Number(number), seen };
  return { status: 'completed', fence, seen };
}

/** A duration as Postgres reads it. @throws WebhookError `invalid_option` */
function interval(name: string, ms: number): string {
  checkPositiveInteger(name, ms);
  return `${ms} ms`;
}
