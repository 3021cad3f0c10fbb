import { check } from '../../option-checks.js';
import { isDriverError } from '../driver-error.js';
import { retrying } from '../retrying.js';

/** Runs one statement. */
export type Query = (statement: string) => Promise<Reply>;

/** The reply to one statement. */
export interface Reply {
  /** The rows of a SELECT: the values in column order, as texts. */
  rows: (string | null)[][];
  /** The last value of `LAST_INSERT_ID(value)` in a write, and 0 where it had none. */
  insertId: number;
  /** How many rows a DELETE has removed. The number of an UPDATE depends on the settings of the client. */
  affectedRows: number;
  /** Whether the connection commits each statement; undefined after a SELECT, whose reply does not say so. */
  isAutocommit: boolean | undefined;
}

const SERVER_STATUS_AUTOCOMMIT = 2;

/** Returns the reply of what a driver returns: a list of rows, or an object that counts. */
export function replyOf(result: unknown): Reply {
  if (Array.isArray(result)) return { rows: valuesOf(result), insertId: 0, affectedRows: 0, isAutocommit: undefined };
  const { insertId, affectedRows, serverStatus } = Object(result) as Record<string, unknown>;
  return {
    rows: [],
    insertId: Number(insertId ?? 0),
    affectedRows: Number(affectedRows ?? 0),
    isAutocommit: (Number(serverStatus ?? 0) & SERVER_STATUS_AUTOCOMMIT) !== 0,
  };
}

const utf8 = new TextDecoder();

/** Returns the values of rows by position, because some clients are set up to rename columns. */
function valuesOf(rows: readonly unknown[]): (string | null)[][] {
  return rows.map((row) => Object.values(row as Record<string, unknown>).map(textOf));
}

function textOf(value: unknown): string | null {
  if (value == null) return null;
  return value instanceof Uint8Array ? utf8.decode(value) : String(value);
}

// The numbers of MySQL and MariaDB, because texts of these errors differ.
export const DEADLOCK = 1213;
/** MariaDB, where `innodb_snapshot_isolation` is on. */
export const RECORD_CHANGED = 1020;
export const LOCK_WAIT_TIMEOUT = 1205;

/** Retries what is one transaction after the server has undone it, because of a deadlock or a lost race. */
export function retryingUndone<Values extends unknown[], Result>(
  transaction: (...values: Values) => Promise<Result>,
): (...values: Values) => Promise<Result> {
  return retrying(transaction, (error) => hasErrorNumber(error, DEADLOCK, RECORD_CHANGED));
}

/** Returns whether the server answered with one of these numbers. */
export function hasErrorNumber(error: unknown, ...numbers: readonly number[]): boolean {
  return isDriverError(error, ({ errno, code, originalCode }) =>
    [errno, code, originalCode].some((one) => one != null && numbers.includes(Number(one))),
  );
}

const JOBS = '_jobs';
/** The length of the name of a table of jobs: that of any name. */
export const MAX_JOBS_NAME = 64;
const MAX_NAME = MAX_JOBS_NAME - JOBS.length;

/** @throws WebhookError `invalid_option` unless it is a name, or a database and a name, that can be quoted */
export function quotedTable(table: string, maxLength = MAX_NAME): string {
  const [, database, name = ''] = /^([a-z_][a-z0-9_]{0,63}\.)?([a-z_][a-z0-9_]*)$/.exec(table) ?? [];
  check(
    typeof table === 'string' && name !== '' && name.length <= maxLength,
    `table must be a name, or database.name, of a-z, 0-9 and _, at most ${maxLength} characters`,
  );
  return `${database ? `\`${database.slice(0, -1)}\`.` : ''}\`${name}\``;
}

/** Returns the quoted table of the jobs of a store, next to its own quoted table. */
export function jobsTable(table: string): string {
  return table.replace(/`$/, `${JOBS}\``);
}

/** Returns the names in a quoted table: the database, where it has one, and the table. */
export function namesOf(table: string): [database: string | undefined, name: string] {
  const names = table.replaceAll('`', '').split('.');
  return [names.at(-2), names.at(-1) as string];
}
