import { endpointKey } from '../../endpoint.js';
import { check, checkPositiveInteger } from '../../option-checks.js';
import { inBatches } from '../in-batches.js';
import type { InboxSettings, TransactionInbox } from '../inbox.js';
import { type KyselyClient, runOnKysely } from '../kysely.js';
import { busyAsInProgress, checkTable } from './database.js';
import { inboxStatements } from './inbox-statements.js';
import { inboxSchema, SCHEMA_VERSION, schemaVersion } from './schema.js';

/** An inbox in the transactions of Kysely on SQLite. */
export function kyselyInbox(
  kysely: KyselyClient,
  table: string,
  { name, retainMs, waitMs }: InboxSettings,
  time: () => number | null,
): TransactionInbox<KyselyClient> {
  checkTable(table);
  const sql = inboxStatements(table);
  return {
    async init() {
      const first = async (statement: string) => (await runOnKysely(kysely, statement))[0];
      await runOnKysely(kysely, 'PRAGMA journal_mode = WAL');
      if (((await schemaVersion(table, first)) ?? 0) >= SCHEMA_VERSION) return;
      for (const statement of inboxSchema(table)) await runOnKysely(kysely, statement);
    },

    async once(tx, delivery, work) {
      check(tx.isTransaction, 'tx must be an open transaction of Kysely');
      const run = (statement: string, ...values: unknown[]) => runOnKysely(tx, statement, values);
      const key = await endpointKey(name, delivery.event.id, delivery.tenant);
      const [{ timeout } = { timeout: 0 }] = (await run('PRAGMA busy_timeout')) as { timeout: number }[];
      await run('SAVEPOINT webhooks');
      try {
        await run(`PRAGMA busy_timeout = ${waitMs}`);
        const recorded = await run(sql.record, key, retainMs, time(), retainMs)
          .catch((error) => Promise.reject(busyAsInProgress(error)))
          .finally(() => run(`PRAGMA busy_timeout = ${timeout}`));
        const done =
          recorded.length > 0
            ? ({ status: 'done', result: await work() } as const)
            : ({ status: 'duplicate' } as const);
        await run('RELEASE webhooks');
        return done;
      } catch (error) {
        const undo = async () => {
          await run('ROLLBACK TO webhooks');
          await run('RELEASE webhooks');
        };
        await undo().catch(() => {}); // the transaction of the user is rolled back by the error
        throw error;
      }
    },

    async forget(eventId, { tenant } = {}) {
      await runOnKysely(kysely, sql.forget, [await endpointKey(name, eventId, tenant)]);
    },

    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return inBatches(limit, async (rows) => {
        const removed = await runOnKysely(kysely, `${sql.purge} RETURNING key`, [time(), rows]);
        return removed.length;
      });
    },
  };
}
