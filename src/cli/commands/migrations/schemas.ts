import { quotedTable } from '../../../stores/postgres/query.js';
import * as postgres from '../../../stores/postgres/schema.js';
import { checkTable } from '../../../stores/sqlite/database.js';
import * as sqlite from '../../../stores/sqlite/schema.js';

/** The databases whose tables are versioned, as their options are named. */
export type DatabaseKind = 'postgres' | 'sqlite';

/** The names of the tables. Default: both default names. */
export interface TableNames {
  table?: string | undefined;
  inboxTable?: string | undefined;
}

/** One table: its purpose, its name, and the statements that create or update it. */
export interface VersionedTable {
  purpose: 'store' | 'inbox';
  name: string;
  statements: readonly string[];
}

export const SCHEMA_VERSIONS: Readonly<Record<DatabaseKind, number>> = {
  postgres: postgres.SCHEMA_VERSION,
  sqlite: sqlite.SCHEMA_VERSION,
};

/**
 * @throws WebhookError `invalid_option` for a name that cannot be a table
 */
export function tablesOf(kind: DatabaseKind, { table, inboxTable }: TableNames): VersionedTable[] {
  const isDefault = table === undefined && inboxTable === undefined;
  const store = isDefault ? 'webhook_deliveries' : table;
  const inbox = isDefault ? 'webhook_inbox' : inboxTable;
  const { storeSchema, inboxSchema } = kind === 'postgres' ? postgres : sqlite;
  return [
    ...(store === undefined
      ? []
      : [{ purpose: 'store' as const, name: store, statements: storeSchema(written(kind, store)) }]),
    ...(inbox === undefined
      ? []
      : [{ purpose: 'inbox' as const, name: inbox, statements: inboxSchema(written(kind, inbox)) }]),
  ];
}

/** Returns the name as statements write it. */
export function written(kind: DatabaseKind, name: string): string {
  if (kind === 'postgres') return quotedTable(name);
  checkTable(name);
  return name;
}

/** Returns one SQL script for all tables. It may run repeatedly, and updates older tables. */
export function migrationScript(kind: DatabaseKind, names: TableNames): string {
  const title = { postgres: 'PostgreSQL', sqlite: 'SQLite and D1' }[kind];
  const parts = tablesOf(kind, names).map(({ purpose, statements }) => {
    const holds = {
      store: 'a dedupe store: one row for each event',
      inbox: 'an inbox: one row for each event whose effects are committed',
    };
    return `-- The table of ${holds[purpose]}.\n${statements.map((statement) => `${statement};\n`).join('')}`;
  });
  return `-- service-webhooks, tables of version ${SCHEMA_VERSIONS[kind]} for ${title}. This script may run again.\n\n${parts.join('\n')}`;
}
