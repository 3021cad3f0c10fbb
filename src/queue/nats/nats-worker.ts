import { sleep, stopwatch, withTimeout } from '../../timers.js';
import { type Backoff, backoffAfter, UNREADABLE_DELAY_MS } from '../backoff.js';
import { type DeadRetention, DISCARD_INTERVAL_MS } from '../dead-retention.js';
import type { Ended, WorkerOptions } from '../processor.js';
import { countOf, parsedJob } from '../stored-values.js';
import { limited, workerShell } from '../worker-shell.js';
import { CONSUMERS, type DeliveryStream } from './delivery-stream.js';
import { movedId, recordEnd } from './followed-jobs.js';
import { heldMessages } from './held-messages.js';
import type { NatsConsumer, NatsJetStream, NatsMessage, NatsPull } from './jetstream.js';
import { letterText } from './stored-letter.js';

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
  discardOld: DeadRetention['discardOld'];
}

const PULL_EXPIRES_MS = 30_000;
const PURGE_INTERVAL_MS = 600_000;
const ERROR_PAUSE_MS = 500;

/** @throws WebhookError `invalid_option` */
export function startNatsWorker(options: NatsWorkerOptions, queue: NatsWorkerOf): NatsWorker {
  const shell = workerShell<NatsMessage>(options);
  const { concurrency, process, log, running, report } = shell;
  const { jetstream, target, settings, discardOld } = queue;
  const { stream, jobs, unreadable, dead, starts } = target;
  const { attempts, ackWaitMs } = settings;
  const renewMs = ackWaitMs / 3;
  const held = heldMessages(running, ackWaitMs);
  const pulls = new Set<NatsPull>();
  const pauses = countPauses(2 * renewMs);

  async function settle(message: NatsMessage, job: unknown, attempt: number, ended: Ended): Promise<void> {
    if (ended.as === 'done') {
      await message.ackAck();
      await recordEnd(target, message, 'done');
    } else if (ended.as === 'unreadable') {
      await target.publish(unreadable, message.string(), movedId('unreadable', message));
      await message.ackAck();
    } else if (ended.as === 'dead') {
      const letter = letterText(job, ended);
      await whileOwn(message, () => target.publish(dead, letter, `dead ${message.seq}`));
      await message.ackAck();
      process.deadLetter(job, ended);
      await recordEnd(target, message, 'dead');
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
        await sleep(ERROR_PAUSE_MS);
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
    const ended = await process(job, {
      attempt,
      attempts,
      ...{ fence: countOf(message.info.deliverySequence), signal, isOwn: () => isStillOwn(message) },
    });
    // A success whose acknowledgement is lost runs again, but not after the last attempt.
    const mayRunAgain = ended.as === 'done' && attempt < attempts;
    if (mayRunAgain ? held.isOwn(message) : await isStillOwn(message)) await settle(message, job, attempt, ended);
  }

  /** Puts a job back among the others once this version can read it. */
  async function lookAgain(message: NatsMessage): Promise<void> {
    const text = message.string();
    if (await process.canRead(parsedJob(text))) {
      await target.publish(jobs, text, movedId('readable', message));
      await message.ackAck();
      await target.remove(message.seq);
    } else {
      message.nak(UNREADABLE_DELAY_MS);
    }
  }

  function handle(message: NatsMessage, call: typeof runJob): Promise<void> {
    held.add(message);
    return running.run(message, (signal) =>
      call(message, signal).catch((error) =>
        report('settle', 'The result of a job could not be recorded, so that it runs again', error),
      ),
    );
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
      if (shell.stopping) pull.stop();
      for await (const message of pull) return pauses.count() === before ? message : undefined;
      return undefined;
    } finally {
      pulls.delete(pull);
    }
  }

  async function loop(name: string, call: typeof runJob): Promise<void> {
    let consumer: NatsConsumer | undefined;
    const takeOne = async () => {
      consumer ??= await jetstream.consumers.get(stream, name);
      const message = await pullOne(consumer);
      if (message) await handle(message, call);
    };
    const pause = () => {
      consumer = undefined;
      return sleep(ERROR_PAUSE_MS);
    };
    const problem = 'The worker could not take a job from NATS, and tries again';
    while (!shell.stopping) await shell.untilDone(takeOne, { operation: 'take', problem, pause });
  }

  async function renew(): Promise<void> {
    const count = await held.renew(() => withTimeout(renewMs, () => target.consumers()));
    if (count === 0) return;
    const jobs = count === 1 ? '1 running job' : `${count} running jobs`;
    const problem = `NATS gave ${jobs} to another worker, because no renewal arrived within ackWaitMs.`;
    log.warn('queue_error:renew', `${problem} Look for a lost connection, or for code that blocks the event loop.`);
  }

  shell.every(renewMs, () => {
    pauses.count();
    if (running.own().length > 0) void renew();
  });
  shell.every(DISCARD_INTERVAL_MS, () => discardOld(report));
  shell.every(PURGE_INTERVAL_MS, () => {
    target.purge(Date.now()).catch((error) => report('purge', 'Old jobs could not be removed', error));
  });

  async function work(): Promise<void> {
    const problem = 'The worker could not open its stream, and tries again';
    await shell.untilDone(target.declare, { operation: 'open', problem, pause: () => sleep(ERROR_PAUSE_MS) });
    const loops = Array.from({ length: concurrency }, () => loop(CONSUMERS.jobs, runJob));
    await Promise.all([...loops, loop(CONSUMERS.unreadable, lookAgain)]);
  }

  const working = work();

  return shell.worker(async (timeoutMs) => {
    for (const pull of pulls) pull.stop();
    for (const message of await running.drain(timeoutMs, working)) if (held.isInTime(message)) message.nak();
    await limited(() => target.consumers()); // NATS has what was written before it
  });
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
