import { checkPositiveInteger } from '../../option-checks.js';
import type { Database } from './client.js';
import { NOW, textLiteral } from './literals.js';
import type { Query } from './query.js';

/** Which expired rows are removed. */
export interface Purge {
  /** The quoted table. */
  table: string;
  limit: number;
  /** A further condition, such as `AND fence < 5`. */
  condition?: string | undefined;
}

/**
 * Removes expired rows in a transaction, and returns how many. Rows that another transaction has locked are left for the
 * next call. The rows are removed by their keys: a DELETE that searches the index of `expires_at` would lock it before
 * the rows, which claims do in the other order.
 *
 * @throws WebhookError `invalid_option`
 */
export async function purge(
  transaction: Database['transaction'],
  { table, limit, condition = '' }: Purge,
): Promise<number> {
  checkPositiveInteger('limit', limit);
  return transaction(async (query) => {
    const { rows } = await query(`SELECT \`key\` FROM ${table} WHERE expires_at <= ${NOW} ${condition}
ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`);
    return rows.length === 0 ? 0 : removeKeys(query, table, rows);
  });
}

/** Removes rows by their keys, which are the first column of other rows. */
export async function removeKeys(query: Query, table: string, rows: readonly (string | null)[][]): Promise<number> {
  const keys = rows.map(([key]) => textLiteral(key));
  return (await query(`DELETE FROM ${table} WHERE \`key\` IN (${keys.join(', ')})`)).affectedRows;
}
