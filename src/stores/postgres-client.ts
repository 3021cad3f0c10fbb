import { check } from '../check.js';

/** The client that is there already, named for what it is. It is never closed, and gets no listener. */
export type PostgresClient =
  | { pg: PgClient; postgresJs?: undefined }
  | { postgresJs: PostgresJsClient; pg?: undefined };

/** `Pool` or `Client` of `pg`, or whatever has their `query`. */
export interface PgClient {
  query(text: string, values: (string | null)[]): Promise<{ rows: object[]; rowCount: number | null }>;
}

/** What `postgres()` of `postgres` makes, or the `sql` that its `begin` hands out. */
export interface PostgresJsClient {
  unsafe(text: string, values: (string | null)[]): PromiseLike<readonly object[] & { readonly count: number }>;
}

export type Query = (text: string, ...values: (string | number | null | undefined)[]) => Promise<Reply>;

/** How many rows a statement wrote or read, and the values of those it returned, in the order of their columns. */
export interface Reply {
  count: number;
  rows: (string | null)[][];
}

/**
 * One way to run a statement, unprepared and on any connection. By position, since some clients are told to rename
 * columns; every column is a text, since they are told to parse numbers and dates in one way or another.
 *
 * @throws WebhookError `invalid_option`
 */
export function querying(client: PostgresClient, user: string): Query {
  const { pg, postgresJs } = client ?? {};
  const isPg = typeof pg?.query === 'function';
  check(isPg !== (typeof postgresJs?.unsafe === 'function'), `${user} takes { pg: pool } or { postgresJs: sql }`);
  const run = isPg
    ? async (text: string, values: (string | null)[]) => {
        const { rows = [], rowCount } = await pg.query(text, values); // no rows where it is several statements
        return { rows, count: rowCount ?? 0 };
      }
    : async (text: string, values: (string | null)[]) => {
        const rows = await (postgresJs as PostgresJsClient).unsafe(text, values);
        return { rows, count: rows.count };
      };
  return async (text, ...values) => {
    const { rows, count } = await run(
      text,
      values.map((value) => (value == null ? null : String(value))),
    );
    return { count, rows: rows.map((row) => Object.values(row)) };
  };
}

const SERIALIZATION_FAILURE = '40001';
const MAX_TRIES = 10;

/**
 * The same for statements that are a transaction each. Where the database's default is REPEATABLE READ or
 * SERIALIZABLE, to lose a race is an error, and the answer to it is to look again, not in step with the rival.
 */
export function retrying(query: Query): Query {
  return async (text, ...values) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await query(text, ...values);
      } catch (error) {
        if (sqlState(error) !== SERIALIZATION_FAILURE || tries === MAX_TRIES) throw error;
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 10 * tries));
      }
    }
  };
}

/** The five characters by which Postgres says what went wrong. */
export function sqlState(error: unknown): unknown {
  return (error as { code?: unknown } | undefined | null)?.code;
}

/** As an identifier. @throws WebhookError `invalid_option` */
export function quoted(table: string): string {
  check(
    /^([a-z_][a-z0-9_]{0,62}\.)?[a-z_][a-z0-9_]{0,47}$/.test(table),
    'table must be a name, or schema.name, of a-z, 0-9 and _, at most 48 characters',
  );
  return `"${table.replace('.', '"."')}"`;
}

// unique_violation, duplicate_table, duplicate_object: IF NOT EXISTS does not look at what is not yet committed.
const MADE_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710'];

/** Makes a table where there is none. Where there is one, no right to make it is needed. */
export async function createTable(query: Query, name: string, statements: string): Promise<void> {
  const found = await query('SELECT FROM pg_class WHERE oid = to_regclass($1::text)', name);
  if (found.count > 0) return;
  try {
    await query(statements);
  } catch (error) {
    if (!MADE_BY_ANOTHER.includes(sqlState(error))) throw error;
  }
}
