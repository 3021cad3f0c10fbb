import { checkEndpointName } from '../../endpoint.js';
import {
  check,
  checkFunction,
  checkKnownOptions,
  checkObject,
  checkPositiveInteger,
  integers,
} from '../../option-checks.js';
import { withTimeout } from '../../timers.js';
import type { OperatedQueue } from '../dead-letters.js';
import { type DeadRetentionOptions, deadRetention } from '../dead-retention.js';
import { limitedPut } from '../engine-queue.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions, withoutBodies, withPayloads } from '../payloads.js';
import { parsedJob } from '../stored-values.js';
import { ageMarks } from './age-marks.js';
import { deadQueueOf } from './dead-queue.js';
import { followedJobs } from './followed-jobs.js';
import { operatorLock } from './operator-lock.js';
import { keepConnection, type RabbitmqConnection, type RabbitmqMessage } from './rabbitmq-connection.js';
import { type RabbitmqWorker, type RabbitmqWorkerOptions, startRabbitmqWorker } from './rabbitmq-worker.js';
import { topologyOf } from './topology.js';

/** Options of {@link rabbitmqQueue}. */
export interface RabbitmqQueueOptions extends PayloadOptions, DeadRetentionOptions {
  /**
   * Opens a connection of amqplib: `() => amqp.connect(url)`. It is called when a connection is needed, and again after
   * one was lost, because amqplib does not reconnect.
   */
  connect(): Promise<RabbitmqConnection>;
  /** The name of the queue in RabbitMQ, where the queues that belong to it are created too. */
  queue: string;
  /** The name of the endpoint, part of every key. Default: the name of the queue. */
  name?: string | undefined;
  /** The number of times a handler is started before its job is a dead letter. Default: 10. */
  attempts?: number | undefined;
  /**
   * How long a failed job waits after its first failure, its second, and so on, in milliseconds; the last delay applies
   * to all further failures. Each delay is a queue in RabbitMQ. Default: 1 000, 10 000, 60 000, 600 000.
   */
  retryDelaysMs?: readonly number[] | undefined;
}

/** A queue in RabbitMQ. */
export interface RabbitmqQueue extends OperatedQueue {
  /** Starts a worker in this process. */
  work(options: RabbitmqWorkerOptions): RabbitmqWorker;
  /** Closes the connection. */
  close(): Promise<void>;
}

/**
 * Returns a queue that puts deliveries into a quorum queue of RabbitMQ 3.10 or later, through amqplib, with publisher
 * confirms.
 *
 * RabbitMQ recognises no duplicates: a redelivery is queued again, and a job whose worker dies before it acknowledges
 * the result is run by another worker. Use an inbox in the handlers, or, for the redeliveries alone, `dedupe` with a
 * shared store in the receiver.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const queue = rabbitmqQueue({ connect: () => amqp.connect(url), queue: 'webhooks' });
 * app.post('/webhooks', webhookHandler({ secret, queue }));
 * const worker = queue.work({ on, concurrency: 10 });
 */
export function rabbitmqQueue(options: RabbitmqQueueOptions): RabbitmqQueue {
  checkObject('options', options);
  const names = ['connect', 'queue', 'name', 'attempts', 'retryDelaysMs', 'retainDead', ...PAYLOAD_OPTIONS];
  checkKnownOptions('rabbitmqQueue', options, names, {
    connection: 'connect',
    url: 'connect',
  });
  const { connect, queue, retryDelaysMs = [1_000, 10_000, 60_000, 600_000] } = options;
  check(connect !== undefined, 'connect must be a function that opens a connection of amqplib');
  checkFunction('connect', connect);
  check(typeof queue === 'string' && queue.length > 0 && queue.length <= 200, 'queue must be the name of a queue');
  const { name = queue } = options;
  checkEndpointName(name, 'name must be');
  const { attempts } = integers(options, { attempts: 10 });
  check(Array.isArray(retryDelaysMs) && retryDelaysMs.length > 0, 'retryDelaysMs must be a list with a delay');
  for (const ms of retryDelaysMs) checkPositiveInteger('retryDelaysMs', ms);
  const topology = topologyOf(queue, retryDelaysMs);
  const { main, dead, waiting } = topology;
  const connection = keepConnection(connect);
  const locked = operatorLock(connection, main);
  const payloads = createPayloads(options);
  const deadQueue = deadQueueOf(connection, dead, payloads);
  const marks = ageMarks(connection, main);
  const followed = followedJobs(connection, main);

  /** Puts a job into the main queue, where it waits for its first run. */
  async function queueJob(job: string, properties: RabbitmqMessage['properties']): Promise<void> {
    const now = Date.now();
    marks.add(now);
    await connection.publish(main, job, { ...properties, headers: { ...properties.headers, 'x-put-at': now } });
  }

  const retryWith = (id: string, more: RabbitmqMessage['properties']) =>
    locked(() =>
      deadQueue.remove(id, ({ content, properties: { messageId } }) =>
        queueJob(content.toString(), { ...more, messageId }),
      ),
    );

  /** On a channel of its own, which RabbitMQ closes where there is no such queue. */
  const countIn = (one: string) =>
    connection.withChannel(async (channel) => (await channel.checkQueue(one)).messageCount);

  const operated: RabbitmqQueue = {
    name,

    async init() {
      await connection.withChannel((channel) => topology.declare(channel));
      // Without it, only the age is not known: it must neither fail nor hold up what a receiver waits for.
      await marks.declare().catch(() => {});
    },

    put(delivery) {
      retention.discardOld();
      return payloads.put(delivery, {
        putJob: (job) =>
          limitedPut(async () => {
            await queueJob(JSON.stringify(job), { messageId: job.key });
            return 'queued' as const;
          }),
      });
    },

    work: (workerOptions) =>
      startRabbitmqWorker(withPayloads(workerOptions, options), {
        connection,
        topology,
        marks,
        attempts,
        discardOld: retention.discardOld,
      }),

    deadLetters: ({ limit = 100, offset = 0 } = {}) => locked(() => deadQueue.list({ limit, offset })),

    retry: (id) => retryWith(id, {}),

    async retryAndFollow(id) {
      const { job, properties } = await withTimeout(FOLLOW_LIMIT_MS, followed.follow, () => noFollower(queue));
      const isRetried = await retryWith(id, properties).catch(async (error) => {
        await job.close();
        throw error;
      });
      if (isRetried) return job;
      await job.close();
      return undefined;
    },

    discard: (id) => locked(() => deadQueue.remove(id, ({ content }) => payloads.drop(parsedJob(content.toString())))),

    purgeDead: () => retention.purge(),

    async stats() {
      const [deadCount, ready, ...later] = await locked(() =>
        Promise.all([countIn(dead), countIn(main), ...waiting.map((one) => countIn(one).catch(noneIfMissing))]),
      );
      const depth = later.reduce((sum, count) => sum + count, ready);
      const oldestMs = await marks.oldestMs(ready);
      // A delivery that waits for its next attempt has no mark any more.
      return { depth, oldestMs: ready === 0 && depth > 0 ? undefined : oldestMs, dead: deadCount };
    },

    async close() {
      await marks.flush();
      await connection.close();
    },
  };
  const closed = deadQueueOf(connection, dead, withoutBodies);
  const retention = deadRetention(options, { ...operated, list: (page) => locked(() => closed.list(page)) });
  return operated;
}

const FOLLOW_LIMIT_MS = 10_000;

const noFollower = (queue: string) =>
  new Error(
    `RabbitMQ has not created the queue '${queue}.answers.…' within 10 s: it is overloaded, or blocks the connection. Nothing was retried. Try again, or retry without following.`,
  );

/** An app whose delays are others has other queues for them. */
function noneIfMissing(error: unknown): number {
  if ((error as { code?: unknown } | null)?.code === 404) return 0;
  throw error;
}
