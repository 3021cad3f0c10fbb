import { WebhookError } from '../../errors.js';
import { check } from '../../option-checks.js';
import { sleep } from '../../timers.js';
import { inBatches } from '../in-batches.js';
import { SCHEMA_VERSION, schemaVersion } from './schema.js';

/** An open handle, under the name of its library. Handles of `libsql` and `bun:sqlite` work as `betterSqlite3`. */
export type SqliteClient =
  | { betterSqlite3: SqliteDatabase; nodeSqlite?: undefined }
  | { nodeSqlite: SqliteDatabase; betterSqlite3?: undefined };

/** The part of a handle that is used. Each library has its own types for the values of a statement. */
export interface SqliteDatabase {
  prepare(sql: string): {
    get(...values: never[]): unknown;
    all(...values: never[]): unknown[];
    run(...values: never[]): { changes: number | bigint };
  };
  exec(sql: string): unknown;
}

/** Each client with the methods that are used. */
export const SQLITE_FORMS = {
  betterSqlite3: { methods: ['prepare', 'exec'], example: 'db' },
  nodeSqlite: { methods: ['prepare', 'exec'], example: 'db' },
};

type Value = string | number | null;

interface Statement {
  get(...values: Value[]): unknown;
  all(...values: Value[]): unknown[];
  run(...values: Value[]): { changes: number | bigint };
}

/** A handle whose statements are prepared once. */
export interface Database {
  /** Returns the first row. */
  get<Row>(sql: string, ...values: Value[]): Row | undefined;
  /** Returns all rows. */
  all(sql: string, ...values: Value[]): unknown[];
  /** Returns how many rows the statement changed. */
  run(sql: string, ...values: Value[]): number;
  /** Begins a transaction that may write, or a savepoint inside the open transaction. */
  begin(): Transaction;
  /** Runs a call in a transaction, which is rolled back if the call throws. */
  atomically<T>(call: () => T, begin?: () => Transaction): T;
  /**
   * Runs a call with another busy timeout: the longest time that the process blocks while another connection writes.
   */
  waiting<T>(busyTimeoutMs: number, call: () => T): T;
  /** Runs a call in a transaction once no other connection writes. The process is not blocked meanwhile. */
  write<T>(call: () => T): Promise<T>;
  /**
   * Runs one statement as `write` does, without the statements that begin and end a transaction: one statement is atomic
   * by itself. Returns how many rows it changed.
   */
  change(sql: string, ...values: Value[]): Promise<number>;
  /** Runs one statement as `change` does, and returns its first row. */
  changeOne(sql: string, ...values: Value[]): Promise<unknown>;
  /** Removes up to `limit` rows by {@link purge}, in short transactions with pauses for other work. */
  purgeInBatches(sql: string, time: () => number | null, limit: number): Promise<number>;
  /**
   * Sets the journal to WAL and a busy timeout, and creates the table, or updates one of an older version, which gets the
   * columns that it lacks.
   */
  init(schema: readonly string[], version?: number, added?: Readonly<Record<string, string>>): Promise<void>;
}

/** How a transaction ends. */
interface Transaction {
  commit: string;
  rollback: string;
}

/** The busy timeout where the user has set none. */
const BUSY_TIMEOUT_MS = 1_000;
/** Shorter than the time limit of a receiver for a store call. */
const PATIENCE_MS = 1_800;
/** How long one try may block the process, and the pause before the next one. */
const TRY_MS = 5;
const PAUSE_MS = 10;

/** The length of a name, and that of the table of jobs next to it. */
const MAX_NAME = 63;
const JOBS = '_jobs';
export const MAX_JOBS_NAME = MAX_NAME + JOBS.length;

/** A parameter for the time, or SQLite's clock in milliseconds; both are constant within a statement. */
export const NOW = `coalesce(?, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))`;

/** The time in {@link purge}. A comparison with it is read from the index; one with a joined row is not. */
export const PURGE_NOW = '(SELECT now FROM "the clock")';

/** Returns a statement that removes expired rows. It takes the time and a limit. */
export const purge = (table: string, condition = '') => `
WITH "the clock" AS (SELECT ${NOW} AS now)
DELETE FROM ${table} WHERE key IN (
  SELECT key FROM ${table} WHERE expires_at <= ${PURGE_NOW} ${condition} ORDER BY expires_at LIMIT ?
)`;

/** @throws WebhookError `invalid_option` */
export function openDatabase(handle: SqliteDatabase, table: string, maxName = MAX_NAME): Database {
  checkTable(table, maxName);
  const statements = new Map<string, Statement>();

  function prepare(sql: string): Statement {
    let statement = statements.get(sql);
    if (statement === undefined) {
      statement = handle.prepare(sql);
      statements.set(sql, statement);
    }
    return statement;
  }

  const get: Database['get'] = <Row>(sql: string, ...values: Value[]) =>
    (prepare(sql).get(...values) ?? undefined) as Row | undefined;

  /** Prepared each time, because SQLite reads the setting when it prepares the statement. */
  const busyTimeout = () => Number((handle.prepare('PRAGMA busy_timeout').get() as { timeout: number }).timeout);
  const setBusyTimeout = (ms: number) => handle.exec(`PRAGMA busy_timeout = ${ms}`);

  function waiting<T>(ms: number, call: () => T, before = busyTimeout()): T {
    setBusyTimeout(ms);
    try {
      return call();
    } finally {
      setBusyTimeout(before);
    }
  }

  const atomically: Database['atomically'] = (call, beginOne = begin) => {
    const { commit, rollback } = beginOne();
    try {
      const result = call();
      handle.exec(commit);
      return result;
    } catch (error) {
      try {
        handle.exec(rollback);
      } catch {
        // SQLite has already rolled back, as it does when the disk is full.
      }
      throw error;
    }
  };

  /** Takes the write lock at the start, so that no statement of the transaction meets another writer. */
  function begin(): Transaction {
    try {
      handle.exec('BEGIN IMMEDIATE');
      return { commit: 'COMMIT', rollback: 'ROLLBACK' };
    } catch (error) {
      if (!/within a transaction/.test(String(error))) throw error;
      handle.exec('SAVEPOINT webhooks');
      return { commit: 'RELEASE webhooks', rollback: 'ROLLBACK TO webhooks; RELEASE webhooks' };
    }
  }

  /** SQLite has no `ADD COLUMN IF NOT EXISTS`, and another process may have added the column. */
  function addColumn(column: string, type: string): void {
    const found = handle.prepare(`SELECT 1 FROM pragma_table_info('${table}') WHERE name = '${column}'`).get();
    if (found == null) handle.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${type}`);
  }

  // Read once, because reading it takes longer than a claim.
  let usual: number | undefined;

  const patiently = async <T>(call: () => T): Promise<T> => {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        usual ??= busyTimeout();
        return waiting(TRY_MS, call, usual);
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw explained(error);
        await sleep(PAUSE_MS);
      }
    }
  };

  const run: Database['run'] = (sql, ...values) => Number(prepare(sql).run(...values).changes);
  const write: Database['write'] = (call) => patiently(() => atomically(call));
  // Not `get`: it stops at the row, before the statement commits, and drivers ignore that the commit fails.
  const change: Database['change'] = (sql, ...values) => patiently(() => run(sql, ...values));
  const changeOne: Database['changeOne'] = (sql, ...values) => patiently(() => prepare(sql).all(...values)[0]);

  return {
    get,
    all: (sql, ...values) => prepare(sql).all(...values),
    run,
    begin,
    atomically,
    waiting,
    write,
    change,
    changeOne,

    purgeInBatches: (sql, time, limit) => inBatches(limit, (rows) => change(sql, time(), rows)),

    async init(schema, newest = SCHEMA_VERSION, added = {}) {
      usual = Math.max(busyTimeout(), BUSY_TIMEOUT_MS);
      const first = (sql: string) => patiently(() => handle.prepare(sql).get());
      // Both changes take the write lock, so they are left out where there is nothing to change.
      const { journal_mode } = (await first('PRAGMA journal_mode')) as { journal_mode: string };
      if (journal_mode !== 'wal') await patiently(() => handle.exec('PRAGMA journal_mode = WAL'));
      const version = await schemaVersion(table, first);
      if ((version ?? 0) >= newest) return;
      await write(() => {
        handle.exec(schema.join(';\n'));
        for (const [column, type] of Object.entries(added)) addColumn(column, type);
      });
    },
  };
}

/** @throws WebhookError `invalid_option` unless the name is an identifier that needs no quotes */
export function checkTable(table: string, maxLength = MAX_NAME): void {
  const isName = /^(?!sqlite_)[a-z_][a-z0-9_]*$/i.test(table) && table.length <= maxLength;
  check(isName, 'table must be a name of letters, digits and _');
}

/** Returns the table of the jobs of a store, next to its own. */
export function jobsTable(table: string): string {
  return table + JOBS;
}

function isBusy(error: unknown): boolean {
  return isSqliteError(error, 'BUSY', 5) || isSqliteError(error, 'LOCKED', 6);
}

/** Returns the error of an inbox: another connection that writes may be another attempt of the same event. */
export function busyAsInProgress(cause: unknown): unknown {
  if (!isBusy(cause)) return cause;
  return new WebhookError('delivery_in_progress', { message: 'Another connection is writing.', cause });
}

function explained(error: unknown): unknown {
  if (!isSqliteError(error, 'READONLY', 8) && !isSqliteError(error, 'CANTOPEN', 14)) return error;
  return new WebhookError('store_unavailable', {
    message: 'The SQLite database is read-only.',
    hint: 'Make the file and its directory writable: SQLite keeps its -wal and -shm files there.',
    cause: error,
  });
}

/**
 * Recognises an error: node:sqlite and libsql have its number, perhaps an extended one; better-sqlite3 has its name.
 */
function isSqliteError(error: unknown, name: string, primary: number): boolean {
  const {
    code,
    errcode,
    rawCode = errcode,
  } = (error ?? {}) as { code?: unknown; errcode?: unknown; rawCode?: unknown };
  if (typeof rawCode === 'number') return (rawCode & 0xff) === primary;
  return String(code).startsWith(`SQLITE_${name}`);
}
