import { WebhookError } from '../errors.js';
import { parseEvent, type WebhookEvent } from '../event.js';
import { orAborted, sleep, stopwatch, withTimeLimit } from '../timers.js';
import type { JobBook, JobName } from './job-book.js';
import { endingOf } from './job-record.js';

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
  /** The subscription that all who wait share. */
  let watch: Promise<(() => void) | undefined> | undefined;

  function wake(key: string): void {
    for (const call of waiters.get(key) ?? []) call();
  }

  /** Subscribes for the first who waits. Without notifications, `undefined`: asking is enough. */
  function subscribe(): Promise<(() => void) | undefined> {
    watch ??= (async () => book.records.watch?.(wake))().catch(() => undefined);
    return watch;
  }

  function register(key: string, call: () => void): () => void {
    const own = waiters.get(key) ?? new Set();
    waiters.set(key, own.add(call));
    return () => {
      own.delete(call);
      if (own.size === 0) waiters.delete(key);
      if (waiters.size > 0) return;
      watch?.then((end) => end?.());
      watch = undefined;
    };
  }

  async function waitFor(key: string, signal: AbortSignal): Promise<WebhookEvent> {
    let changed = later();
    const unregister = register(key, () => changed.resolve());
    let outage: (() => number) | undefined;
    let notifies = false;
    subscribe().then((end) => {
      notifies = end !== undefined;
      changed.resolve(); // what happened before the subscription is only in the store
    });
    try {
      for (;;) {
        changed = later();
        try {
          const ending = endingOf((await book.read(key)).job);
          if (ending !== undefined) return parseEvent(ending.body);
          outage = undefined;
        } catch (error) {
          outage ??= stopwatch();
          if (outage() > MAX_OUTAGE_MS) throw error;
        }
        signal.throwIfAborted();
        await firstOf(changed.promise, notifies ? pollMs * POLLS_PER_CHECK : pollMs, signal);
      }
    } finally {
      unregister();
    }
  }

  return {
    wake,
    async ended(name, { signal, timeoutMs }) {
      signal?.throwIfAborted();
      const key = await book.keyOf(name);
      if (timeoutMs === undefined) {
        const { signal: never } = new AbortController();
        return waitFor(key, signal ?? never);
      }
      const timedOut = () => new WebhookError('job_timeout', { message: notEnded(name.jobId, timeoutMs) });
      return withTimeLimit({ ms: timeoutMs, timedOut, signal }, (both) => waitFor(key, both));
    },
  };
}

function notEnded(jobId: string, ms: number): string {
  return `No event has ended the job ${JSON.stringify(jobId.slice(0, 120))} within ${ms} ms.`;
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
