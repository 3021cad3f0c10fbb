import { tableSchema } from './schema.js';

/** Returns the statements of the table of an inbox. Times are microseconds since the epoch. */
export function inboxSchema(table: string): string[] {
  return tableSchema(
    table,
    `  \`key\` varbinary(255) NOT NULL PRIMARY KEY,
  token varbinary(32) NOT NULL,
  recorded_at bigint NOT NULL,
  expires_at bigint NOT NULL,
  KEY expires_at (expires_at)`,
  );
}
