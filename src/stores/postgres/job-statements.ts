import { purgeStatement } from './purge-statement.js';
import { bareName } from './query.js';

/** Values of statements, as SQL expressions. */
type Values<Name extends string> = Readonly<Record<Name, string>>;

/** The columns of a record. `keep` is an interval, and NULL where the record is open. */
type Written = Values<'key' | 'version' | 'record' | 'dueAt' | 'keep'>;

/** The clock of the server in milliseconds since the epoch. */
const NOW = '(SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) AS clock';
const IS_LIVE = '(expires_at IS NULL OR expires_at > clock_timestamp())';

/** The statements of the records of jobs, for a quoted table. Every column they return is a text. */
export function jobStatements(table: string) {
  const channel = bareName(table);

  /** Notifies in the transaction of the write, which may have written nothing. */
  const answer = ({ key }: Values<'key'>, notify: boolean) =>
    `SELECT 'ok' AS answer${notify ? `, pg_notify('${channel}', ${key})::text AS sent` : ''} FROM written`;

  return {
    /** The name is at most as long as that of a table, because a channel has the same limit. */
    channel,

    /** Wakes those who watch the key. */
    notify: (key: string) => `SELECT pg_notify('${channel}', ${key})::text AS sent`,

    /** Returns a row where there was no record, or one that has expired. */
    insert: ({ key, version, record, dueAt, keep }: Written, notify: boolean) => `WITH written AS (
  INSERT INTO ${table} AS j (key, version, record, due_at, expires_at)
  VALUES (${key}, ${version}, ${record}, ${dueAt}, clock_timestamp() + ${keep})
  ON CONFLICT (key) DO UPDATE SET
    version = EXCLUDED.version, record = EXCLUDED.record, due_at = EXCLUDED.due_at, expires_at = EXCLUDED.expires_at
  WHERE j.expires_at <= clock_timestamp()
  RETURNING key
)
${answer({ key }, notify)}`,

    /** Returns a row where the record had the version `replaces`. */
    update: (
      { key, version, record, dueAt, keep, replaces }: Written & Values<'replaces'>,
      notify: boolean,
    ) => `WITH written AS (
  UPDATE ${table} SET
    version = ${version}, record = ${record}, due_at = ${dueAt}, expires_at = clock_timestamp() + ${keep}
  WHERE key = ${key} AND version = ${replaces} AND ${IS_LIVE}
  RETURNING key
)
${answer({ key }, notify)}`,

    /** Returns a row where the record has this version. */
    find: ({ key, version }: Values<'key' | 'version'>) =>
      `SELECT 'ok' AS answer FROM ${table} WHERE key = ${key} AND version = ${version} AND ${IS_LIVE}`,

    read: ({ key }: Values<'key'>) => `SELECT now::text, version, record, due_at::text
FROM ${NOW} LEFT JOIN ${table} ON key = ${key} AND ${IS_LIVE}`,

    remove: ({ key }: Values<'key'>) => `DELETE FROM ${table} WHERE key = ${key}`,

    list: (limit: number, overdue: boolean, after: Values<'dueAt' | 'key'> | undefined) => `SELECT
  key, version, record, due_at::text AS due
FROM ${table}
WHERE due_at IS NOT NULL${overdue ? ` AND due_at <= (SELECT now FROM ${NOW})` : ''}${
      after ? ` AND (due_at, key) > (${after.dueAt}, ${after.key})` : ''
    }
ORDER BY due_at, key LIMIT ${limit}`,

    count: `SELECT now::text, count(due_at)::text AS open, (count(due_at) FILTER (WHERE due_at <= now))::text AS overdue,
  min(due_at)::text AS first
FROM ${NOW} LEFT JOIN ${table} ON due_at IS NOT NULL
GROUP BY now`,

    purge: (limit: number) => purgeStatement(table, limit),
  };
}
