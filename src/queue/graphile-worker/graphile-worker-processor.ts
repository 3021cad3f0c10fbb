import { checkObject } from '../../option-checks.js';
import { countOf } from '../engine-values.js';
import { checkPostgresName } from '../postgres-name.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { graphileWorkerStatements } from './statements.js';

/** The part of the helpers of a task that is used. */
export interface GraphileWorkerHelpers {
  job: { id: string; attempts: number; max_attempts: number; locked_by: string | null };
  query(text: string, values: never): Promise<{ rows: unknown[] }>;
  abortSignal?: AbortSignal | undefined;
}

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
  const sql = graphileWorkerStatements(schema, 'webhook_queue_keys');

  return async (payload, { job, query, abortSignal: signal }) => {
    const { id, attempts: started, max_attempts, locked_by } = job;
    const attempt = countOf(started);
    // One more start than attempts: it makes the job of a worker that died in the last one a dead letter.
    const attempts = Math.max(1, countOf(max_attempts) - 1);
    const ended = await process(payload, { attempt, attempts, signal });
    if (ended.as === 'done') return;
    if (ended.as === 'dead') {
      const { rows } = await query(sql.bury, [id, locked_by, attempt, ended.attempts, ended.reason] as never);
      if (rows.length > 0) process.deadLetter(payload, ended);
    }
    if (ended.as === 'unreadable') await query(sql.lookLater, [id, locked_by, attempt] as never);
    throw new Error(ended.reason, { cause: ended.error });
  };
}
