import { checkObject } from '../../option-checks.js';
import { createLog } from '../../receiver/log.js';
import { countOf } from '../engine-values.js';
import { checkPostgresName } from '../postgres-name.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { untilAnswered } from '../until-answered.js';
import { graphileWorkerStatements } from './statements.js';

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
  /** The schema of graphile-worker. Default: `'graphile_worker'`. */
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

  return async (payload, { job, query, abortSignal: signal }) => {
    const { id, attempts: started, max_attempts, locked_by } = job;
    const attempt = countOf(started);
    // graphile-worker allows one start more than attempts. That start runs no handler: it buries a job whose worker died.
    const attempts = Math.max(1, countOf(max_attempts) - 1);
    const ended = await process(payload, { attempt, attempts, signal });
    // Where a connection is lost while graphile-worker itself records the end of a job, it stops with an error. So its
    // pool has a connection that works before this returns or throws.
    const statement = async (text: string, ...values: unknown[]) => {
      const call = () => query(text, [id, locked_by, attempt, ...values] as never);
      return (await untilAnswered(call, { log, limitMs: LOCK_MS, signal })).rows.length > 0;
    };
    if (ended.as === 'done') {
      // graphile-worker would delete the job also where another worker runs it. A failure leaves it to another process.
      if (await statement(sql.isOwn)) return;
      throw new Error('Another worker has the job.');
    }
    if (ended.as === 'failed') await statement(sql.isOwn);
    if (ended.as === 'unreadable') await statement(sql.lookLater);
    if (ended.as === 'dead' && (await statement(sql.bury, ended.attempts, ended.reason))) {
      process.deadLetter(payload, ended);
    }
    throw new Error(ended.reason, { cause: ended.error });
  };
}
