import { WebhookError } from '../../errors.js';
import { textLiteral } from './literals.js';
import { bareName, hasSqlState, type Query } from './query.js';

/** The version of the tables. It grows when {@link storeSchema}, {@link inboxSchema} or {@link jobsSchema} changes. */
export const SCHEMA_VERSION = 1;

/** Returns the statements that create the table of a store or update it. Each may run repeatedly. */
export function storeSchema(table: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  state text NOT NULL,
  owner text,
  fence bigint NOT NULL,
  attempt integer NOT NULL,
  lease_until timestamptz,
  fingerprint text NOT NULL,
  alias text,
  expires_at timestamptz NOT NULL
)`,
    // Free space in each page for the next version of a row, so that an update needs no new index entries.
    `ALTER TABLE ${table} SET (fillfactor = 80)`,
    ...commonSchema(table),
  ];
}

/** Returns the statements that create the table of an inbox or update it. Each may run repeatedly. */
export function inboxSchema(table: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  recorded_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
)`,
    ...commonSchema(table),
  ];
}

/** Returns the statements that create the table of jobs or update it. Each may run repeatedly. */
export function jobsSchema(table: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
  key text COLLATE "C" PRIMARY KEY,
  version text NOT NULL,
  record text NOT NULL,
  due_at bigint,
  expires_at timestamptz
)`,
    `CREATE INDEX IF NOT EXISTS "${bareName(table)}_due" ON ${table} (due_at, key) WHERE due_at IS NOT NULL`,
    // The name of a table of jobs is longer, and that of an index may have 63 characters.
    ...commonSchema(table, 'expires'),
  ];
}

/**
 * Returns the statements of the index that the purge reads, and of the version: a comment, which any role can read and
 * a dump keeps.
 */
function commonSchema(table: string, index = 'expires_at'): string[] {
  return [
    `CREATE INDEX IF NOT EXISTS "${bareName(table)}_${index}" ON ${table} (expires_at)`,
    `COMMENT ON TABLE ${table} IS 'service-webhooks schema ${SCHEMA_VERSION}'`,
  ];
}

/** Returns the version of a table: 0 where it has none, and undefined where the table is missing. */
export async function schemaVersion(query: Query, table: string): Promise<number | undefined> {
  const [found] = await query(
    `SELECT coalesce(obj_description(oid, 'pg_class'), '') AS comment FROM pg_class WHERE oid = to_regclass(${regclass(table)})`,
  );
  return found && Number(/service-webhooks schema (\d{1,9})/.exec(found[0] ?? '')?.[1] ?? 0);
}

function regclass(table: string): string {
  return `${textLiteral(table)}::text`;
}

// unique_violation, duplicate_table, duplicate_object: IF NOT EXISTS does not see uncommitted tables.
const CREATED_BY_ANOTHER = ['23505', '42P07', '42710'];
const NOT_PERMITTED = '42501';

/**
 * Creates a table, or updates an older one. Where it is up to date, no right to change it is needed.
 *
 * @throws WebhookError `store_unavailable` where it is older and this role may not change it
 */
export async function updateSchema(query: Query, table: string, statements: readonly string[]): Promise<void> {
  const version = await schemaVersion(query, table);
  if (version !== undefined && version >= SCHEMA_VERSION) return;
  for (const statement of statements) {
    try {
      await query(statement);
    } catch (error) {
      if (hasSqlState(error, ...CREATED_BY_ANOTHER)) continue;
      if (!hasSqlState(error, NOT_PERMITTED)) throw error;
      const problem = version === undefined ? 'does not exist' : `has version ${version} of ${SCHEMA_VERSION}`;
      throw new WebhookError('store_unavailable', {
        message: `The table ${table} ${problem}, and this role may not change it.`,
        hint: "Run what 'npx service-webhooks-cli migrations print --postgres' prints, as a role that may.",
        cause: error,
      });
    }
  }
}
