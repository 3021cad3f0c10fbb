import { checkObject } from '../../option-checks.js';
import { reasonOf } from '../dead-letters.js';
import { checkPostgresName } from '../postgres-name.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { graphileWorkerStatements } from './statements.js';

/** The part of the helpers of a task that is used. */
export interface GraphileWorkerHelpers {
  job: { id: string; attempts: number };
  query(text: string, values: never): Promise<unknown>;
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
    const ended = await process(payload, { attempt: job.attempts, signal });
    if (ended.as === 'done') return;
    if (ended.as === 'dead') await query(sql.giveUp, [job.id] as never);
    if (ended.as === 'unreadable') await query(sql.countNoAttempt, [job.id] as never);
    throw new Error(reasonOf(ended.error), { cause: ended.error });
  };
}
