/**
 * @template T
 * @param {import('pg').Pool} pool
 * @param {(tx: import('pg').PoolClient) => Promise<T>} work
 */
export async function transaction(pool, work) {
  const tx = await pool.connect();
  try {
    await tx.query('BEGIN');
    const result = await work(tx);
    await tx.query('COMMIT');
    tx.release();
    return result;
  } catch (error) {
    tx.release(true); // closes the connection, which rolls back even where no ROLLBACK can be sent
    throw error;
  }
}
