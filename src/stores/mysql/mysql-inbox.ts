import { endpointKey } from '../../endpoint.js';
import { WebhookError } from '../../errors.js';
import { check, checkPositiveInteger } from '../../option-checks.js';
import { inBatches } from '../in-batches.js';
import { type InboxOptions, inboxSettings, type TransactionInbox } from '../inbox.js';
import { clientName, hasMethods } from '../named-client.js';
import { LIBRARIES, type MysqlInboxClients, type MysqlInboxTransaction } from './inbox-clients.js';
import { inboxSchema } from './inbox-schema.js';
import { inboxStatements } from './inbox-statements.js';
import { textLiteral } from './literals.js';
import { removeKeys } from './purge.js';
import {
  DEADLOCK,
  hasErrorNumber,
  LOCK_WAIT_TIMEOUT,
  type Query,
  quotedTable,
  RECORD_CHANGED,
  retryingUndone,
} from './query.js';
import { updateSchema } from './schema.js';

/**
 * Options of {@link mysqlInbox}. The table is `name` or `database.name`. `waitMs` is rounded up to whole seconds, which
 * is how MySQL and MariaDB limit waits for locks.
 */
export type MysqlInboxOptions = InboxOptions;

/** An inbox in the transactions of one library. */
export type MysqlInbox<Transaction> = TransactionInbox<Transaction>;

const NO_SAVEPOINT = 1305;
const NOT_IN_PREPARED_PROTOCOL = 1295;

/**
 * Returns an inbox, which records each event in the transaction of the writes it causes: both are committed or neither
 * is, whenever the process dies, so that the effects happen exactly once. The table must be in the database of those
 * writes. With an inbox a receiver needs no other dedupe.
 *
 * After a deadlock the server has rolled back the whole transaction, not only what `once` did. `once` throws
 * `delivery_in_progress`, and every later write through `tx` fails until you end the transaction. The same holds where
 * `work` ends the transaction, as every DDL statement does: `once` then throws `invalid_option`.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const inbox = mysqlInbox({ drizzle: db }, { name: 'clips' });
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
export function mysqlInbox<Name extends keyof MysqlInboxClients>(
  client: { readonly [Only in Name]: MysqlInboxClients[Only] },
  options: MysqlInboxOptions,
): MysqlInbox<MysqlInboxTransaction<Name>> {
  const library = clientName('mysqlInbox', client as MysqlInboxClients, LIBRARIES) as Name;
  const { name, retainMs, waitMs } = inboxSettings('mysqlInbox', options);
  const table = quotedTable(options.table ?? 'webhook_inbox');
  const { query: queryOn, methods, transactionMethods = methods } = LIBRARIES[library];
  const run = queryOn(client[library]);
  const query = retryingUndone(run);
  const sql = inboxStatements(table);
  const keyOf = async (eventId: string, tenant: string | undefined) =>
    textLiteral(await endpointKey(name, eventId, tenant));

  /** Returns whether the event is new. Waits for locks at most `waitMs`, and then restores the user's own limit. */
  async function record(inTransaction: Query, key: string, token: string): Promise<boolean> {
    try {
      await inTransaction(sql.limitWaits(waitMs));
      await inTransaction(sql.record(key, token, retainMs));
      const { rows } = await inTransaction(sql.isRecorded(key, token));
      return Number(rows[0]?.[0]) === 1;
    } catch (cause) {
      throw hasErrorNumber(cause, LOCK_WAIT_TIMEOUT, DEADLOCK, RECORD_CHANGED) ? inProgress(cause) : cause;
    } finally {
      await inTransaction(sql.restoreWaits).catch(() => {}); // a lost connection has no settings
    }
  }

  /** Undoes what `once` and `work` did. Where the transaction has ended, each further write would be committed alone. */
  async function undo(inTransaction: Query, token: string): Promise<void> {
    try {
      await inTransaction(sql.undo(token));
    } catch (error) {
      if (!hasErrorNumber(error, NO_SAVEPOINT)) return; // a lost connection has undone it
      for (const statement of sql.refuseWrites) await inTransaction(statement).catch(() => {});
    }
  }

  return {
    init: () => updateSchema(run, table, inboxSchema(table)),

    async once(tx, { event, tenant }, work) {
      check(hasMethods(tx, transactionMethods), `tx must be an open transaction of ${library}`);
      const inTransaction = queryOn(client[library], tx);
      const key = await keyOf(event.id, tenant);
      const token = crypto.randomUUID().replaceAll('-', '');
      await begin(inTransaction, sql.begin(token), sql.undo(token));
      try {
        const done = (await record(inTransaction, key, token))
          ? ({ status: 'done', result: await work() } as const)
          : ({ status: 'duplicate' } as const);
        await inTransaction(sql.end(token)).catch(explainEndedTransaction);
        return done;
      } catch (error) {
        await undo(inTransaction, token);
        throw error;
      }
    },

    async forget(eventId, { tenant } = {}) {
      await query(sql.forget(await keyOf(eventId, tenant)));
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return inBatches(limit, async (count) => {
        const { rows } = await query(sql.expired(count));
        return removeKeys(query, table, rows, sql.isExpired);
      });
    },
  };
}

/** Another attempt holds the event, or has committed it since this transaction began. */
function inProgress(cause: unknown): WebhookError {
  const message = hasErrorNumber(cause, DEADLOCK)
    ? 'The server has rolled back this transaction, because of a deadlock with another one.'
    : 'Another transaction holds this event.';
  return new WebhookError('delivery_in_progress', { message, cause });
}

/** Sets the savepoint. Outside of a transaction that succeeds too, but then the savepoint is gone at once. */
async function begin(inTransaction: Query, setSavepoint: string, returnToSavepoint: string): Promise<void> {
  try {
    await inTransaction(setSavepoint);
    await inTransaction(returnToSavepoint);
  } catch (cause) {
    if (hasErrorNumber(cause, NOT_IN_PREPARED_PROTOCOL)) {
      throw new WebhookError('invalid_option', {
        message: 'This server takes no SAVEPOINT as a prepared statement.',
        hint: 'For Prisma, pass { useTextProtocol: true } to PrismaMariaDb.',
        cause,
      });
    }
    if (!hasErrorNumber(cause, NO_SAVEPOINT)) throw cause;
    throw new WebhookError('invalid_option', {
      message: 'tx is not in a transaction.',
      hint: 'Pass the object that your library gives you for the open transaction.',
      cause,
    });
  }
}

function explainEndedTransaction(cause: unknown): never {
  if (!hasErrorNumber(cause, NO_SAVEPOINT)) throw cause;
  throw new WebhookError('invalid_option', {
    message: 'The transaction has ended inside of work, so the event and its effects are not recorded together.',
    hint: 'Run no COMMIT, ROLLBACK or DDL in work, and let the error of a deadlock out of it.',
    cause,
  });
}
