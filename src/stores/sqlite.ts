import { checkFunction, checkPositiveInteger } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation, Seen } from './contract.js';
import { NOW, openDatabase, purge, type SqliteClient } from './sqlite-database.js';

export type { SqliteClient, SqliteDatabase } from './sqlite-database.js';
export { type SqliteInbox, type SqliteInboxOptions, sqliteInbox } from './sqlite-inbox.js';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions {
  /** Its table; `'webhook_deliveries'`. Letters, digits and `_`. */
  table?: string | undefined;
  /** Its clock, in milliseconds since the epoch; by default SQLite's, which is the host's. */
  now?: (() => number) | undefined;
}

/**
 * Remembers events in a SQLite database (3.35 or newer), for all processes of one host. It works on the handle it is
 * given, and opens and closes nothing. `init()` makes the table and sets the journal to WAL, which a network file
 * system does not carry.
 *
 * Transactions that stay open over an `await` need a handle of their own: on the same one a claim would be a part of
 * them, and be rolled back with them.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = sqliteStore({ betterSqlite3: new Database('webhooks.db') });
 * createReceiver({ secret, on, dedupe: { store } });
 */
export function sqliteStore(client: SqliteClient, options: SqliteStoreOptions = {}): DedupeStore {
  const { now } = options;
  checkFunction('now', now);
  const { table, get, run, write, init } = openDatabase(client, options.table ?? 'webhook_deliveries');
  const time = () => (now ? Math.trunc(now()) : null);
  const sql = statements(table);
  const find = (key: string) => get<Row>(sql.find, time(), key);

  return {
    scope: 'host',
    init: () => init(schema(table)),

    async claim({ key, token, fingerprint, alias = null, leaseMs, retainMs }): Promise<ClaimResult> {
      checkDurations({ leaseMs, retainMs });
      const row = await write(() => {
        const values = [key, token, fingerprint, alias, leaseMs, retainMs];
        return (get<Row>(sql.claim, ...values, time()) ?? find(key)) as Row;
      });
      const fence = Number(row.fence);
      const seen: Seen = { fingerprint: row.fingerprint, alias: row.alias ?? undefined };
      if (row.state === 'completed') return { status: 'completed', fence, seen };
      if (row.owner === token) return { status: 'acquired', fence, attempt: Number(row.attempt), seen };
      // It may have lapsed since the claim was refused, a moment ago.
      return { status: 'in_progress', fence, retryAfterMs: Math.max(1, Number(row.lease_left)), seen };
    },

    async extend({ key, token }, { leaseMs }): Promise<Mutation> {
      checkDurations({ leaseMs });
      return (await write(() => get(sql.extend, key, token, leaseMs, time()))) ? 'ok' : 'lost';
    },

    async complete({ key, token, fence, fingerprint, alias = null }, { retainMs }): Promise<Mutation> {
      checkDurations({ retainMs });
      const values = [key, token, fence, fingerprint, alias, retainMs];
      return (await write(() => get(sql.complete, ...values, time()))) ? 'ok' : 'lost';
    },

    async release({ key, token }): Promise<Mutation> {
      const row = await write(() => get<Row>(sql.release, key, token, time()) ?? find(key));
      return row === undefined || row.state === 'released' || hasExpired(row) ? 'ok' : 'lost';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const row = find(key);
      if (row === undefined || hasExpired(row)) return undefined;
      return {
        state: row.state,
        fence: Number(row.fence),
        attempt: Number(row.attempt),
        fingerprint: row.fingerprint,
        alias: row.alias ?? undefined,
        leaseMsLeft: row.lease_left === null ? undefined : Number(row.lease_left),
        retainMsLeft: Number(row.retain_left),
      };
    },

    async forget(key) {
      await write(() => run(sql.forget, key));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return write(() => run(sql.purge, time(), limit));
    },
  };
}

/** As a driver gives it: a handle may be set to read integers as bigint. */
interface Row {
  state: DedupeRecord['state'];
  owner: string | null;
  fence: number | bigint;
  attempt: number | bigint;
  lease_left: number | bigint | null;
  retain_left?: number | bigint;
  fingerprint: string;
  alias: string | null;
}

/** Of a row that was looked at. */
function hasExpired({ retain_left }: Row): boolean {
  return Number(retain_left) <= 0;
}

const EXPIRED = 'd.expires_at <= excluded.updated_at';
const OURS = `(d.state = 'in_progress' AND d.owner = excluded.owner AND NOT ${EXPIRED})`;
const MINE = `(owner = token AND state = 'in_progress')`;

const schema = (table: string) => `
CREATE TABLE IF NOT EXISTS ${table} (
  key TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL,
  owner TEXT,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  lease_until INTEGER,
  expires_at INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  alias TEXT,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${table}_expires_at ON ${table} (expires_at)`;

const statements = (table: string) => ({
  // A row when it is acquired; the write lock stays, so a look at the row tells why it is not.
  claim: `
INSERT INTO ${table} AS d
  (key, state, owner, fence, attempt, lease_until, expires_at, fingerprint, alias, updated_at)
SELECT key, 'in_progress', token, 1, 1, now + lease, now + retain, fingerprint, alias, now
FROM (SELECT ? AS key, ? AS token, ? AS fingerprint, ? AS alias, ? AS lease, ? AS retain, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET
  state = excluded.state,
  owner = excluded.owner,
  fence = iif(${OURS}, d.fence, d.fence + 1),
  attempt = iif(${EXPIRED}, 1, iif(${OURS}, d.attempt, d.attempt + 1)),
  lease_until = excluded.lease_until,
  expires_at = excluded.expires_at,
  fingerprint = iif(${EXPIRED}, excluded.fingerprint, d.fingerprint),
  alias = iif(${EXPIRED}, excluded.alias, d.alias),
  updated_at = excluded.updated_at
WHERE ${EXPIRED} OR ${OURS} OR d.state = 'released'
  OR (d.state = 'in_progress' AND d.lease_until <= excluded.updated_at)
RETURNING state, owner, fence, attempt, fingerprint, alias`,

  // A row when it is done: a new one, or the owner's.
  complete: `
INSERT INTO ${table} AS d
  (key, state, owner, fence, attempt, expires_at, fingerprint, alias, updated_at)
SELECT key, 'completed', token, fence, 1, now + retain, fingerprint, alias, now
FROM (SELECT ? AS key, ? AS token, ? AS fence, ? AS fingerprint, ? AS alias, ? AS retain, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET
  state = excluded.state,
  owner = excluded.owner,
  fence = iif(${EXPIRED}, excluded.fence, d.fence),
  attempt = iif(${EXPIRED}, excluded.attempt, d.attempt),
  lease_until = NULL,
  expires_at = excluded.expires_at,
  fingerprint = iif(${EXPIRED}, excluded.fingerprint, d.fingerprint),
  alias = iif(${EXPIRED}, excluded.alias, d.alias),
  updated_at = excluded.updated_at
WHERE ${EXPIRED} OR d.owner = excluded.owner
RETURNING key`,

  extend: `
UPDATE ${table} SET lease_until = now + lease, expires_at = max(expires_at, now + lease), updated_at = now
FROM (SELECT ? AS wanted, ? AS token, ? AS lease, ${NOW} AS now)
WHERE key = wanted AND ${MINE} AND expires_at > now
RETURNING key`,

  release: `
UPDATE ${table} SET state = 'released', owner = NULL, lease_until = NULL, updated_at = now
FROM (SELECT ? AS wanted, ? AS token, ${NOW} AS now)
WHERE key = wanted AND ${MINE} AND expires_at > now
RETURNING state`,

  find: `
SELECT state, owner, fence, attempt, fingerprint, alias, lease_until - now AS lease_left, expires_at - now AS retain_left
FROM ${table}, (SELECT ${NOW} AS now) WHERE key = ?`,

  forget: `DELETE FROM ${table} WHERE key = ?`,

  purge: purge(table),
});

function checkDurations(durations: Readonly<Record<string, unknown>>): void {
  for (const [name, ms] of Object.entries(durations)) checkPositiveInteger(name, ms);
}
