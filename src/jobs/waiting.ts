import { WebhookError } from '../errors.js';
import { parseEvent, type WebhookEvent } from '../event.js';
import { orAborted, sleep, stopwatch, withTimeLimit } from '../timers.js';
import type { JobBook, JobName } from './job-book.js';
import { endingOf } from './job-record.js';
import { createSubscription } from './subscription.js';

/** Where the store notifies, it is asked as rarely as this, in case a notification was lost. */
const POLLS_PER_CHECK = 5;
/** How long the store may fail while a program waits. */
const MAX_OUTAGE_MS = 60_000;

/** How long a program waits for a job. */
export interface WaitLimit {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** The programs that wait for jobs. */
export interface Waiting {
  /** Wakes those who wait for a job in this process. */
  wake(key: string): void;
  /** Resolves to the event that has ended the job. */
  ended(name: JobName, limit: WaitLimit): Promise<WebhookEvent>;
}

/** Waits by the notifications of the store, where it has any, and by asking it regularly: the answer is always its own. */
export function createWaiting(book: JobBook, pollMs: number): Waiting {
  const waiters = new Map<string, Set<() => void>>();
  const subscription = createSubscription(book.records, wake);

  function wake(key: string): void {
    for (const call of waiters.get(key) ?? []) call();
  }

  function register(key: string, call: () => void): () => void {
    const own = waiters.get(key) ?? new Set();
    waiters.set(key, own.add(call));
    return () => {
      own.delete(call);
      if (own.size === 0) waiters.delete(key);
    };
  }

  /** Waits until the store has the end of a job. `failed` gets the error of each call of the store that fails. */
  async function waitFor(key: string, signal: AbortSignal, failed: (error: unknown) => void): Promise<WebhookEvent> {
    let changed = later();
    const unregister = register(key, () => changed.resolve());
    let outage: (() => number) | undefined;
    let leave: (() => void) | undefined;
    let notifies = false;
    try {
      for (;;) {
        changed = later();
        try {
          const ending = endingOf((await book.read(key)).job);
          if (ending !== undefined) return parseEvent(ending.body);
          outage = undefined;
          failed(undefined);
        } catch (error) {
          outage ??= stopwatch();
          failed(error);
          if (outage() > MAX_OUTAGE_MS) throw error;
        }
        signal.throwIfAborted();
        leave ??= subscription.join((works) => {
          notifies = works;
          changed.resolve(); // what happened before the subscription is only in the store
        });
        await firstOf(changed.promise, notifies ? pollMs * POLLS_PER_CHECK : pollMs, signal);
      }
    } finally {
      leave?.();
      unregister();
    }
  }

  return {
    wake,
    async ended(name, { signal, timeoutMs }) {
      signal?.throwIfAborted();
      const key = await book.keyOf(name);
      let cause: unknown;
      const run = (limit: AbortSignal) =>
        waitFor(key, limit, (error) => {
          cause = error;
        });
      if (timeoutMs === undefined) {
        const limit = signal ?? new AbortController().signal;
        return orAborted(run(limit), limit);
      }
      const timedOut = () => notEnded(name.jobId, timeoutMs, cause);
      return withTimeLimit({ ms: timeoutMs, timedOut, signal }, run);
    },
  };
}

function notEnded(jobId: string, ms: number, cause: unknown): WebhookError {
  const job = `the job ${JSON.stringify(jobId.slice(0, 120))}`;
  if (cause === undefined) {
    return new WebhookError('job_timeout', { message: `No event has ended ${job} within ${ms} ms.` });
  }
  const message = `The store does not say whether ${job} has ended, and failed last within ${ms} ms.`;
  return new WebhookError('job_timeout', { message, hint: 'Fix error.cause, and wait again.', cause });
}

/** Waits for a promise, at most for a time. Rejects with the reason of the signal. */
async function firstOf(promise: Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
  const timer = new AbortController();
  const pause = sleep(ms, timer.signal).catch(() => {});
  try {
    await orAborted(Promise.race([promise, pause]), signal);
  } finally {
    timer.abort();
  }
}

function later() {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
