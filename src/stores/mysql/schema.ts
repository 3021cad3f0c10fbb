import { WebhookError } from '../../errors.js';
import { textLiteral } from './literals.js';
import { hasErrorNumber, namesOf, type Query } from './query.js';

/** The version of the tables. It grows when the schema of the store, of the inbox or of the jobs changes. */
export const SCHEMA_VERSION = 1;

/**
 * Returns the statements that create a table or update it. Each may run repeatedly. The columns that are compared are
 * bytes, because texts that a collation compares may be equal though they differ, such as by a space at the end.
 */
export function tableSchema(table: string, columns: string): string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (
${columns}
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
    // The version is a comment, which every user of the table can read and a dump keeps.
    `ALTER TABLE ${table} COMMENT = 'service-webhooks schema ${SCHEMA_VERSION}'`,
  ];
}

/** Returns the statements of the table of a store. Times are microseconds since the epoch. */
export function storeSchema(table: string): string[] {
  return tableSchema(
    table,
    `  \`key\` varbinary(255) NOT NULL PRIMARY KEY,
  state varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  owner varbinary(255),
  fence bigint NOT NULL,
  attempt int NOT NULL,
  lease_until bigint,
  fingerprint text NOT NULL,
  alias text,
  expires_at bigint NOT NULL,
  KEY expires_at (expires_at)`,
  );
}

/** Returns the statements of the table of jobs. The time `due_at` is in milliseconds, `expires_at` in microseconds. */
export function jobsSchema(table: string): string[] {
  return tableSchema(
    table,
    `  \`key\` varbinary(255) NOT NULL PRIMARY KEY,
  version varbinary(255) NOT NULL,
  record longtext NOT NULL,
  due_at bigint,
  expires_at bigint,
  KEY due (due_at, \`key\`),
  KEY expires_at (expires_at)`,
  );
}

/** Returns the version of a table: 0 where it has none, and undefined where the table is missing. */
export async function schemaVersion(query: Query, table: string): Promise<number | undefined> {
  return (await find(query, table))?.version;
}

interface Found {
  version: number;
  engine: string;
}

async function find(query: Query, table: string): Promise<Found | undefined> {
  const [database, name] = namesOf(table);
  const {
    rows: [found],
  } = await query(`SELECT TABLE_COMMENT, ENGINE FROM information_schema.TABLES
WHERE TABLE_SCHEMA = ${database ? textLiteral(database) : 'DATABASE()'} AND TABLE_NAME = ${textLiteral(name)}`);
  if (found === undefined) return undefined;
  const [comment, engine] = found;
  return { version: Number(/service-webhooks schema (\d{1,9})/.exec(comment ?? '')?.[1] ?? 0), engine: engine ?? '' };
}

/** Access denied to a database, to a statement on a table, to a privilege. */
const NOT_PERMITTED = [1044, 1142, 1227];

/**
 * Creates a table, or updates an older one. Where it is up to date, no right to change it is needed.
 *
 * @throws WebhookError `store_unavailable` where it is older and this user may not change it, or where its engine is not
 *   InnoDB
 */
export async function updateSchema(query: Query, table: string, statements: readonly string[]): Promise<void> {
  let found = await find(query, table);
  if (found === undefined || (isInnodb(found) && found.version < SCHEMA_VERSION)) {
    for (const statement of statements) {
      try {
        await query(statement);
      } catch (cause) {
        throw hasErrorNumber(cause, ...NOT_PERMITTED) ? notPermitted(table, found, cause) : cause;
      }
    }
    found = await find(query, table); // a server may replace an engine that it does not have
  }
  if (found && !isInnodb(found)) {
    throw new WebhookError('store_unavailable', {
      message: `The table ${table} is ${found.engine ? `of the engine ${found.engine}` : 'a view'}, and must be of InnoDB.`,
      hint: `Run 'ALTER TABLE ${table} ENGINE = InnoDB'.`,
    });
  }
}

function isInnodb({ engine }: Found): boolean {
  return engine.toLowerCase() === 'innodb';
}

function notPermitted(table: string, found: Found | undefined, cause: unknown): WebhookError {
  const problem = found ? `has version ${found.version} of ${SCHEMA_VERSION}` : 'does not exist';
  return new WebhookError('store_unavailable', {
    message: `The table ${table} ${problem}, and this user may not change it.`,
    hint: "Run what 'npx service-webhooks-cli migrations print --mysql' prints, as a user that may.",
    cause,
  });
}
