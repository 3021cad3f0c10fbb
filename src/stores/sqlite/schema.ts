/** The version of the tables. It grows when {@link storeSchema}, {@link inboxSchema} or {@link jobsSchema} changes. */
export const SCHEMA_VERSION = 1;

/**
 * The table that holds the version of each table: SQLite has no comments on tables, and `user_version` belongs to the
 * app.
 */
const VERSIONS = 'webhook_schema';

/** Returns the statements that create the table of a store or update it. Each may run repeatedly. */
export const storeSchema = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  key TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL,
  owner TEXT,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  lease_until INTEGER,
  expires_at INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  alias TEXT,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID`,
  ...commonSchema(table),
];

/** Returns the statements that create the table of an inbox or update it. Each may run repeatedly. */
export const inboxSchema = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  key TEXT NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID`,
  ...commonSchema(table),
];

/** Returns the statements that create the table of jobs or update it. Each may run repeatedly. */
export const jobsSchema = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  key TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  record TEXT NOT NULL,
  due_at INTEGER,
  expires_at INTEGER
)`,
  `CREATE INDEX IF NOT EXISTS ${table}_due ON ${table} (due_at, key) WHERE due_at IS NOT NULL`,
  ...commonSchema(table),
];

/** Returns the statements of the index that the purge reads, and of the version. A queue has an index of its own. */
const commonSchema = (table: string): string[] => [
  `CREATE INDEX IF NOT EXISTS ${table}_expires_at ON ${table} (expires_at)`,
  ...versionSchema(table, SCHEMA_VERSION),
];

/** Returns the statements that record the version of a table. */
export const versionSchema = (table: string, version: number): string[] => [
  `CREATE TABLE IF NOT EXISTS ${VERSIONS} (table_name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)`,
  `INSERT INTO ${VERSIONS} VALUES ('${table}', ${version})
ON CONFLICT (table_name) DO UPDATE SET version = excluded.version WHERE version < excluded.version`,
];

/** Returns the version of a table: 0 where it has none, and undefined where the table is missing. */
export async function schemaVersion(table: string, first: (sql: string) => unknown): Promise<number | undefined> {
  const exists = async (name: string) => {
    const row = await first(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '${name}' COLLATE NOCASE`);
    return row != null;
  };
  if (!(await exists(table))) return undefined;
  if (!(await exists(VERSIONS))) return 0;
  const row = await first(`SELECT version FROM ${VERSIONS} WHERE table_name = '${table}' COLLATE NOCASE`);
  return Number((row as { version: number | bigint } | null | undefined)?.version ?? 0);
}
