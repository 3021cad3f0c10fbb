/**
 * Returns a statement that removes expired rows of a quoted table and returns how many. Rows that another transaction
 * has locked are left for the next call. The clock is a subquery, so that the index is used.
 */
export function purgeStatement(table: string, limit: number, condition = ''): string {
  return `WITH expired AS (
  SELECT key FROM ${table} WHERE expires_at <= (SELECT clock_timestamp()) ${condition}
  ORDER BY expires_at LIMIT ${limit} FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM ${table} AS d USING expired WHERE d.key = expired.key RETURNING d.key
)
SELECT count(*)::text AS removed FROM removed`;
}
