import type { Database } from '../../stores/sqlite/database.js';
import { type Backoff, backoffAfter } from '../backoff.js';
import { reasonOf } from '../dead-letters.js';
import { parsedJob } from '../parsed-job.js';
import type { Ended, WorkerOptions } from '../processor.js';
import { STOP_TIMEOUT_MS } from '../running-jobs.js';
import { workerParts } from '../worker-parts.js';
import type { queueStatements } from './statements.js';

/** Options of `queue.work()`. */
export interface SqliteWorkerOptions extends WorkerOptions {
  /** The number of handlers that run at the same time. Default: 1. */
  concurrency?: number | undefined;
}

/** A worker in this process. */
export interface SqliteWorker {
  /**
   * Accepts no more jobs, and resolves when the running handlers have ended. After `timeoutMs` (default 10 000) it
   * aborts their signals and puts their jobs back into the queue.
   */
  stop(options?: { timeoutMs?: number | undefined }): Promise<void>;
}

/** The part of a queue that its worker uses. */
export interface WorkerOf {
  db: Database;
  sql: ReturnType<typeof queueStatements>;
  name: string;
  inOrder: boolean;
  settings: Backoff & { attempts: number; leaseMs: number; retainMs: number; pollMs: number };
  time(): number | null;
  init(): Promise<void>;
  /** Called when a job was put in this process. */
  listeners: Set<() => void>;
}

interface Row {
  id: number;
  /** The id of this claim: after the lease has expired, the same worker may claim the job again. */
  owner: string;
  job: string;
  attempt: number;
  fence: number;
}

interface Running {
  row: Row;
  controller: AbortController;
  ended: Promise<void>;
}

const PURGE_INTERVAL_MS = 60_000;
const PURGE_ROWS = 10_000;
/** How long a job of another version waits before a worker reads it again. */
const UNREADABLE_DELAY_MS = 60_000;
const ERROR_PAUSE_MS = 1_000;

/** @throws WebhookError `invalid_option` */
export function startWorker(options: SqliteWorkerOptions, queue: WorkerOf): SqliteWorker {
  const { concurrency, process, log } = workerParts(options);
  const { db, sql, name, inOrder, settings, time, init, listeners } = queue;
  const { attempts, leaseMs, retainMs, pollMs } = settings;
  const claimStatement = sql.claim(inOrder);
  /** The running jobs by owner. */
  const running = new Map<string, Running>();
  let stopping = false;
  /** Whether something happened since the last pause began. */
  let woken = false;
  let endPause = () => {};
  const wake = () => {
    woken = true;
    endPause();
  };
  listeners.add(wake);

  const heartbeat = setInterval(() => {
    for (const { row, controller } of running.values()) {
      safely('extend', () => db.run(sql.extend, leaseMs, time(), row.id, row.owner)).then((changed) => {
        if (changed === 0) controller.abort();
      });
    }
  }, leaseMs / 3);
  heartbeat.unref?.();
  const purging = setInterval(() => {
    db.purgeInBatches(sql.purge, time, PURGE_ROWS).catch((error) => report('purge', error));
  }, PURGE_INTERVAL_MS);
  purging.unref?.();

  function report(operation: string, error: unknown): void {
    log.warn(
      `queue_error:${operation}`,
      `The queue failed at ${operation}, and the worker tries again: ${reasonOf(error)}`,
    );
  }

  /** Resolves to undefined where the database failed: the lease of the job then expires, and the job is run again. */
  async function safely<T>(operation: string, call: () => T): Promise<T | undefined> {
    try {
      return await db.write(call);
    } catch (error) {
      report(operation, error);
      return undefined;
    }
  }

  function bury({ id, owner }: Row, back: number, reason: string): Promise<unknown> {
    return safely('bury', () => db.run(sql.bury, back, reason, time(), id, owner));
  }

  async function settle(row: Row, ended: Ended): Promise<void> {
    const { id, owner, attempt } = row;
    if (ended.as === 'done') {
      await safely('complete', () => db.run(sql.complete, retainMs, time(), id, owner));
      return;
    }
    const reason = reasonOf(ended.error);
    if (ended.as === 'dead' || (ended.as === 'failed' && attempt >= attempts)) {
      await bury(row, 0, reason);
      return;
    }
    const [back, delay] = ended.as === 'unreadable' ? [1, UNREADABLE_DELAY_MS] : [0, backoffAfter(attempt, settings)];
    await safely('wait', () => db.run(sql.wait, back, delay, reason, time(), id, owner));
  }

  async function run(row: Row, { signal }: AbortController): Promise<void> {
    const { attempt, fence } = row;
    if (attempt > attempts) {
      await bury(row, 1, 'The worker died during the last attempt.');
      return;
    }
    const ended = await process(parsedJob(row.job), { attempt, fence, signal });
    if (running.has(row.owner)) await settle(row, ended);
  }

  function start(row: Row): void {
    const controller = new AbortController();
    const ended = run(row, controller).finally(() => {
      running.delete(row.owner);
      wake();
    });
    running.set(row.owner, { row, controller, ended });
  }

  /**
   * Returns the milliseconds until a job is due, 0 if one is due now. It only reads, so that an idle worker blocks no
   * other.
   */
  function dueMs(): number {
    const { due_ms } = db.get<{ due_ms: number | null }>(sql.due, time(), name) ?? { due_ms: null };
    return due_ms === null ? pollMs : Math.min(pollMs, Math.max(0, Number(due_ms)));
  }

  /** Resolves to false where no job could be claimed, although one may be due: in order, another one runs first. */
  async function claimOne(): Promise<boolean> {
    const owner = crypto.randomUUID();
    const claimed = await db.write(() => db.get<Row>(claimStatement, owner, leaseMs, time(), name));
    if (claimed === undefined) return false;
    const { id, job, attempt, fence } = claimed; // as bigint, where the handle is set to it
    start({ id: Number(id), owner, job, attempt: Number(attempt), fence: Number(fence) });
    return true;
  }

  async function pause(ms: number): Promise<void> {
    if (!woken) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        endPause = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    woken = false;
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      try {
        await init();
        if (running.size >= concurrency) await pause(pollMs);
        else {
          const ms = dueMs();
          if (ms > 0) await pause(ms);
          else if (!(await claimOne())) await pause(pollMs);
        }
      } catch (error) {
        report('claim', error);
        await pause(ERROR_PAUSE_MS);
      }
    }
  }

  const looping = loop();
  let stopped: Promise<void> | undefined;

  async function stop(timeoutMs: number): Promise<void> {
    stopping = true;
    wake();
    listeners.delete(wake);
    await looping;
    const ended = Promise.all([...running.values()].map((one) => one.ended)).then(() => {});
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, timeoutMs);
    });
    await Promise.race([ended, timeout]);
    clearTimeout(timer);
    for (const { row, controller } of [...running.values()]) {
      running.delete(row.owner);
      controller.abort();
      await safely('give back', () => db.run(sql.wait, 0, 0, 'The worker stopped.', time(), row.id, row.owner));
    }
    clearInterval(heartbeat);
    clearInterval(purging);
  }

  return {
    stop({ timeoutMs = STOP_TIMEOUT_MS } = {}) {
      stopped ??= stop(timeoutMs);
      return stopped;
    },
  };
}
