import { checkPositiveInteger } from '../../option-checks.js';
import { checkRecord } from '../check-record.js';
import type { JobRecord, JobRecords } from '../contract.js';
import { NOW, purge } from './database.js';
import type { SqliteConnection, Statement } from './rows.js';

/** Returns the records of jobs in a table of their own, by the clock of SQLite or another one. */
export function jobsInSqlite(
  { write, read, readAll, change, purge: purgeRows }: SqliteConnection,
  table: string,
  now?: () => number,
): Omit<JobRecords, 'init' | 'watch'> {
  const sql = statements(table);
  const time = () => (now ? Math.trunc(now()) : null);

  return {
    async read(key) {
      const row = (await read([sql.read, time(), key])) as Row & { now: number | bigint };
      return { now: Number(row.now), record: row.version === null ? undefined : recordOf({ ...row, key }) };
    },

    async write(record, replaces) {
      checkRecord(record);
      const { key, version, text, dueAt = null, keepMs = null } = record;
      const values = [key, version, text, dueAt, keepMs, time()] as const;
      const statement: Statement =
        replaces === undefined ? [sql.insert, ...values, time()] : [sql.update, ...values, replaces];
      return (await write(statement, [sql.find, time(), key, version])) !== undefined;
    },

    async remove(key) {
      await change([sql.remove, key]);
    },

    async list({ limit, overdue, after }) {
      checkPositiveInteger('limit', limit);
      const { dueAt, key } = after ?? { dueAt: -1, key: '' };
      const place = [dueAt, key, limit] as const;
      const rows = await readAll(overdue ? [sql.overdue, time(), ...place] : [sql.open, ...place]);
      return (rows as Row[]).map(recordOf);
    },

    async count() {
      const row = (await read([sql.count, time(), 0])) as Counts;
      const firstDueAt = row.first === null ? undefined : Number(row.first);
      return { now: Number(row.now), open: Number(row.open), overdue: Number(row.overdue), firstDueAt };
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return purgeRows(sql.purge, time, limit);
    },
  };
}

/** A row as the driver returns it: a handle may be set to read integers as bigint. */
interface Row {
  key: string;
  version: string;
  record: string;
  due_at: number | bigint | null;
}

interface Counts {
  now: number | bigint;
  open: number | bigint;
  overdue: number | bigint;
  first: number | bigint | null;
}

function recordOf({ key, version, record: text, due_at }: Row): JobRecord {
  const record = { key, version, text };
  return due_at === null ? record : { ...record, dueAt: Number(due_at) };
}

const IS_LIVE = '(expires_at IS NULL OR expires_at > now)';

const statements = (table: string) => ({
  // Returns a row where there was no record, or one that has expired.
  insert: `
INSERT INTO ${table} AS j (key, version, record, due_at, expires_at)
SELECT key, version, record, due_at, now + keep
FROM (SELECT ? AS key, ? AS version, ? AS record, ? AS due_at, ? AS keep, ${NOW} AS now) WHERE true
ON CONFLICT (key) DO UPDATE SET
  version = excluded.version, record = excluded.record, due_at = excluded.due_at, expires_at = excluded.expires_at
WHERE j.expires_at <= ${NOW}
RETURNING version`,

  // Returns a row where the record had the version that is replaced.
  update: `
UPDATE ${table} SET version = new_version, record = new_record, due_at = new_due_at, expires_at = now + keep
FROM (
  SELECT ? AS wanted, ? AS new_version, ? AS new_record, ? AS new_due_at, ? AS keep, ${NOW} AS now, ? AS replaced
)
WHERE key = wanted AND version = replaced AND ${IS_LIVE}
RETURNING version`,

  // Returns a row where the record has this version.
  find: `
SELECT version FROM ${table}, (SELECT ${NOW} AS now) WHERE key = ? AND version = ? AND ${IS_LIVE}`,

  read: `
SELECT now, version, record, due_at
FROM (SELECT ${NOW} AS now) LEFT JOIN ${table} ON key = ? AND ${IS_LIVE}`,

  remove: `DELETE FROM ${table} WHERE key = ?`,

  open: `
SELECT key, version, record, due_at FROM ${table}
WHERE due_at IS NOT NULL AND (due_at, key) > (?, ?) ORDER BY due_at, key LIMIT ?`,

  overdue: `
SELECT key, version, record, due_at FROM ${table}
WHERE due_at IS NOT NULL AND due_at <= ${NOW} AND (due_at, key) > (?, ?) ORDER BY due_at, key LIMIT ?`,

  // Takes the time and 0: libsql takes a single null for named parameters.
  count: `
SELECT now, count(due_at) AS open, count(CASE WHEN due_at <= now THEN 1 END) AS overdue, min(due_at) AS first
FROM (SELECT ${NOW} AS now) LEFT JOIN ${table} ON due_at >= ?`,

  purge: purge(table),
});
