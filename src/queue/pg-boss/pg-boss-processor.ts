import { check, checkObject } from '../../option-checks.js';
import { createLog } from '../../receiver/log.js';
import { unrefTimeout } from '../../timers.js';
import { countOf } from '../engine-values.js';
import { checkPostgresName } from '../postgres-name.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { stopwatch } from '../stopwatch.js';
import { untilAnswered } from '../until-answered.js';
import type { PgBossDatabase } from './pg-boss-queue.js';
import { pgBossStatements } from './statements.js';

/** The part of the worker's `PgBoss` that is used. */
export interface PgBossWorkerClient {
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

/** One run of a job: another one has another count and another start. */
interface Run {
  id: string;
  retry_count: number;
  retry_limit: number;
  started_on: string;
  left_ms: number;
}

/** What a run has come to: `'lost'` where the job is not this worker's, or no longer. */
type Result = 'settled' | 'lost' | { putBack(): Promise<unknown> };

/** The limit of the first query, before it is known when the jobs expire. */
const PATIENCE_MS = 60_000;

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
  check(typeof boss?.getDb === 'function', 'boss must be a PgBoss: it has no method getDb()');
  checkPostgresName('schema', schema);
  const process = createProcessor(workerOptions);
  const log = createLog(options.logger);
  const sql = pgBossStatements(schema);

  /**
   * Runs a statement until the database answers. Rejects after the limit: pg-boss then runs the jobs of the batch again that
   * are not done. Resolves to no rows where the PgBoss was stopped.
   */
  async function query<Row>(limitMs: number, text: string, ...values: unknown[]): Promise<Row[]> {
    const call = () => boss.getDb().executeSql(text, values) as Promise<{ rows: unknown[] } | undefined>;
    const result = await untilAnswered(call, { log, limitMs });
    return (result?.rows ?? []) as Row[];
  }

  /** Runs a job, and settles it unless it has to be put back. */
  async function run({ name, data }: PgBossJob, found: Run, leftMs: number): Promise<Result> {
    const { id, retry_count, retry_limit, started_on } = found;
    const since = stopwatch();
    const statement = async (text: string, ...values: unknown[]) =>
      (await query(leftMs - since(), text, name, id, retry_count, started_on, ...values)).length > 0;
    if (!(await statement(sql.isOwn))) return 'lost';

    const controller = new AbortController();
    const timer = unrefTimeout(() => controller.abort(), leftMs);
    // pg-boss allows one start more than its retry limit. The last start runs no handler: see `init()` of the queue.
    const attempts = Math.max(1, countOf(retry_limit));
    const ended = await process(data, { attempt: countOf(retry_count) + 1, attempts, signal: controller.signal });
    clearTimeout(timer);

    if (ended.as === 'done') return (await statement(sql.complete)) ? 'settled' : 'lost';
    const output = JSON.stringify({ message: ended.reason });
    if (ended.as === 'dead') {
      if (!(await statement(sql.bury, output, ended.attempts))) return 'lost';
      process.deadLetter(data, ended);
      return 'settled';
    }
    return { putBack: () => (ended.as === 'failed' ? statement(sql.runAgain, output) : statement(sql.lookLater)) };
  }

  return async (jobs) => {
    const [first] = jobs;
    if (first === undefined) return;
    const ids = jobs.map(({ id }) => id);
    const runs = new Map((await query<Run>(PATIENCE_MS, sql.runs, first.name, ids)).map((one) => [one.id, one]));
    const since = stopwatch();
    const results: Result[] = [];
    for (const job of jobs) {
      const found = runs.get(job.id);
      results.push(found ? await run(job, found, Number(found.left_ms) - since()) : 'lost');
    }
    // Not before, because pg-boss completes all jobs of a batch that run when this function has returned.
    for (const result of results) if (typeof result === 'object') await result.putBack();
    // pg-boss would complete the run of another worker, and the job would be lost if that one dies. After an error, pg-boss
    // runs it again.
    if (results.includes('lost')) throw new Error('Another worker has a job of this batch.');
  };
}
