import { clientName } from '../named-client.js';
import { type Query, valuesOf } from './query.js';

/**
 * The client of the app, under the name of its library. It is never closed, and gets no listener. Notifications of jobs
 * need a `Pool` or the result of `postgres()`.
 */
export type PostgresClient =
  | { pg: PgClient; postgresJs?: undefined }
  | { postgresJs: PostgresJsClient; pg?: undefined };

/** A `Pool` or a `Client` of `pg`, or anything else with their `query`. */
export interface PgClient {
  query(text: string, values: string[]): Promise<{ rows: object[] }>;
  /** What a `Pool` makes its clients from. With both, the store opens a connection of its own for notifications. */
  readonly Client?: new (
    options: never,
  ) => PgListener;
  readonly options?: object;
}

/** The part of a `Client` of `pg` that notifications need. */
export interface PgListener {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  end(): Promise<void>;
  on(event: 'error' | 'end', listener: () => void): unknown;
  on(event: 'notification', listener: (notification: { payload?: string | undefined }) => void): unknown;
}

/** The result of `postgres()` of `postgres`, or the `sql` that its `begin` passes. */
export interface PostgresJsClient {
  unsafe(text: string, values: string[]): PromiseLike<readonly object[]>;
  /** For notifications. The connection that it opens ends with the client. */
  listen?(channel: string, notified: (text: string) => void): PromiseLike<{ unlisten(): Promise<void> }>;
}

/** Each client with the method that is used. */
export const POSTGRES_FORMS = {
  pg: { methods: ['query'], example: 'pool' },
  postgresJs: { methods: ['unsafe'], example: 'sql' },
};

/** Returns how a client runs a statement. @throws WebhookError `invalid_option` */
export function queryOf(subject: string, client: PostgresClient): Query {
  clientName(subject, client, POSTGRES_FORMS);
  const { pg, postgresJs } = client;
  return pg ? queryOnPg(pg) : queryOnPostgresJs(postgresJs as PostgresJsClient);
}

export function queryOnPg(client: PgClient): Query {
  return async (text) => {
    const replies = [await client.query(text, [])].flat(); // a list where the text is several statements
    return valuesOf(replies.at(-1)?.rows ?? []);
  };
}

export function queryOnPostgresJs(client: PostgresJsClient): Query {
  return async (text) => {
    const reply = await client.unsafe(text, []);
    // Several statements that return rows are a list of results, and a result has the name of its command.
    return valuesOf('command' in reply ? reply : ((reply.at(-1) ?? []) as unknown[]));
  };
}
