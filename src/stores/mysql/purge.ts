import { checkPositiveInteger } from '../../option-checks.js';
import { inBatches } from '../in-batches.js';
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
 * Removes expired rows in short transactions with pauses for other work, and returns how many. Rows that another
 * transaction has locked are left for the next call. They are searched in a transaction of its own, because a search locks
 * the first live row after them too. They are removed by their keys: a DELETE that searches the index of `expires_at` would
 * lock it before the rows, which claims do in the other order.
 *
 * @throws WebhookError `invalid_option`
 */
export async function purge(
  { query, transaction }: Database,
  { table, limit, condition = '' }: Purge,
): Promise<number> {
  checkPositiveInteger('limit', limit);
  return inBatches(limit, async (count) => {
    const { rows } = await query(`SELECT \`key\` ${expiredRows(table, count, condition)}`);
    if (rows.length === 0) return 0;
    return transaction((inOne) => removeKeys(inOne, table, rows, `AND expires_at <= ${NOW} ${condition}`));
  });
}

/**
 * Returns the rest of a SELECT of expired rows that no transaction has locked. The index is named because a server may
 * read the whole table instead, and would lock the live rows too.
 */
export function expiredRows(table: string, limit: number, condition = ''): string {
  return `FROM ${table} FORCE INDEX (expires_at) WHERE expires_at <= ${NOW} ${condition}
ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
}

/**
 * Removes rows by their keys, which are the first column of other rows. Each has a statement of its own: for a list of
 * keys a server may read the whole table, and then waits for the locks of live rows.
 */
export async function removeKeys(
  query: Query,
  table: string,
  rows: readonly (string | null)[][],
  condition = '',
): Promise<number> {
  let removed = 0;
  for (const [key] of rows) {
    const { affectedRows } = await query(`DELETE FROM ${table} WHERE \`key\` = ${textLiteral(key)} ${condition}`);
    removed += affectedRows;
  }
  return removed;
}
