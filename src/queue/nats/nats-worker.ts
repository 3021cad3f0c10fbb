import { fromQueued } from '../../receiver/queued-delivery.js';
import { unrefTimeout, withTimeout } from '../../timers.js';
import { type Backoff, backoffAfter } from '../backoff.js';
import { countOf } from '../engine-values.js';
import { parsedJob } from '../parsed-job.js';
import type { Ended, WorkerOptions } from '../processor.js';
import { reasonOf } from '../reason.js';
import { STOP_TIMEOUT_MS } from '../running-jobs.js';
import { stopwatch } from '../stopwatch.js';
import { workerParts } from '../worker-parts.js';
import { CONSUMERS, type DeliveryStream } from './delivery-stream.js';
import { heldMessages } from './held-messages.js';
import type { NatsConsumer, NatsJetStream, NatsMessage, NatsPull } from './jetstream.js';

/** Options of `queue.work()`. */
export interface NatsWorkerOptions extends WorkerOptions {
  /** How many handlers run at the same time. Default: 1. */
  concurrency?: number | undefined;
}

/** A worker in this process. */
export interface NatsWorker {
  /**
   * Takes no more jobs, and resolves when the running handlers have ended. After `timeoutMs` (default 10 000) it aborts
   * their signals and gives their jobs back. Close the connection after it.
   */
  stop(options?: { timeoutMs?: number | undefined }): Promise<void>;
}

/** What a worker needs of its queue. */
export interface NatsWorkerOf {
  jetstream: NatsJetStream;
  target: DeliveryStream;
  settings: Backoff & { attempts: number; ackWaitMs: number };
}

const PULL_EXPIRES_MS = 30_000;
/** How long a job of another version waits before a worker looks at it again. */
const UNREADABLE_DELAY_MS = 60_000;
const PURGE_INTERVAL_MS = 600_000;
const ERROR_PAUSE_MS = 500;
const LIMIT_MS = 5_000;

/** @throws WebhookError `invalid_option` */
export function startNatsWorker(options: NatsWorkerOptions, queue: NatsWorkerOf): NatsWorker {
  const { concurrency, process, log } = workerParts(options);
  const { jetstream, target, settings } = queue;
  const { stream, jobs, unreadable, dead, starts } = target;
  const { attempts, ackWaitMs } = settings;
  const renewMs = ackWaitMs / 3;
  const held = heldMessages(ackWaitMs);
  const pulls = new Set<NatsPull>();
  let stopping = false;
  const pauses = countPauses(2 * renewMs);

  function report(operation: string, what: string, error: unknown): void {
    log.warn(`queue_error:${operation}`, `${what}: ${reasonOf(error)}`);
  }

  async function settle(message: NatsMessage, job: unknown, attempt: number, ended: Ended): Promise<void> {
    if (ended.as === 'done') {
      await message.ackAck();
    } else if (ended.as === 'unreadable') {
      await target.publish(unreadable, message.string(), `unreadable ${message.seq}`);
      await message.ackAck();
    } else if (ended.as === 'dead') {
      const { attempts: made, reason } = ended;
      const letter = JSON.stringify({ job, attempts: made, reason });
      await whileOwn(message, () => target.publish(dead, letter, `dead ${message.seq}`));
      await message.ackAck();
      process.deadLetter(job, ended);
    } else {
      message.nak(backoffAfter(attempt, settings));
    }
  }

  /**
   * Resolves to the number of an attempt. JetStream counts deliveries, and some reach no handler: while a worker stops or is
   * paused, or its connection is lost. So the last attempt is recorded at its start, under an id that the stream takes once.
   */
  async function attemptOf(message: NatsMessage): Promise<number> {
    const { info, seq } = message;
    const delivered = Math.max(1, countOf(info.deliveryCount));
    if (delivered < attempts) return delivered;
    const delivery = String(info.deliverySequence);
    const start = await whileOwn(message, () => target.publish(starts, delivery, `start ${seq}`));
    const isOfThisDelivery = start.isNew || (await target.message(start.seq))?.string() === delivery;
    return isOfThisDelivery ? attempts : attempts + 1;
  }

  /** Repeats a call until it has an answer, while the message is this worker's. */
  async function whileOwn<T>(message: NatsMessage, call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (!held.isOwn(message)) throw error;
        await pause(ERROR_PAUSE_MS);
      }
    }
  }

  /** Whether a message is this worker's, over a connection that works: what is written to a silent one arrives later. */
  async function isStillOwn(message: NatsMessage): Promise<boolean> {
    await whileOwn(message, () => withTimeout(renewMs, () => target.consumers()));
    return held.isOwn(message);
  }

  async function runJob(message: NatsMessage, signal: AbortSignal): Promise<void> {
    const job = parsedJob(message.string());
    const attempt = await attemptOf(message);
    if (!held.isOwn(message)) return;
    const ended = await process(job, { attempt, attempts, fence: countOf(message.info.deliverySequence), signal });
    // A success whose acknowledgement is lost runs again, but not after the last attempt.
    const mayRunAgain = ended.as === 'done' && attempt < attempts;
    if (mayRunAgain ? held.isOwn(message) : await isStillOwn(message)) await settle(message, job, attempt, ended);
  }

  /** Puts a job back among the others once this version can read it. */
  async function lookAgain(message: NatsMessage): Promise<void> {
    const text = message.string();
    if (isReadable(text)) {
      await target.publish(jobs, text, `readable ${message.seq}`);
      await message.ackAck();
      await target.remove(message.seq);
    } else {
      message.nak(UNREADABLE_DELAY_MS);
    }
  }

  async function handle(message: NatsMessage, call: typeof runJob): Promise<void> {
    try {
      await call(message, held.add(message));
    } catch (error) {
      report('settle', 'The result of a job could not be recorded, so that it runs again', error);
    } finally {
      held.remove(message);
    }
  }

  /**
   * Resolves to one message, since messages that wait in this process would run out of their time. After a pause of the
   * process, JetStream may already have given the message to another worker: it is left to JetStream, which delivers it again.
   */
  async function pullOne(consumer: NatsConsumer): Promise<NatsMessage | undefined> {
    const before = pauses.count();
    const pull = await consumer.fetch({ max_messages: 1, expires: PULL_EXPIRES_MS });
    pulls.add(pull);
    try {
      if (stopping) pull.stop();
      for await (const message of pull) return pauses.count() === before ? message : undefined;
      return undefined;
    } finally {
      pulls.delete(pull);
    }
  }

  async function loop(name: string, call: typeof runJob): Promise<void> {
    let consumer: NatsConsumer | undefined;
    while (!stopping) {
      try {
        consumer ??= await jetstream.consumers.get(stream, name);
        const message = await pullOne(consumer);
        if (message) await handle(message, call);
      } catch (error) {
        if (stopping) return;
        report('take', 'The worker could not take a job from NATS, and tries again', error);
        consumer = undefined;
        await pause(ERROR_PAUSE_MS);
      }
    }
  }

  async function declare(): Promise<void> {
    while (!stopping) {
      try {
        await target.declare();
        return;
      } catch (error) {
        report('open', 'The worker could not open its stream, and tries again', error);
        await pause(ERROR_PAUSE_MS);
      }
    }
  }

  async function renew(): Promise<void> {
    const count = await held.renew(() => withTimeout(renewMs, () => target.consumers()));
    if (count === 0) return;
    const jobs = count === 1 ? '1 running job' : `${count} running jobs`;
    const problem = `NATS gave ${jobs} to another worker, because no renewal arrived within ackWaitMs.`;
    log.warn('queue_error:renew', `${problem} Look for a lost connection, or for code that blocks the event loop.`);
  }

  const renewing = setInterval(() => {
    pauses.count();
    if (held.size > 0) void renew();
  }, renewMs);
  renewing.unref?.();
  const purge = () =>
    target.purge(Date.now()).catch((error) => report('purge', 'Old jobs could not be removed', error));
  const purging = setInterval(purge, PURGE_INTERVAL_MS);
  purging.unref?.();

  const working = declare().then(async () => {
    const loops = Array.from({ length: concurrency }, () => loop(CONSUMERS.jobs, runJob));
    await Promise.all([...loops, loop(CONSUMERS.unreadable, lookAgain)]);
  });

  async function stop(timeoutMs: number): Promise<void> {
    stopping = true;
    for (const pull of pulls) pull.stop();
    await Promise.race([working, new Promise<void>((resolve) => unrefTimeout(resolve, timeoutMs))]);
    held.giveBack();
    clearInterval(renewing);
    clearInterval(purging);
    await withTimeout(LIMIT_MS, () => target.consumers()).catch(() => {}); // NATS has what was written before it
  }

  let stopped: Promise<void> | undefined;
  return {
    stop({ timeoutMs = STOP_TIMEOUT_MS } = {}) {
      stopped ??= stop(timeoutMs);
      return stopped;
    },
  };
}

/**
 * Counts the pauses of this process, as when its machine sleeps: the times of more than `limitMs` in which `count()` was not
 * called.
 */
function countPauses(limitMs: number): { count(): number } {
  let pauses = 0;
  let sinceCounted = stopwatch();
  return {
    count() {
      if (sinceCounted() > limitMs) pauses += 1;
      sinceCounted = stopwatch();
      return pauses;
    },
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function isReadable(text: string): boolean {
  try {
    fromQueued(parsedJob(text));
    return true;
  } catch {
    return false;
  }
}
