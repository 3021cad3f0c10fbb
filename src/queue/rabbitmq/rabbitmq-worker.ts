import { withTimeout } from '../../timers.js';
import { reasonOf } from '../dead-letters.js';
import { parsedJob } from '../parsed-job.js';
import type { Ended, WorkerOptions } from '../processor.js';
import { runningJobs, STOP_TIMEOUT_MS } from '../running-jobs.js';
import { workerParts } from '../worker-parts.js';
import type { ConnectionKeeper, RabbitmqChannel, RabbitmqMessage } from './rabbitmq-connection.js';
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
  attempts: number;
}

const RECONNECT_PAUSE_MS = 500;

/** @throws WebhookError `invalid_option` */
export function startRabbitmqWorker(options: RabbitmqWorkerOptions, queue: RabbitmqWorkerOf): RabbitmqWorker {
  const { concurrency, process, log } = workerParts(options);
  const { connection, topology, attempts } = queue;
  const running = runningJobs();
  let stopping = false;
  let consumer: { channel: RabbitmqChannel; tag: string } | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  /** The latest attempt to connect; it never rejects. */
  let started = Promise.resolve();

  /**
   * Moves a job to a queue after a run that was not its last. RabbitMQ confirms it there before it is acknowledged
   * here.
   */
  async function move({ content, properties }: RabbitmqMessage, to: string, headers: object): Promise<void> {
    const { messageId } = properties;
    await connection.publish(to, content.toString(), { messageId, headers: { ...headers } });
  }

  function bury(message: RabbitmqMessage, failures: number, reason: string): Promise<void> {
    const about = { 'x-dead-id': crypto.randomUUID(), 'x-died-at': Date.now(), 'x-reason': reason };
    return move(message, topology.dead, { ...about, 'x-failures': failures });
  }

  async function settle(message: RabbitmqMessage, attempt: number, ended: Ended): Promise<void> {
    if (ended.as === 'done') return;
    const reason = reasonOf(ended.error);
    if (ended.as === 'unreadable') await move(message, topology.unreadable, { 'x-failures': attempt - 1 });
    else if (ended.as === 'dead' || attempt >= attempts) await bury(message, attempt, reason);
    else {
      const { retries } = topology;
      const delayed = retries[Math.min(attempt, retries.length) - 1] as string;
      await move(message, delayed, { 'x-failures': attempt, 'x-reason': reason });
    }
  }

  async function run(channel: RabbitmqChannel, message: RabbitmqMessage, signal: AbortSignal): Promise<void> {
    const { headers = {} } = message.properties;
    const attempt = Number(headers['x-failures'] ?? 0) + Number(headers['x-delivery-count'] ?? 0) + 1;
    try {
      if (attempt > attempts) await bury(message, attempts, 'The worker died during the last attempt.');
      else await settle(message, attempt, await process(parsedJob(message.content.toString()), { attempt, signal }));
      channel.ack(message as never);
    } catch (error) {
      // Not acknowledged: the job runs again when the channel is closed.
      log.warn('queue_error:settle', `The result of a job could not be recorded: ${reasonOf(error)}`);
      await channel.close().catch(() => {});
    }
  }

  async function consume(): Promise<void> {
    const channel = await connection.channel();
    channel.on('close', () => {
      consumer = undefined;
      running.abort();
      reconnect();
    });
    await topology.declare(channel);
    await channel.prefetch(concurrency);
    const { consumerTag: tag } = await channel.consume(topology.main, (message) => {
      if (stopping) return; // it is returned to the queue when the channel is closed
      if (message) running.run((signal) => run(channel, message, signal));
      else channel.close().catch(() => {}); // the queue was deleted
    });
    consumer = { channel, tag };
    if (stopping) await channel.close().catch(() => {});
  }

  function reconnect(): void {
    if (stopping) return;
    clearTimeout(retryTimer);
    retryTimer = setTimeout(start, RECONNECT_PAUSE_MS);
  }

  function start(): void {
    started = consume().catch((error) => {
      log.warn('queue_error:connect', `The worker could not connect to RabbitMQ, and tries again: ${reasonOf(error)}`);
      reconnect();
    });
  }

  start();

  async function stop(timeoutMs: number): Promise<void> {
    stopping = true;
    clearTimeout(retryTimer);
    await started;
    if (consumer) await limited(consumer.channel.cancel(consumer.tag));
    await running.drain(timeoutMs);
    if (consumer) await limited(consumer.channel.close());
  }

  let stopped: Promise<void> | undefined;
  return {
    stop({ timeoutMs = STOP_TIMEOUT_MS } = {}) {
      stopped ??= stop(timeoutMs);
      return stopped;
    },
  };
}

/** Waits for a call for a limited time: a lost connection may never answer, and RabbitMQ then redelivers the jobs. */
async function limited(call: Promise<unknown>): Promise<void> {
  const LIMIT_MS = 5_000;
  await withTimeout(LIMIT_MS, () => call).catch(() => {});
}
