import { check } from '../../option-checks.js';
import { isDriverError } from '../driver-error.js';
import { retrying } from '../retrying.js';

/** Runs one statement, or two in one string, and returns the rows of the last one: the values in column order. */
export type Query = (statement: string) => Promise<(string | null)[][]>;

/** Returns the values of rows by position, because some clients are set up to rename columns. */
export function valuesOf(rows: readonly unknown[]): (string | null)[][] {
  return rows.map((row) => Object.values(row as Record<string, string | null>));
}

const SERIALIZATION_FAILURE = '40001';

/**
 * Runs statements that are a transaction each, and retries one after a serialization failure: where the default of the
 * database is REPEATABLE READ or SERIALIZABLE, that is how a lost race is reported.
 */
export function retryingQuery(query: Query): Query {
  return retrying(query, (error) => hasSqlState(error, SERIALIZATION_FAILURE));
}

/** Returns whether PostgreSQL answered with one of these codes. */
export function hasSqlState(error: unknown, ...states: readonly string[]): boolean {
  return isDriverError(error, ({ code, originalCode }) =>
    [code, originalCode].some((one) => states.includes(one as string)),
  );
}

/** The length of a name that leaves room for those of its indexes. */
const MAX_NAME = 48;
const JOBS = '_jobs';
/** The length of the name of a table of jobs. */
export const MAX_JOBS_NAME = MAX_NAME + JOBS.length;

/** @throws WebhookError `invalid_option` unless it is a name, or a schema and a name, that can be quoted */
export function quotedTable(table: string, maxLength = MAX_NAME): string {
  const [, schema, name = ''] = /^([a-z_][a-z0-9_]{0,62}\.)?([a-z_][a-z0-9_]*)$/.exec(table) ?? [];
  check(
    typeof table === 'string' && name !== '' && name.length <= maxLength,
    `table must be a name, or schema.name, of a-z, 0-9 and _, at most ${maxLength} characters`,
  );
  return `${schema ? `"${schema.slice(0, -1)}".` : ''}"${name}"`;
}

/** Returns the quoted table of the jobs of a store, next to its own quoted table. */
export function jobsTable(table: string): string {
  return table.replace(/"$/, `${JOBS}"`);
}

/** Returns the name of a quoted table without its schema. */
export function bareName(table: string): string {
  return table.slice(table.lastIndexOf('.') + 1).replaceAll('"', '');
}
