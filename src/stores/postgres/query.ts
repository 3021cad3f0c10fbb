import { check } from '../../option-checks.js';
import { sleep } from '../../timers.js';

/** Runs one statement, or two in one string, and returns the rows of the last one: the values in column order. */
export type Query = (statement: string) => Promise<(string | null)[][]>;

/** Returns the values of rows by position, because some clients are set up to rename columns. */
export function valuesOf(rows: readonly unknown[]): (string | null)[][] {
  return rows.map((row) => Object.values(row as Record<string, string | null>));
}

const SERIALIZATION_FAILURE = '40001';
const MAX_TRIES = 10;

/**
 * Runs statements that are a transaction each, and retries one after a serialization failure: where the default of the
 * database is REPEATABLE READ or SERIALIZABLE, that is how a lost race is reported.
 */
export function retrying(query: Query): Query {
  return async (statement) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await query(statement);
      } catch (error) {
        if (!hasSqlState(error, SERIALIZATION_FAILURE) || tries === MAX_TRIES) throw error;
        await sleep(Math.random() * 10 * tries);
      }
    }
  };
}

/**
 * Returns whether PostgreSQL answered with one of these codes. Each ORM wraps the error of the driver in its own way.
 */
export function hasSqlState(error: unknown, ...states: readonly string[]): boolean {
  const MAX_DEPTH = 5; // an error may be its own cause
  const search = (value: unknown, depth: number): boolean => {
    if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return false;
    const { code, originalCode, cause, original, meta, driverAdapterError } = value as Record<string, unknown>;
    if ([code, originalCode].some((one) => states.includes(one as string))) return true;
    return [cause, original, meta, driverAdapterError].some((inner) => search(inner, depth + 1));
  };
  return search(error, 0);
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
