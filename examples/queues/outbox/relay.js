import { transaction } from '../transaction.js';

const NEXT = 'SELECT id, key, payload FROM webhook_outbox ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED';
const REMOVE = 'DELETE FROM webhook_outbox WHERE id = ANY($1)';

/**
 * Sends what waits, the oldest first, and returns how many messages it sent. Call it again and again; several may run.
 * A message is sent again where the process dies before its commit, with the same key.
 *
 * @param {import('pg').Pool} pool
 * @param {(key: string, payload: string) => Promise<unknown>} send
 * @param {number} limit
 */
export async function relay(pool, send, limit = 100) {
  const { sent, failure } = await transaction(pool, async (tx) => {
    const { rows } = await tx.query(NEXT, [limit]);
    /** @type {string[]} */
    const ids = [];
    try {
      for (const { id, key, payload } of rows) {
        await send(key, payload);
        ids.push(id);
      }
      return { sent: ids.length };
    } catch (error) {
      return { sent: ids.length, failure: { error } }; // the ones before it are removed all the same
    } finally {
      await tx.query(REMOVE, [ids]);
    }
  });
  if (failure) throw failure.error;
  return sent;
}
