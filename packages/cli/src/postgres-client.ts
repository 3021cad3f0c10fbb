import type { PgClient, PostgresClient, PostgresJsClient } from 'service-webhooks/stores/postgres';
import { Failure } from './failure.js';
import { installed } from './installed.js';

const CONNECT_SECONDS = 10;

interface PgConnection {
  connect(): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
}

/** Connects with the client that the project in the current directory has installed. @throws Failure where it has none */
export async function connectPostgres(url: string): Promise<{ client: PostgresClient; close(): Promise<void> }> {
  const pg = installed<{ Client: new (options: object) => PgClient & PgConnection }>('pg');
  if (pg) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_SECONDS * 1_000 });
    await client.connect();
    client.on('error', () => {}); // a connection that is lost between two calls: the next call fails
    return { client: { pg: client }, close: () => client.end() };
  }
  const createSql =
    installed<(url: string, options: object) => PostgresJsClient & { end(): Promise<void> }>('postgres');
  if (!createSql) throw new Failure('usage', 'this project has neither pg nor postgres. Install one of them.');
  const sql = createSql(url, { max: 1, connect_timeout: CONNECT_SECONDS, onnotice() {} });
  await sql.unsafe('SELECT 1 AS one', []);
  return { client: { postgresJs: sql }, close: () => sql.end() };
}
