import { endpointKey } from '../../endpoint.js';
import { WebhookError } from '../../errors.js';
import { check, checkPositiveInteger } from '../../option-checks.js';
import { type InboxOptions, inboxSettings, type TransactionInbox } from '../inbox.js';
import { clientName, hasMethods } from '../named-client.js';
import { type InboxClients, type InboxTransaction, LIBRARIES } from './inbox-clients.js';
import { inboxStatements } from './inbox-statements.js';
import { textLiteral } from './literals.js';
import { hasSqlState, type Query, quotedTable, retryingQuery } from './query.js';
import { inboxSchema, updateSchema } from './schema.js';

/** Options of {@link postgresInbox}. The table is `name` or `schema.name`. */
export type PostgresInboxOptions = InboxOptions;

/** An inbox in the transactions of one library. */
export type PostgresInbox<Transaction> = TransactionInbox<Transaction>;

const LOCK_NOT_AVAILABLE = '55P03';
const SERIALIZATION_FAILURE = '40001';
const NO_ACTIVE_TRANSACTION = '25P01';

/**
 * Returns an inbox, which records each event in the transaction of the writes it causes: both are committed or neither
 * is, whenever the process dies, so that the effects happen exactly once. The table must be in the database of those
 * writes. With an inbox a receiver needs no other dedupe.
 *
 * If a receiver vanishes without closing its connection, `idle_in_transaction_session_timeout` decides when another
 * receiver can record the event.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const inbox = postgresInbox({ drizzle: db }, { name: 'clips' });
 * await inbox.init();
 * createReceiver({
 *   secret,
 *   dedupe: false,
 *   on: {
 *     'generation.completed': async ({ data }, { delivery }) => {
 *       await db.transaction((tx) => inbox.once(tx, delivery, () => tx.insert(clips).values({ id: data.clipId })));
 *     },
 *   },
 * });
 */
export function postgresInbox<Name extends keyof InboxClients>(
  client: { readonly [Only in Name]: InboxClients[Only] },
  options: PostgresInboxOptions,
): PostgresInbox<InboxTransaction<Name>> {
  const library = clientName('postgresInbox', client as InboxClients, LIBRARIES) as Name;
  const { name, retainMs, waitMs } = inboxSettings('postgresInbox', options);
  const table = quotedTable(options.table ?? 'webhook_inbox');
  const { query: queryOn, methods, transactionMethods = methods } = LIBRARIES[library];
  const isTransaction = (tx: unknown) => hasMethods(tx, transactionMethods);
  const run = queryOn(client[library]);
  const query = retryingQuery(run);
  const sql = inboxStatements(table);
  const keyOf = async (eventId: string, tenant: string | undefined) =>
    textLiteral(await endpointKey(name, eventId, tenant));

  /** Returns whether the event is new. Waits for locks at most `waitMs`, and then restores the user's own limit. */
  async function record(inTransaction: Query, key: string): Promise<boolean> {
    try {
      const [[before = '0'] = []] = await inTransaction(sql.limitWaits(waitMs));
      const [[recorded] = []] = await inTransaction(sql.record(key, retainMs, textLiteral(before)));
      return recorded === '1';
    } catch (cause) {
      // Another attempt holds the event, or has committed it since this transaction began.
      if (!hasSqlState(cause, LOCK_NOT_AVAILABLE, SERIALIZATION_FAILURE)) throw cause;
      throw new WebhookError('delivery_in_progress', { message: 'Another transaction holds this event.', cause });
    }
  }

  return {
    init: () => updateSchema(run, table, inboxSchema(table)),

    async once(tx, { event, tenant }, work) {
      check(isTransaction(tx), `tx must be an open transaction of ${library}`);
      const inTransaction = queryOn(client[library], tx);
      const key = await keyOf(event.id, tenant);
      await inTransaction(sql.begin).catch(explainMissingTransaction);
      try {
        const done = (await record(inTransaction, key))
          ? ({ status: 'done', result: await work() } as const)
          : ({ status: 'duplicate' } as const);
        await inTransaction(sql.end);
        return done;
      } catch (error) {
        await inTransaction(sql.undo).catch(() => {}); // a lost connection has undone it
        throw error;
      }
    },

    async forget(eventId, { tenant } = {}) {
      await query(sql.forget(await keyOf(eventId, tenant)));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      const [[removed] = []] = await query(sql.purge(limit));
      return Number(removed);
    },
  };
}

function explainMissingTransaction(cause: unknown): never {
  if (!hasSqlState(cause, NO_ACTIVE_TRANSACTION)) throw cause;
  throw new WebhookError('invalid_option', {
    message: 'tx is not in a transaction.',
    hint: 'Pass the object that your library gives you for the open transaction.',
    cause,
  });
}
