import { check } from '../check.js';
import { WebhookError } from '../errors.js';

/** An open handle, under the name of the library it comes from. `libsql` and `bun:sqlite` fit as `betterSqlite3`. */
export type SqliteClient =
  | { betterSqlite3: SqliteDatabase; nodeSqlite?: undefined }
  | { nodeSqlite: SqliteDatabase; betterSqlite3?: undefined };

/** What is used of a handle. What its statements take is left open, as each library types it in its own way. */
export interface SqliteDatabase {
  prepare(sql: string): {
    get(...values: never[]): unknown;
    run(...values: never[]): { changes: number | bigint };
  };
  exec(sql: string): unknown;
}

type Value = string | number | null;

interface Statement {
  get(...values: Value[]): unknown;
  run(...values: Value[]): { changes: number | bigint };
}

/** A handle with its statements prepared once. */
export interface Database {
  table: string;
  /** The first row, if there is one. */
  get<Row>(sql: string, ...values: Value[]): Row | undefined;
  /** How many rows it changed. */
  run(sql: string, ...values: Value[]): number;
  /** Begins a transaction that may write, or a part of the one that is open. */
  begin(): Transaction;
  /** In a transaction. Whatever is thrown undoes it. */
  atomically<T>(call: () => T, begin?: () => Transaction): T;
  /** With another busy timeout: SQLite waits so long for other connections, and the process with it. */
  waiting<T>(busyTimeoutMs: number, call: () => T): T;
  /** In a transaction, as soon as no other connection writes; the process goes on until then. */
  write<T>(call: () => T): Promise<T>;
  /** Sets what is not set, and makes what is missing. */
  init(schema: string): Promise<void>;
}

/** How a transaction ends. */
interface Transaction {
  commit: string;
  rollback: string;
}

/** For other statements on the handle, where the user has set none. */
const BUSY_TIMEOUT_MS = 1_000;
/** A call gives up before the receiver does. */
const PATIENCE_MS = 1_800;
/** How long the process stands still for a try, and goes on before the next. */
const TRY_MS = 5;
const PAUSE_MS = 10;

/** A parameter for the time, or milliseconds by SQLite's clock: one value for all of a statement, in any version. */
export const NOW = `coalesce(?, CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER))`;

/** Takes the time and a limit. */
export const purge = (table: string) => `
DELETE FROM ${table}
WHERE key IN (SELECT key FROM ${table} WHERE expires_at <= ${NOW} ORDER BY expires_at LIMIT ?)`;

/** @throws WebhookError `invalid_option` */
export function openDatabase(client: SqliteClient, table: string): Database {
  const { betterSqlite3, nodeSqlite } = client ?? {};
  const handle = betterSqlite3 ?? nodeSqlite;
  check(isDatabase(handle), 'client must be { betterSqlite3: db } or { nodeSqlite: db }');
  checkTable(table);
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

  /** Prepared anew each time: SQLite reads the setting when it prepares the statement. */
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
        // SQLite has rolled back itself, as it does when the disk is full.
      }
      throw error;
    }
  };

  /** With the write lock from the start, so that no statement in it meets another writer. */
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

  // Read once: that takes longer than a claim does.
  let usual: number | undefined;

  const patiently = async <T>(call: () => T): Promise<T> => {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        usual ??= busyTimeout();
        return waiting(TRY_MS, call, usual);
      } catch (error) {
        if (!isBusy(error) || performance.now() > end) throw explained(error);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      }
    }
  };

  const write: Database['write'] = (call) => patiently(() => atomically(call));

  return {
    table,
    get,
    run: (sql, ...values) => Number(prepare(sql).run(...values).changes),
    begin,
    atomically,
    waiting,
    write,

    async init(schema) {
      usual = Math.max(busyTimeout(), BUSY_TIMEOUT_MS);
      await patiently(() => handle.exec('PRAGMA journal_mode = WAL')); // no transaction can do it
      await write(() => handle.exec(schema));
    },
  };
}

/** As an identifier that needs no quotes. @throws WebhookError `invalid_option` */
export function checkTable(table: string): void {
  check(/^(?!sqlite_)[a-z_][a-z0-9_]{0,62}$/i.test(table), 'table must be a name of letters, digits and _');
}

export function isBusy(error: unknown): boolean {
  return isSqliteError(error, 'BUSY', 5) || isSqliteError(error, 'LOCKED', 6);
}

function explained(error: unknown): unknown {
  if (!isSqliteError(error, 'READONLY', 8) && !isSqliteError(error, 'CANTOPEN', 14)) return error;
  const hint = 'The file and its directory must be writable: SQLite keeps its -wal and -shm files there.';
  return new WebhookError('store_unavailable', 503, hint, 'the database is read-only', { cause: error });
}

/** node:sqlite gives the number of an error, which may be an extended one, the others its name. */
function isSqliteError(error: unknown, name: string, primary: number): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof errcode === 'number') return (errcode & 0xff) === primary;
  return String(code).startsWith(`SQLITE_${name}`);
}

function isDatabase(handle: SqliteDatabase | undefined): handle is SqliteDatabase {
  return typeof handle?.prepare === 'function' && typeof handle.exec === 'function';
}
