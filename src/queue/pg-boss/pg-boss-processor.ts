import { checkObject } from '../../option-checks.js';
import { createLog } from '../../receiver/log.js';
import { stopwatch, unrefTimeout, withTimeout } from '../../timers.js';
import { checkClient } from '../engine-queue.js';
import { checkPostgresName, isMissingTable, untilAnswered } from '../postgres.js';
import { createProcessor, type WorkerOptions } from '../processor.js';
import { reportError } from '../reason.js';
import { countOf } from '../stored-values.js';
import { checkSchema, notInSchema } from './boss-schema.js';
import { type PgBossDatabase, RETRY_RESERVE } from './pg-boss-queue.js';
import { pgBossStatements } from './statements.js';

/** The part of the worker's `PgBoss` that is used. */
export interface PgBossWorkerClient {
  getDb(): PgBossDatabase;
}

/** Options of {@link pgBossProcessor}. */
export interface PgBossProcessorOptions extends WorkerOptions {
  /** The `PgBoss` that the worker belongs to. */
  boss: PgBossWorkerClient;
  /** The schema of pg-boss, as `new PgBoss({ schema })` has it. Default: `'pgboss'`. */
  schema?: string | undefined;
}

/** The fields that the processor reads from a job. */
export interface PgBossJob {
  id: string;
  name: string;
  data: unknown;
}

/** A job that this worker has, from the database. */
interface Taken {
  id: string;
  retry_limit: number;
  lease_ms: number;
}

/** What one job of a batch is run with. */
interface Run {
  job: PgBossJob;
  attempts: number;
  statement<Row>(text: string, ...values: unknown[]): Promise<Row[]>;
  signal: AbortSignal;
}

/** The limit of a query outside of the lease. */
const PATIENCE_MS = 60_000;
/**
 * How long before pg-boss itself this worker ends a batch: pg-boss would also fail the jobs that another worker has taken.
 */
const MARGIN_MS = 100;
/** When pg-boss has completed the jobs of a batch that has ended. */
const REVIVE_AFTER_MS = 1_000;

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
  checkClient('boss must be a PgBoss', boss, ['getDb']);
  checkPostgresName('schema', schema);
  checkSchema('pgBossProcessor', boss, schema);
  const process = createProcessor(workerOptions);
  const log = createLog(options.logger);
  const sql = pgBossStatements(schema);

  /** Runs a statement until the database answers. Rejects after the limit, and where the PgBoss was stopped. */
  async function query<Row>(limitMs: number, text: string, ...values: unknown[]): Promise<Row[]> {
    const call = () => boss.getDb().executeSql(text, values) as Promise<{ rows: unknown[] } | undefined>;
    const result = await untilAnswered(call, { log, limitMs });
    if (result === undefined) throw new Error('The PgBoss was stopped.');
    return result.rows as Row[];
  }

  /** Takes the jobs of a batch that no other worker has. Rejects where they are in another schema. */
  async function take(name: string, ids: readonly string[], owner: string): Promise<Taken[]> {
    try {
      const taken = await query<Taken>(PATIENCE_MS, sql.take, name, ids, owner);
      if (taken.length > 0 || (await query(PATIENCE_MS, sql.stored, name, ids)).length > 0) return taken;
    } catch (error) {
      if (!isMissingTable(error)) throw error;
    }
    const error = notInSchema('pgBossProcessor', schema);
    reportError(log, 'take', 'The worker could not run its jobs, and pg-boss retries them', error);
    throw error;
  }

  /** Runs a job, and settles it. Resolves to whether this worker has ended it, so that it does not run again. */
  async function run({ job, attempts, statement, signal }: Run): Promise<boolean> {
    const [started] = await statement<{ starts: number }>(sql.start);
    if (started === undefined) return false; // another worker has it
    const { starts } = started;
    const ended = await process(job.data, {
      ...{ attempt: starts, attempts, signal },
      isOwn: async () => (await statement(sql.isOwn)).length > 0,
    });
    switch (ended.as) {
      case 'done':
        return (await statement(sql.complete, starts)).length > 0;
      case 'dead':
        if ((await statement(sql.bury, starts, ended.reason, ended.attempts, ended.stack ?? null)).length === 0)
          return false;
        process.deadLetter(job.data, ended);
        return true;
      case 'failed':
        await statement(sql.runAgain, starts, JSON.stringify({ message: ended.reason, stack: ended.stack }));
        return false;
      case 'unreadable':
        await statement(sql.lookLater, starts);
        return false;
    }
  }

  async function runSafely(one: Run): Promise<boolean> {
    try {
      return await run(one);
    } catch (error) {
      const problem = 'The result of a job could not be recorded, so that the job runs again when its lease is over';
      reportError(log, 'settle', problem, error);
      return false;
    }
  }

  return async (jobs) => {
    const since = stopwatch();
    const [first] = jobs;
    if (first === undefined) return;
    const { name } = first;
    const ids = jobs.map(({ id }) => id);
    const owner = crypto.randomUUID();
    const taken = await take(name, ids, owner);

    const leaseMs = Math.min(...taken.map(({ lease_ms }) => Number(lease_ms))) - MARGIN_MS;
    const leftMs = () => Math.max(0, leaseMs - since());
    const controller = new AbortController();
    const { signal } = controller;
    let ended = 0;
    const running = (async () => {
      for (const job of jobs) {
        const own = taken.find(({ id }) => id === job.id);
        if (own === undefined || signal.aborted) continue;
        const statement: Run['statement'] = (text, ...values) => query(leftMs(), text, name, job.id, owner, ...values);
        const attempts = attemptsOf(own.retry_limit);
        if (await runSafely({ job, attempts, statement, signal })) ended += 1;
      }
    })();
    await withTimeout(leftMs(), () => running).catch(() => controller.abort());
    if (ended === jobs.length) return;
    // pg-boss now completes each job of the batch that is active. Another worker has just fetched that one, and would notice,
    // but it may have died.
    unrefTimeout(() => query(PATIENCE_MS, sql.revive, name, ids).catch(() => {}), REVIVE_AFTER_MS);
  };
}

/** Returns the attempts of a job from its limit in pg-boss, which another program may have set. */
function attemptsOf(retryLimit: unknown): number {
  const limit = countOf(retryLimit);
  return Math.max(1, limit > RETRY_RESERVE ? limit - RETRY_RESERVE : limit);
}
