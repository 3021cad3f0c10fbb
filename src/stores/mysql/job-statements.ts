import { NOW } from './literals.js';

/** Values of statements, as SQL expressions. */
type Values<Name extends string> = Readonly<Record<Name, string>>;

/** The columns of a record. `keep` is microseconds, and NULL where the record is open. */
type Written = Values<'key' | 'version' | 'record' | 'dueAt' | 'keep'>;

const NOW_MS = `${NOW} DIV 1000`;
const IS_LIVE = `(expires_at IS NULL OR expires_at > ${NOW})`;
const COLUMNS = 'version, CAST(record AS BINARY), due_at';

/** Returns an expression as it is, and makes the answer of a write another number than 0. It reads the row that is written. */
const answering = (expression: string) => `IF(LAST_INSERT_ID(LENGTH(\`key\`)), ${expression}, NULL)`;

/** The statements of the records of jobs, for a quoted table. The answer of a write is 0 where it has written nothing. */
export function jobStatements(table: string) {
  const written = ({ version, record, dueAt, keep }: Written) =>
    `version = ${version}, record = ${record}, due_at = ${answering(dueAt)}, expires_at = ${NOW} + ${keep}`;

  return {
    /** Writes the record where there was none. */
    insert: ({
      key,
      version,
      record,
      dueAt,
      keep,
    }: Written) => `INSERT INTO ${table} (\`key\`, version, record, due_at, expires_at)
VALUES (${key}, ${version}, ${record}, IF(LAST_INSERT_ID(1), ${dueAt}, NULL), ${NOW} + ${keep})
ON DUPLICATE KEY UPDATE due_at = IF(LAST_INSERT_ID(LENGTH(version) - LENGTH(version)), NULL, due_at)`,

    /** Writes the record where there is one that has expired. */
    replaceExpired: (values: Written) =>
      `UPDATE ${table} SET ${written(values)} WHERE \`key\` = ${values.key} AND expires_at <= ${NOW}`,

    /** Writes the record where there is one with the version `replaces`. */
    replace: (values: Written & Values<'replaces'>) => `UPDATE ${table} SET ${written(values)}
WHERE \`key\` = ${values.key} AND version = ${values.replaces} AND ${IS_LIVE}`,

    /** Returns whether the record has this version, where there is a record. */
    find: ({ key, version }: Values<'key' | 'version'>) =>
      `SELECT version = ${version} FROM ${table} WHERE \`key\` = ${key} AND ${IS_LIVE}`,

    read: ({ key }: Values<'key'>) => `SELECT ${NOW_MS}, ${COLUMNS}
FROM (SELECT 1 AS one) AS clock LEFT JOIN ${table} ON \`key\` = ${key} AND ${IS_LIVE}`,

    remove: ({ key }: Values<'key'>) => `DELETE FROM ${table} WHERE \`key\` = ${key}`,

    list: (limit: number, overdue: boolean, after: Values<'dueAt' | 'key'> | undefined) => `SELECT \`key\`, ${COLUMNS}
FROM ${table}
WHERE due_at IS NOT NULL${overdue ? ` AND due_at <= ${NOW_MS}` : ''}${
      after ? ` AND due_at >= ${after.dueAt} AND (due_at > ${after.dueAt} OR \`key\` > ${after.key})` : ''
    }
ORDER BY due_at, \`key\` LIMIT ${limit}`,

    count: `SELECT ${NOW_MS}, COUNT(*), COALESCE(SUM(due_at <= ${NOW_MS}), 0), MIN(due_at)
FROM ${table} WHERE due_at IS NOT NULL`,
  };
}
