import { checkObject } from '../../option-checks.js';
import { createLog } from '../../receiver/log.js';
import { checkPostgresName, untilAnswered } from '../postgres.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { countOf } from '../stored-values.js';
import { errorText } from './error-text.js';
import { graphileWorkerStatements } from './statements.js';
import { checkTables, notInSchema } from './worker-schema.js';

/** The part of the helpers of a task that is used. */
export interface GraphileWorkerHelpers {
  job: { id: string; attempts: number; max_attempts: number; locked_by: string | null };
  query(text: string, values: never): Promise<{ rows: unknown[] }>;
  abortSignal?: AbortSignal | undefined;
}

/** After four hours, graphile-worker takes a job from its worker. */
const LOCK_MS = 4 * 3_600_000;

/** Options of {@link graphileWorkerProcessor}. */
export interface GraphileWorkerProcessorOptions extends WorkerOptions {
  /** The schema of graphile-worker, as `run({ schema })` has it. Default: `'graphile_worker'`. */
  schema?: string | undefined;
}

/**
 * Returns a task of graphile-worker. Failures are retried by its own exponential backoff; a {@link PermanentError}
 * makes the job a dead letter. graphile-worker runs a job whose worker died again after four hours.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * await run({ pgPool: pool, taskList: { webhooks: graphileWorkerProcessor({ on }) } });
 */
export function graphileWorkerProcessor(
  options: GraphileWorkerProcessorOptions,
): (payload: unknown, helpers: GraphileWorkerHelpers) => Promise<void> {
  checkObject('options', options);
  const { schema = 'graphile_worker', ...workerOptions } = options;
  checkPostgresName('schema', schema);
  const process = createProcessor(workerOptions);
  const log = createLog(options.logger);
  const sql = graphileWorkerStatements(schema, 'webhook_queue_keys');

  let isChecked = false;

  return async (payload, { job, query, abortSignal: signal }) => {
    const { id, attempts: started, max_attempts, locked_by } = job;
    const attempt = Math.max(1, countOf(started));
    // graphile-worker allows one start more than the attempts. The last one runs no handler: it makes the job of a worker
    // that died in its last attempt a dead letter, and reports it.
    const attempts = Math.max(1, countOf(max_attempts) - 1);
    const answer = (text: string, values: unknown[]) =>
      untilAnswered(() => query(text, values as never), { log, limitMs: LOCK_MS, signal });
    const statement = async (text: string, ...values: unknown[]) =>
      (await answer(text, [id, locked_by, started, ...values])).rows.length > 0;
    if (!isChecked) {
      await checkTables('graphileWorkerProcessor', (text) => answer(text, []), schema);
      if (!(await statement(sql.isOwn))) throw notInSchema('graphileWorkerProcessor', schema);
      isChecked = true;
    }
    const isOwn = () => statement(sql.isOwn);
    const ended = await process(payload, { attempt, attempts, signal, isOwn });
    // graphile-worker records the end itself, after this, and stops where the connection is lost meanwhile. So each way to
    // end runs a statement first: it waits for a connection that works.
    switch (ended.as) {
      case 'done':
        if (await statement(sql.isOwn)) return;
        // graphile-worker would delete the job also where another worker runs it. A failure leaves it to that worker.
        throw new Error('Another worker has the job.');
      case 'failed':
        await statement(sql.countAttempt);
        break;
      case 'unreadable':
        await statement(sql.lookLater, ended.reason);
        break;
      case 'dead':
        if (await statement(sql.bury, errorText(ended), ended.attempts)) process.deadLetter(payload, ended);
    }
    throw new Error(ended.reason, { cause: ended.error });
  };
}
