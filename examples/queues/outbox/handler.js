import { transaction } from '../transaction.js';

/** The messages that a relay has still to send. */
export const OUTBOX = `
CREATE TABLE IF NOT EXISTS webhook_outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key text NOT NULL,
  payload text NOT NULL
)`;
const ADD = 'INSERT INTO webhook_outbox (key, payload) VALUES ($1, $2)';

/**
 * Returns a handler for a receiver with `dedupe: false`: the inbox records the event in the transaction that adds its
 * message, so that each event has exactly one message, and an event that was answered with 202 has one.
 *
 * @param {import('pg').Pool} pool
 * @param {import('service-webhooks/stores/postgres').TransactionInbox<import('pg').PoolClient>} inbox
 * @returns {import('service-webhooks').Handler}
 */
export function outboxHandler(pool, inbox) {
  return async (event, { delivery }) => {
    await transaction(pool, (tx) => inbox.once(tx, delivery, () => tx.query(ADD, [event.id, JSON.stringify(event)])));
    return { status: 202 };
  };
}
