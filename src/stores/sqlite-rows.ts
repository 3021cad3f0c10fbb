import { checkPositiveInteger } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation, Seen } from './contract.js';
import { NOW, purge } from './sqlite-database.js';

/** With what stands for its `?`. */
export type Statement = readonly [sql: string, ...values: (string | number | null)[]];

/** How statements get to a database that speaks SQLite. */
export interface SqliteConnection {
  /** The first row that one of them gives, in this order, in a transaction that may write. */
  write(...statements: Statement[]): Promise<unknown>;
  /** The first row. */
  read(statement: Statement): Promise<unknown>;
  /** How many rows it changed. */
  change(statement: Statement): Promise<number>;
}

/** What a store on SQLite does once the table is there, by SQLite's clock or another. */
export function sqliteRows(
  { write, read, change }: SqliteConnection,
  table: string,
  now?: () => number,
): Required<Omit<DedupeStore, 'scope' | 'init' | 'close'>> {
  const sql = statements(table);
  const time = () => (now ? Math.trunc(now()) : null);
  const find = (key: string): Statement => [sql.find, time(), key];

  return {
    async claim({ key, token, fingerprint, alias = null, leaseMs, retainMs }): Promise<ClaimResult> {
      checkDurations({ leaseMs, retainMs });
      const claim: Statement = [sql.claim, key, token, fingerprint, alias, leaseMs, retainMs, time()];
      const row = (await write(claim, find(key))) as Row;
      const fence = Number(row.fence);
      const seen: Seen = { fingerprint: row.fingerprint, alias: row.alias ?? undefined };
      if (row.state === 'completed') return { status: 'completed', fence, seen };
      if (row.owner === token) return { status: 'acquired', fence, attempt: Number(row.attempt), seen };
      // It may have lapsed since the claim was refused, a moment ago.
      return { status: 'in_progress', fence, retryAfterMs: Math.max(1, Number(row.lease_left)), seen };
    },

    async extend({ key, token }, { leaseMs }): Promise<Mutation> {
      checkDurations({ leaseMs });
      return (await write([sql.extend, key, token, leaseMs, time()])) ? 'ok' : 'lost';
    },

    async complete({ key, token, fence, fingerprint, alias = null }, { retainMs }): Promise<Mutation> {
      checkDurations({ retainMs });
      return (await write([sql.complete, key, token, fence, fingerprint, alias, retainMs, time()])) ? 'ok' : 'lost';
    },

    async release({ key, token }): Promise<Mutation> {
      const row = (await write([sql.release, key, token, time()], find(key))) as Row | undefined;
      return row === undefined || row.state === 'released' || hasExpired(row) ? 'ok' : 'lost';
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const row = (await read(find(key))) as Row | undefined;
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
      await change([sql.forget, key]);
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return change([sql.purge, time(), limit]);
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

/** The table and its index. */
export const schema = (table: string) => [
  `
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
) WITHOUT ROWID`,
  `CREATE INDEX IF NOT EXISTS ${table}_expires_at ON ${table} (expires_at)`,
];

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
