import { fromBase64, toBase64 } from '../../bytes.js';
import { initOnce } from '../../init-once.js';
import { clientName } from '../../stores/named-client.js';
import { openDatabase, SQLITE_FORMS, type SqliteClient, type SqliteDatabase } from '../../stores/sqlite/database.js';
import { versionSchema } from '../../stores/sqlite/schema.js';
import type { Overflow } from '../limited-overflow.js';

const VERSION = 1;

/**
 * Keeps the bodies of large jobs in a table of a SQLite database, which is created at the first use.
 *
 * @param client An open handle, which is never closed.
 * @param options `table`: the table. Default: `'webhook_overflow'`. Letters, digits and `_`.
 * @throws WebhookError `invalid_option`
 * @example
 * sqliteQueue({ nodeSqlite: db }, { name: 'clips', overflow: sqliteOverflow({ nodeSqlite: bodies }) });
 */
export function sqliteOverflow(
  client: SqliteClient,
  { table = 'webhook_overflow' }: { table?: string | undefined } = {},
): Overflow {
  clientName('sqliteOverflow', client, SQLITE_FORMS);
  const db = openDatabase((client.betterSqlite3 ?? client.nodeSqlite) as SqliteDatabase, table);
  const init = initOnce(() => db.init(schemaOf(table), VERSION));
  return {
    async put(id, body) {
      await init();
      const put = `INSERT INTO ${table} VALUES (?, ?, unixepoch()) ON CONFLICT (id) DO UPDATE SET body = excluded.body`;
      await db.change(put, id, toBase64(body));
    },

    async get(id) {
      await init();
      const { body } = db.get<{ body?: unknown }>(`SELECT body FROM ${table} WHERE id = ?`, id) ?? {};
      return typeof body === 'string' ? fromBase64(body) : undefined;
    },

    async delete(id) {
      await init();
      await db.change(`DELETE FROM ${table} WHERE id = ?`, id);
    },
  };
}

/** The body is text in base64, because each library takes bytes in another form. `put_at` is in seconds since the epoch. */
const schemaOf = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  id TEXT NOT NULL PRIMARY KEY,
  body TEXT NOT NULL,
  put_at INTEGER NOT NULL
)`,
  ...versionSchema(table, VERSION),
];
