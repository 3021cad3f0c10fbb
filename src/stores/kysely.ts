/** A `Kysely` or a `Transaction` of `kysely`. */
export interface KyselyClient {
  readonly isTransaction: boolean;
  executeQuery(query: never): PromiseLike<KyselyResult>;
}

/** The part of a `QueryResult` of `kysely` that is read. */
export interface KyselyResult {
  readonly rows: readonly unknown[];
  readonly numAffectedRows?: bigint | undefined;
}

/** Runs a statement unchanged. It has the form of Kysely's `CompiledQuery.raw`. */
export async function executeOnKysely(
  client: KyselyClient,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<KyselyResult> {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  return client.executeQuery({ sql, parameters, query } as never);
}

/** Runs a statement unchanged and returns its rows. */
export async function runOnKysely(
  client: KyselyClient,
  sql: string,
  parameters?: readonly unknown[],
): Promise<readonly unknown[]> {
  return (await executeOnKysely(client, sql, parameters)).rows;
}
