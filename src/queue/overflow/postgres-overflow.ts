import { fromBase64, toBase64 } from '../../bytes.js';
import { initOnce } from '../../init-once.js';
import { type PostgresClient, queryOf } from '../../stores/postgres/client.js';
import { textLiteral } from '../../stores/postgres/literals.js';
import { quotedTable, retryingQuery } from '../../stores/postgres/query.js';
import { updateSchema } from '../../stores/postgres/schema.js';
import type { Overflow } from '../limited-overflow.js';

/**
 * Keeps the bodies of large jobs in a table of PostgreSQL, which is created at the first use.
 *
 * @param client A pool of `pg` or the result of `postgres()`, which is never closed.
 * @param options `table`: the table, `name` or `schema.name`. Default: `'webhook_overflow'`.
 * @throws WebhookError `invalid_option`
 * @example
 * const queue = new Queue('webhooks', { connection });
 * bullmqQueue({ queue, overflow: postgresOverflow({ pg: pool }) });
 */
export function postgresOverflow(
  client: PostgresClient,
  { table: name = 'webhook_overflow' }: { table?: string | undefined } = {},
): Overflow {
  const run = queryOf('postgresOverflow', client);
  const table = quotedTable(name);
  const query = retryingQuery(run);
  const init = initOnce(() => updateSchema(run, table, schemaOf(table)));
  return {
    async put(id, body) {
      await init();
      // Base64 has no character that needs an escape.
      await query(`INSERT INTO ${table} (id, body) VALUES (${textLiteral(id)}, decode('${toBase64(body)}', 'base64'))
ON CONFLICT (id) DO UPDATE SET body = EXCLUDED.body`);
    },

    async get(id) {
      await init();
      const [[body] = []] = await query(`SELECT encode(body, 'base64') FROM ${table} WHERE id = ${textLiteral(id)}`);
      return typeof body === 'string' ? fromBase64(body) : undefined;
    },

    async delete(id) {
      await init();
      await query(`DELETE FROM ${table} WHERE id = ${textLiteral(id)}`);
    },
  };
}

const schemaOf = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  id text COLLATE "C" PRIMARY KEY,
  body bytea NOT NULL,
  put_at timestamptz NOT NULL DEFAULT now()
)`,
  `COMMENT ON TABLE ${table} IS 'service-webhooks schema 1'`,
];
