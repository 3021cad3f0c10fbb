import { checkEndpointName } from '../../endpoint.js';
import { check, checkKnownOptions, checkObject, integers } from '../../option-checks.js';
import type { DeadLetter, OperatedQueue } from '../dead-letters.js';
import { type DeadRetentionOptions, deadRetention } from '../dead-retention.js';
import { checkClient, limitedPut } from '../engine-queue.js';
import {
  createPayloads,
  PAYLOAD_OPTIONS,
  type PayloadOptions,
  type Payloads,
  withoutBodies,
  withPayloads,
} from '../payloads.js';
import { deadLetterOf, inTurn, knownNumber, parsedJob } from '../stored-values.js';
import { type DeliveryStream, deliveryStream } from './delivery-stream.js';
import { followedJobs } from './followed-jobs.js';
import type { NatsConsumerInfo, NatsJetStream, NatsStoredMessage } from './jetstream.js';
import { type NatsWorker, type NatsWorkerOptions, startNatsWorker } from './nats-worker.js';
import { jobText, LETTER_BYTES, storedLetter } from './stored-letter.js';

/** Options of {@link natsQueue}. */
export interface NatsQueueOptions extends PayloadOptions, DeadRetentionOptions {
  /** A JetStream client: `jetstream(connection)` of `@nats-io/jetstream`. Its connection is not closed. */
  jetstream: NatsJetStream;
  /** The name of the stream, which `init()` creates where there is none. Letters, digits, `_` and `-`. */
  stream: string;
  /** The name of the endpoint, part of every key. Default: the name of the stream. */
  name?: string | undefined;
  /** How many times a handler is started before its job is a dead letter. Default: 10. */
  attempts?: number | undefined;
  /** The wait after the first failure, in milliseconds; it doubles with each further one. Default: 1 000. */
  backoffMs?: number | undefined;
  /** The longest wait, in milliseconds. Default: 3 600 000 (an hour). */
  maxBackoffMs?: number | undefined;
  /** When a job is run again whose worker went silent, in milliseconds. Renewed while it runs. Default: 30 000. */
  ackWaitMs?: number | undefined;
}

const OPTIONS = [
  ...['jetstream', 'stream', 'name', 'attempts', 'backoffMs', 'maxBackoffMs', 'ackWaitMs', 'retainDead'],
  ...PAYLOAD_OPTIONS,
];

/** A queue in a stream of NATS JetStream. */
export interface NatsQueue extends OperatedQueue {
  /** Creates the stream and its consumers. Rejects where there is a stream that would lose or repeat deliveries. */
  init(): Promise<void>;
  /** Starts a worker in this process. */
  work(options: NatsWorkerOptions): NatsWorker;
}

/**
 * Puts deliveries into a stream of NATS JetStream 2.9 or later, and waits for its acknowledgement. The key is the
 * `Nats-Msg-Id`, which JetStream knows for the `duplicate_window` of the stream: 12 hours where `init()` creates it.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const connection = await connect({ servers, maxReconnectAttempts: -1 }); // of @nats-io/transport-node
 * const queue = natsQueue({ jetstream: jetstream(connection), stream: 'webhooks' });
 * app.post('/webhooks', webhookHandler({ secret, queue }));
 * const worker = queue.work({ on, concurrency: 10 });
 */
export function natsQueue(options: NatsQueueOptions): NatsQueue {
  checkObject('options', options);
  const aliases = { connection: 'jetstream', nc: 'jetstream', js: 'jetstream', queue: 'stream' };
  checkKnownOptions('natsQueue', options, OPTIONS, aliases);
  const { jetstream, stream } = options;
  const client = 'jetstream must be jetstream(connection) of @nats-io/jetstream';
  checkClient(client, jetstream, ['publish', 'jetstreamManager']);
  check(typeof stream === 'string' && /^[\w-]{1,64}$/.test(stream), 'stream must be 1 to 64 letters, digits, _ and -');
  const { name = stream } = options;
  checkEndpointName(name, 'name must be');
  const settings = integers(options, {
    attempts: 10,
    backoffMs: 1_000,
    maxBackoffMs: 3_600_000,
    ackWaitMs: 30_000,
  });
  const most = knownNumber(jetstream.nc?.info?.max_payload);
  const payloads = createPayloads(options, most && most - LETTER_BYTES);
  const target = deliveryStream(jetstream, stream, settings.ackWaitMs);
  const { jobs, dead } = target;
  const followed = followedJobs(target);

  async function letter(id: string): Promise<NatsStoredMessage | undefined> {
    const message = /^[1-9]\d{0,14}$/.test(id) ? await target.message(Number(id)) : undefined;
    return message?.subject === dead ? message : undefined;
  }

  async function list({ limit, offset }: { limit: number; offset: number }, bodies: Payloads): Promise<DeadLetter[]> {
    const letters: NatsStoredMessage[] = [];
    for (let seq = 1, passed = 0; letters.length < limit; passed += 1) {
      const message = await target.next(dead, seq);
      if (message === undefined) break;
      if (passed >= offset) letters.push(message);
      seq = message.seq + 1;
    }
    return inTurn(letters, (message) => toDeadLetter(bodies, message));
  }

  /** Resolves to the number of the job where this call has put it back. */
  async function putBack(id: string): Promise<number | undefined> {
    const found = await letter(id);
    if (found === undefined) return undefined;
    const { job } = storedLetter(found);
    // The text of another program is put back as it is.
    const seq = await followed.retry(found.seq, job === undefined ? found.string() : JSON.stringify(job));
    await target.remove(found.seq);
    return seq;
  }

  const operated: NatsQueue = {
    name,
    maxBodyBytes: payloads.maxBodyBytes,

    init: target.declare,

    put(delivery) {
      retention.discardOld();
      return payloads.put(delivery, {
        putJob: (job) =>
          limitedPut(async () => {
            const { isNew } = await target.publish(jobs, jobText(JSON.stringify(job)), job.key);
            return isNew ? 'queued' : 'known';
          }),
        async find(key, since) {
          const message = await target.latest(key, since);
          const consumer = (await target.consumers()).find(({ subject }) => subject === jobs);
          const isDone =
            message !== undefined && consumer !== undefined && message.seq <= consumer.info.ack_floor.stream_seq;
          return message && !isDone ? parsedJob(message.string()) : undefined;
        },
      });
    },

    work: (workerOptions) =>
      startNatsWorker(withPayloads(workerOptions, options), {
        jetstream,
        target,
        settings,
        discardOld: retention.discardOld,
      }),

    deadLetters: ({ limit = 100, offset = 0 } = {}) => list({ limit, offset }, payloads),

    retry: async (id) => (await putBack(id)) !== undefined,

    async retryAndFollow(id) {
      const seq = await putBack(id);
      return seq === undefined ? undefined : followed.follow(seq);
    },

    async discard(id) {
      const found = await letter(id);
      if (found === undefined) return false;
      await payloads.drop(storedLetter(found).job);
      return target.remove(found.seq);
    },

    purgeDead: () => retention.purge(),

    async stats() {
      const consumers = await target.consumers();
      const pending = consumers.map(({ info }) => info.num_pending + info.num_ack_pending);
      const depth = pending.reduce((sum, count) => sum + count, 0);
      const ages = await Promise.all(consumers.map((one) => oldestMs(target, one)));
      return { depth, oldestMs: Math.max(...ages), dead: await target.count(dead) };
    },
  };
  const retention = deadRetention(options, { ...operated, list: (page) => list(page, withoutBodies) });
  return operated;
}

async function toDeadLetter(payloads: Payloads, message: NatsStoredMessage): Promise<DeadLetter> {
  const { job, attempts, reason, stack } = storedLetter(message);
  return deadLetterOf(payloads, String(message.seq), { job, diedAt: message.time.getTime(), attempts, reason, stack });
}

/** The first message that is not acknowledged is the oldest one that waits or runs. */
async function oldestMs(
  { next }: DeliveryStream,
  { subject, info }: { subject: string; info: NatsConsumerInfo },
): Promise<number> {
  if (info.num_pending + info.num_ack_pending === 0) return 0;
  const oldest = await next(subject, info.ack_floor.stream_seq + 1);
  return oldest ? Math.max(0, Date.now() - oldest.time.getTime()) : 0;
}
