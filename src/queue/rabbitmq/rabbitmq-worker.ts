import { sleep } from '../../timers.js';
import { type DeadRetention, DISCARD_INTERVAL_MS } from '../dead-retention.js';
import type { Ended, WorkerOptions } from '../processor.js';
import { countOf, parsedJob } from '../stored-values.js';
import { limited, workerShell } from '../worker-shell.js';
import type { AgeMarks } from './age-marks.js';
import { answerFollower, followerOf } from './followed-jobs.js';
import {
  type ConnectionKeeper,
  type Publish,
  publisherOn,
  type RabbitmqChannel,
  type RabbitmqHeaders,
  type RabbitmqMessage,
} from './rabbitmq-connection.js';
import type { Topology } from './topology.js';

/** Options of `queue.work()`. */
export interface RabbitmqWorkerOptions extends WorkerOptions {
  /** The number of handlers that run at the same time; the prefetch count of the consumer. Default: 1. */
  concurrency?: number | undefined;
}

/** A worker in this process. */
export interface RabbitmqWorker {
  /**
   * Accepts no more jobs, and resolves when the running handlers have ended. After `timeoutMs` (default 10 000) it
   * aborts their signals and returns their jobs to the queue.
   */
  stop(options?: { timeoutMs?: number | undefined }): Promise<void>;
}

/** The part of a queue that its worker uses. */
export interface RabbitmqWorkerOf {
  connection: ConnectionKeeper;
  topology: Topology;
  marks: AgeMarks;
  attempts: number;
  discardOld: DeadRetention['discardOld'];
}

const RECONNECT_PAUSE_MS = 500;
const MARKS_INTERVAL_MS = 1_000;
/** How long a job that RabbitMQ has sent may be on its way. */
const ON_ITS_WAY_MS = 100;

/** @throws WebhookError `invalid_option` */
export function startRabbitmqWorker(options: RabbitmqWorkerOptions, queue: RabbitmqWorkerOf): RabbitmqWorker {
  const shell = workerShell<RabbitmqMessage>(options);
  const { concurrency, process, running, report } = shell;
  const { connection, topology, marks, attempts, discardOld } = queue;
  let hasStopped = false;
  let consumer: { channel: RabbitmqChannel; tag: string } | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** The results that are being recorded. */
  const settling = new Set<Promise<void>>();
  /** What the acknowledgements wait for. */
  let acknowledging = Promise.resolve();
  /** The latest attempt to connect; it never rejects. */
  let started = Promise.resolve();

  /**
   * Puts a job that is not done into another queue, on the channel that has delivered it: where that is closed, RabbitMQ
   * gives the job to another worker, and a copy would be a second job. Resolves once RabbitMQ has confirmed the copy.
   */
  async function move(publish: Publish, message: RabbitmqMessage, ended: NotDone, attempt: number) {
    const { messageId } = message.properties;
    const to = (queue: string, properties: RabbitmqMessage['properties']) =>
      publish(queue, message.content.toString(), { ...properties, messageId });
    if (ended.as === 'dead') {
      const about = { 'x-dead-id': crypto.randomUUID(), 'x-died-at': Date.now(), 'x-reason': ended.reason };
      const stack = ended.stack !== undefined && { 'x-stack': ended.stack };
      return to(topology.dead, { headers: { ...about, ...stack, 'x-failures': ended.attempts } });
    }
    const { replyTo, headers } = followerOf(message);
    const again = (queue: string, more: RabbitmqHeaders) => to(queue, { replyTo, headers: { ...headers, ...more } });
    if (ended.as === 'unreadable') return again(topology.unreadable, { 'x-failures': attempt - 1 });
    const { retries } = topology;
    const delayed = retries[Math.min(attempt, retries.length) - 1] as string;
    return again(delayed, { 'x-failures': attempt, 'x-reason': ended.reason });
  }

  async function settle(
    { channel, publish }: Delivering,
    message: RabbitmqMessage,
    job: unknown,
    ended: Ended,
    attempt: number,
  ): Promise<void> {
    try {
      if (ended.as !== 'done') await move(publish, message, ended, attempt);
      channel.ack(message as never);
      // On the same channel, so that RabbitMQ has the result before the answer.
      if (ended.as === 'done' || ended.as === 'dead')
        answerFollower({ channel, main: topology.main }, message, ended.as);
      if (ended.as === 'dead') process.deadLetter(job, ended);
    } catch (error) {
      // Not acknowledged: the job runs again when the channel is closed.
      report('settle', 'The result of a job could not be recorded', error);
      await channel.close().catch(() => {}); // it may be closed already
    }
  }

  async function run(delivering: Delivering, message: RabbitmqMessage, signal: AbortSignal): Promise<void> {
    const { headers = {} } = message.properties;
    marks.taken(headers['x-put-at']);
    const attempt = countOf(headers['x-failures']) + countOf(headers['x-delivery-count']) + 1;
    const job = parsedJob(message.content.toString());
    const ended = await process(job, { attempt, attempts, signal });
    await acknowledging;
    if (signal.aborted) return; // the channel is closed, and RabbitMQ has the job
    const settled = settle(delivering, message, job, ended, attempt);
    settling.add(settled);
    await settled;
    settling.delete(settled);
  }

  async function consume(): Promise<void> {
    const channel = await connection.channel();
    const delivering: Delivering = { channel, publish: publisherOn(channel) };
    channel.on('close', () => {
      consumer = undefined;
      running.abort(running.own());
      reconnect();
    });
    await topology.declare(channel);
    await marks.declare().catch((error) => report('marks', 'The age of the jobs that wait is not known', error));
    await channel.prefetch(concurrency);
    const { consumerTag: tag } = await channel.consume(topology.main, (message) => {
      if (hasStopped) return; // it is returned to the queue when the channel is closed
      if (message) void running.run(message, (signal) => run(delivering, message, signal));
      else void channel.close().catch(() => {}); // the queue was deleted
    });
    consumer = { channel, tag };
    if (hasStopped) await channel.close().catch(() => {}); // it was too slow for `stop()`
  }

  function reconnect(): void {
    if (shell.stopping) return;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(start, RECONNECT_PAUSE_MS);
  }

  function start(): void {
    started = consume().catch((error) => {
      report('connect', 'The worker could not connect to RabbitMQ, and tries again', error);
      reconnect();
    });
  }

  start();
  shell.every(DISCARD_INTERVAL_MS, () => discardOld(report));
  shell.every(MARKS_INTERVAL_MS, () => {
    if (consumer) marks.removeTaken().catch(() => {}); // the next call removes them
  });

  /**
   * RabbitMQ sends a job for each one that is acknowledged. Where it has not sent that one when the consumer is cancelled, it
   * never does, and counts it as an attempt all the same. So nothing is acknowledged from here on until the consumer is
   * cancelled, and what is on its way arrives and is run.
   */
  async function cancel(one: { channel: RabbitmqChannel; tag: string }): Promise<void> {
    await sleep(ON_ITS_WAY_MS);
    await limited(() => one.channel.cancel(one.tag));
  }

  return shell.worker(async (timeoutMs) => {
    clearTimeout(retryTimer);
    acknowledging = (async () => {
      await limited(() => started);
      if (consumer) await cancel(consumer);
    })();
    await acknowledging;
    await running.drain(timeoutMs);
    hasStopped = true;
    await limited(() => Promise.all(settling));
    const open = consumer;
    if (open) await limited(() => marks.removeTaken(true));
    if (open) await limited(() => open.channel.close());
  });
}

/** A channel that delivers jobs, and what publishes on it. */
interface Delivering {
  channel: RabbitmqChannel;
  publish: Publish;
}

type NotDone = Exclude<Ended, { as: 'done' }>;
