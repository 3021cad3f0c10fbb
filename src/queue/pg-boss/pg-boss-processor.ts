import { check, checkObject } from '../../option-checks.js';
import { reasonOf } from '../dead-letters.js';
import { checkPostgresName } from '../postgres-name.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import type { PgBossDatabase } from './pg-boss-queue.js';
import { pgBossStatements } from './statements.js';

/** The part of the worker's `PgBoss` that is used. */
export interface PgBossWorkerClient {
  complete(name: string, id: string): Promise<unknown>;
  fail(name: string, id: string, data: object): Promise<unknown>;
  getDb(): PgBossDatabase;
}

/** Options of {@link pgBossProcessor}. */
export interface PgBossProcessorOptions extends WorkerOptions {
  /** The `PgBoss` that the worker belongs to. */
  boss: PgBossWorkerClient;
  /** The schema of pg-boss. Default: `'pgboss'`. */
  schema?: string | undefined;
}

/** The fields that the processor reads from a job. */
export interface PgBossJob {
  id: string;
  name: string;
  data: unknown;
}

/**
 * Returns the handler of `boss.work()`, for one job or a batch: each job of a batch is settled on its own. Failures are
 * retried by the settings of the queue; a {@link PermanentError} makes the job a dead letter.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * await boss.work('webhooks', pgBossProcessor({ boss, on }));
 */
export function pgBossProcessor(options: PgBossProcessorOptions): (jobs: readonly PgBossJob[]) => Promise<void> {
  checkObject('options', options);
  const { boss, schema = 'pgboss', ...workerOptions } = options;
  check(typeof boss?.fail === 'function', 'boss must be a PgBoss: it has no method fail()');
  checkPostgresName('schema', schema);
  const process = createProcessor(workerOptions);
  const sql = pgBossStatements(schema);

  async function run({ id, name, data }: PgBossJob): Promise<void> {
    const query = (text: string) => boss.getDb().executeSql(text, [name, id]);
    const [row] = (await query(sql.retryCount)).rows as { retry_count: number }[];
    if (row === undefined) return; // the job has expired, and another worker runs it
    const ended = await process(data, { attempt: Number(row.retry_count) + 1 });
    if (ended.as === 'done') {
      await boss.complete(name, id);
      return;
    }
    if (ended.as === 'unreadable') {
      await query(sql.wait);
      return;
    }
    if (ended.as === 'dead') await query(sql.giveUp);
    await boss.fail(name, id, { message: reasonOf(ended.error) });
  }

  return async (jobs) => {
    for (const job of jobs) await run(job);
  };
}
