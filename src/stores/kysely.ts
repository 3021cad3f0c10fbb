/** A `Kysely` or a `Transaction` of `kysely`. */
export interface KyselyClient {
  readonly isTransaction: boolean;
  executeQuery(query: never): PromiseLike<{ rows: readonly unknown[] }>;
}

/** Runs a statement unchanged and returns its rows. The statement has the form of Kysely's `CompiledQuery.raw`. */
export async function runOnKysely(
  client: KyselyClient,
  sql: string,
  parameters: readonly unknown[] = [],
): Promise<readonly unknown[]> {
  const query = { kind: 'RawNode', sqlFragments: [sql], parameters: [] };
  const { rows } = await client.executeQuery({ sql, parameters, query } as never);
  return rows;
}
