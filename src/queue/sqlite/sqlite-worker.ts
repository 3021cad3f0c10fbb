import { inBatches } from '../../stores/in-batches.js';
import type { Database } from '../../stores/sqlite/database.js';
import { sleep } from '../../timers.js';
import { type Backoff, backoffAfter, UNREADABLE_DELAY_MS } from '../backoff.js';
import type { DeadRetention } from '../dead-retention.js';
import type { Ended, WorkerOptions } from '../processor.js';
import { countOf, parsedJob } from '../stored-values.js';
import { workerShell } from '../worker-shell.js';
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
  settings: Backoff & { attempts: number; leaseMs: number; retainMs: number; pollMs: number };
  time(): number | null;
  init(): Promise<void>;
  discardOld: DeadRetention['discardOld'];
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

interface Due {
  now: number;
  due_ms: number | null;
}

const PURGE_INTERVAL_MS = 60_000;
const PURGE_ROWS = 10_000;
const ERROR_PAUSE_MS = 1_000;
const NOT_TAKEN = 'The worker could not take a job from the database, and tries again';
const NOT_RENEWED = 'The lease of a running job could not be renewed, and the worker tries again';
const NOT_SETTLED = 'The result of a job could not be recorded, so that the job runs again when its lease is over';

/** @throws WebhookError `invalid_option` */
export function startWorker(options: SqliteWorkerOptions, queue: WorkerOf): SqliteWorker {
  /** Its abort ends the pause that has begun, or else the next one. */
  let waking = new AbortController();
  const wake = () => waking.abort();
  const shell = workerShell<Row>(options);
  const { concurrency, process, running, report } = shell;
  const { db, sql, name, settings, time, init, listeners, discardOld } = queue;
  const { attempts, leaseMs, retainMs, pollMs } = settings;
  /** The time of the database when it was last read. The first time counts as one that went back, as it may be. */
  let readAt = Number.POSITIVE_INFINITY;
  listeners.add(wake);

  shell.every(leaseMs / 3, () => {
    for (const row of running.own()) {
      safely('renew', NOT_RENEWED, () => db.change(sql.extend, leaseMs, time(), row.id, row.owner)).then((changed) => {
        if (changed === 0) running.abort([row]);
      });
    }
  });
  shell.every(PURGE_INTERVAL_MS, () => {
    const notRemoved = 'Old jobs could not be removed';
    discardOld(report);
    db.purgeInBatches(sql.purge, time, PURGE_ROWS).catch((error) => report('purge', notRemoved, error));
    void safely('unblock', 'Jobs that wait for an earlier one could not be checked', () =>
      db.change(sql.unblockAll, time(), name),
    );
  });

  /** Resolves to undefined where the database failed. */
  async function safely<T>(operation: string, what: string, call: () => Promise<T>): Promise<T | undefined> {
    try {
      return await call();
    } catch (error) {
      report(operation, what, error);
      return undefined;
    }
  }

  /** Ends a job, and lets the next one of its order run. Resolves to whether it was still this worker's. */
  async function end(row: Row, call: () => number): Promise<boolean> {
    const settleAndUnblock = () => {
      const rows = call();
      if (rows > 0) db.run(sql.unblock, time(), row.id);
      return rows;
    };
    const changed = await safely('settle', NOT_SETTLED, () => db.write(settleAndUnblock));
    return changed === 1;
  }

  async function settle(row: Row, job: unknown, ended: Ended): Promise<void> {
    const { id, owner, attempt } = row;
    if (ended.as === 'done') {
      await end(row, () => db.run(sql.complete, retainMs, time(), id, owner));
      return;
    }
    const { reason, stack = null } = ended;
    if (ended.as === 'dead') {
      const isDead = await end(row, () => db.run(sql.bury, ended.attempts, reason, stack, time(), id, owner));
      if (isDead) process.deadLetter(job, ended);
      return;
    }
    const [returnedAttempts, delay] =
      ended.as === 'unreadable' ? [1, UNREADABLE_DELAY_MS] : [0, backoffAfter(attempt, settings)];
    await safely('settle', NOT_SETTLED, () =>
      db.change(sql.wait, returnedAttempts, delay, reason, stack, time(), id, owner),
    );
  }

  async function run(row: Row, signal: AbortSignal): Promise<void> {
    const { attempt, fence } = row;
    const job = parsedJob(row.job);
    const isOwn = async () => (await db.change(sql.extend, leaseMs, time(), row.id, row.owner)) === 1;
    const ended = await process(job, { attempt, attempts, fence, signal, isOwn });
    if (running.isOwn(row)) await settle(row, job, ended);
  }

  /**
   * Resolves to the milliseconds until a job is due, 0 if one is due now. It only reads, so that an idle worker blocks no
   * other. A clock that went back is noticed here.
   */
  async function dueMs(): Promise<number> {
    const { now, due_ms } = db.get<Due>(sql.due, name, time()) as Due;
    if (Number(now) < readAt) await inBatches(Number.MAX_SAFE_INTEGER, catchUp);
    readAt = Number(now);
    return due_ms === null ? pollMs : Math.min(pollMs, Math.max(0, Number(due_ms)));
  }

  function catchUp(limit: number): Promise<number> {
    return db.change(sql.catchUp, name, leaseMs, time(), limit);
  }

  /** Resolves to false where another worker has claimed the job that was due. */
  async function claimOne(): Promise<boolean> {
    const owner = crypto.randomUUID();
    const claimed = await db.write(() => db.get<Row>(sql.claim, owner, leaseMs, time(), name));
    if (claimed === undefined) return false;
    const { id, job, attempt, fence } = claimed; // as bigint, where the handle is set to it
    const row = { id: Number(id), owner, job, attempt: Math.max(1, countOf(attempt)), fence: countOf(fence) };
    void running.run(row, (signal) => run(row, signal)).then(wake);
    // Handlers that never wait would leave no turn to the timers, the renewal of leases and the requests of the process.
    await new Promise<void>((resolve) => setImmediate(resolve));
    return true;
  }

  async function pause(ms: number): Promise<void> {
    await sleep(ms, waking.signal).catch(() => {}); // woken
    waking = new AbortController();
  }

  async function takeOne(): Promise<void> {
    await init();
    const ms = running.size >= concurrency ? pollMs : await dueMs();
    if (ms > 0) await pause(ms);
    else if (!(await claimOne())) await pause(pollMs);
  }

  async function loop(): Promise<void> {
    const failed = { operation: 'take', problem: NOT_TAKEN, pause: () => pause(ERROR_PAUSE_MS) };
    while (!shell.stopping) await shell.untilDone(takeOne, failed);
  }

  const looping = loop();

  return shell.worker(async (timeoutMs) => {
    wake();
    listeners.delete(wake);
    await looping;
    for (const { id, owner } of await running.drain(timeoutMs)) {
      await safely('settle', NOT_SETTLED, () =>
        db.change(sql.wait, 0, 0, 'The worker stopped.', null, time(), id, owner),
      );
    }
  });
}
