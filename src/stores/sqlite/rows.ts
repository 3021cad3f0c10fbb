import { checkPositiveInteger } from '../../option-checks.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation, Seen } from '../contract.js';
import { MAX_REPORTS, reportKey, reportKeys, SEPARATOR } from '../reports.js';
import { NOW, PURGE_NOW, purge } from './database.js';

/** A statement and the values of its parameters. */
export type Statement = readonly [sql: string, ...values: (string | number | null)[]];

/** How a store runs its statements on a database that speaks SQLite. */
export interface SqliteConnection {
  /** Runs statements in one transaction until one returns a row, and returns that row. */
  write(...statements: Statement[]): Promise<unknown>;
  /** Returns the first row. */
  read(statement: Statement): Promise<unknown>;
  /** Returns all rows. */
  readAll(statement: Statement): Promise<unknown[]>;
  /** Returns how many rows the statement changed. */
  change(statement: Statement): Promise<number>;
  /** Removes up to `limit` rows by a statement that takes the time and a limit, and returns how many. */
  purge(sql: string, time: () => number | null, limit: number): Promise<number>;
}

/** The operations of a store on SQLite, by the clock of SQLite or another one. */
export function sqliteRows(
  { write, read, change, purge: purgeRows }: SqliteConnection,
  table: string,
  now?: () => number,
): Required<Omit<DedupeStore, 'scope' | 'init' | 'close' | 'jobs'>> {
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
      // The lease may have ended after the claim was refused.
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
      return purgeRows(sql.purge, time, limit);
    },

    async saveReport(report) {
      checkDurations({ ttlMs: report.ttlMs });
      await change([sql.saveReport, reportKey(report), report.text, report.ttlMs, time()]);
      await change([sql.trimReports, ...reportKeys(report.name)]);
    },

    async loadReports(name) {
      const row = (await read([sql.loadReports, time(), ...reportKeys(name)])) as { texts: string | null };
      return row.texts === null ? [] : row.texts.split(SEPARATOR);
    },
  };
}

/** A row as the driver returns it: a handle may be set to read integers as bigint. */
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

function hasExpired({ retain_left }: Row): boolean {
  return Number(retain_left) <= 0;
}

const EXPIRED = 'd.expires_at <= excluded.updated_at';
const OURS = `(d.state = 'in_progress' AND d.owner = excluded.owner AND NOT ${EXPIRED})`;
const MINE = `(owner = token AND state = 'in_progress')`;

const statements = (table: string) => ({
  // Returns a row where the key is acquired. In the same transaction, `find` returns why it is not.
  claim: `
INSERT INTO ${table} AS d
  (key, state, owner, fence, attempt, lease_until, expires_at, fingerprint, alias, updated_at)
SELECT key, 'in_progress', token, now * 1000, 1, now + lease, now + retain, fingerprint, alias, now
FROM (SELECT ? AS key, ? AS token, ? AS fingerprint, ? AS alias, ? AS lease, ? AS retain, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET
  state = excluded.state,
  owner = excluded.owner,
  fence = iif(${OURS}, d.fence, max(d.fence + 1, excluded.fence)),
  attempt = iif(${EXPIRED}, 1, iif(${OURS}, d.attempt, d.attempt + 1)),
  lease_until = excluded.lease_until,
  expires_at = excluded.expires_at,
  fingerprint = iif(${EXPIRED}, excluded.fingerprint, d.fingerprint),
  alias = iif(${EXPIRED}, excluded.alias, d.alias),
  updated_at = excluded.updated_at
WHERE ${EXPIRED} OR ${OURS} OR d.state = 'released'
  OR (d.state = 'in_progress' AND d.lease_until <= excluded.updated_at)
RETURNING state, owner, fence, attempt, fingerprint, alias`,

  // Returns a row where the token owns the key, or where the row was lost and is created again.
  complete: `
INSERT INTO ${table} AS d
  (key, state, owner, fence, attempt, expires_at, fingerprint, alias, updated_at)
SELECT key, 'completed', token, fence, 1, now + retain, fingerprint, alias, now
FROM (SELECT ? AS key, ? AS token, ? AS fence, ? AS fingerprint, ? AS alias, ? AS retain, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET
  state = excluded.state,
  owner = excluded.owner,
  fence = iif(${EXPIRED}, max(d.fence, excluded.fence), d.fence),
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

  // The row stays as an expired one until the purge, because it holds the last fence.
  forget: `UPDATE ${table} SET state = 'released', owner = NULL, lease_until = NULL, expires_at = 0 WHERE key = ?`,

  // A report is a row in a state of its own.
  saveReport: `
INSERT INTO ${table} (key, state, fence, attempt, expires_at, fingerprint, updated_at)
SELECT key, 'report', 0, 0, now + ttl, text, now
FROM (SELECT ? AS key, ? AS text, ? AS ttl, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET
  expires_at = excluded.expires_at, fingerprint = excluded.fingerprint, updated_at = excluded.updated_at`,

  trimReports: `
DELETE FROM ${table} WHERE key IN (
  SELECT key FROM ${table} WHERE key >= ? AND key < ? ORDER BY expires_at DESC LIMIT -1 OFFSET ${MAX_REPORTS}
)`,

  loadReports: `
SELECT group_concat(fingerprint, char(${SEPARATOR.charCodeAt(0)})) AS texts FROM (
  SELECT fingerprint FROM ${table}, (SELECT ${NOW} AS now) WHERE key >= ? AND key < ? AND expires_at > now
  ORDER BY expires_at DESC LIMIT ${MAX_REPORTS}
)`,

  // A row whose fence the clock has not passed stays, so that the next fence is higher.
  purge: purge(table, `AND fence < ${PURGE_NOW} * 1000`),
});

function checkDurations(durations: Readonly<Record<string, unknown>>): void {
  for (const [name, ms] of Object.entries(durations)) checkPositiveInteger(name, ms);
}
