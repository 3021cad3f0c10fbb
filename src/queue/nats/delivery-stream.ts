import type {
  NatsConsumer,
  NatsConsumerInfo,
  NatsJetStream,
  NatsManager,
  NatsMessage,
  NatsStoredMessage,
  NatsStreamConfig,
} from './jetstream.js';
import { checkStream } from './stream-settings.js';

/** The stream behind one queue of deliveries, its subjects and its consumers. */
export interface DeliveryStream {
  readonly stream: string;
  /** Deliveries; the finished ones stay for as long as their keys are known. */
  readonly jobs: string;
  /** Jobs that the worker which had them could not read. */
  readonly unreadable: string;
  readonly dead: string;
  /** One message for each last attempt that a worker has started, and for each end of a job that an operator has retried. */
  readonly starts: string;
  /** Creates what is missing. Rejects where the stream is there and would lose or repeat deliveries. */
  declare(): Promise<void>;
  /**
   * Resolves once the stream has the message, to its number and whether it is new. Where the stream knows the id already,
   * the number is that of the first message: a move that is repeated, because its answer was lost, adds no second copy.
   */
  publish(subject: string, payload: string, id: string): Promise<{ seq: number; isNew: boolean }>;
  /** Resolves to the first message of a subject from a sequence number on. */
  next(subject: string, seq: number): Promise<NatsStoredMessage | undefined>;
  message(seq: number): Promise<NatsStoredMessage | undefined>;
  /** Resolves to the last job with an id that was published since a time, in milliseconds since the epoch. */
  latest(id: string, since: number): Promise<NatsStoredMessage | undefined>;
  /** Resolves to false where there is no message of this number. */
  remove(seq: number): Promise<boolean>;
  count(subject: string): Promise<number>;
  /** Resolves to the state of the two consumers: of the jobs, and of those that could not be read. */
  consumers(): Promise<{ subject: string; info: NatsConsumerInfo }[]>;
  /**
   * Removes the finished jobs, the starts and the ends whose ids the stream knows no more at this time, in milliseconds since the
   * epoch.
   */
  purge(now: number): Promise<void>;
}

/** The durable consumer of the jobs, and the one of those that could not be read. */
export const CONSUMERS = { jobs: 'workers', unreadable: 'unreadable' } as const;

const NANOS_PER_MS = 1_000_000;
/** The `duplicate_window` of a new stream, in which JetStream holds each id in memory. */
const WINDOW_NANOS = 12 * 3_600_000 * NANOS_PER_MS;
const PUBLISH_TIMEOUT_MS = 5_000;
/** The time of a receiver may be ahead of that of the server. */
const CLOCK_SKEW_MS = 60_000;
const NOT_FOUND = { stream: 10059, message: [10037, 10043] };
/** Each running worker asks for one message at a time per handler. */
const MAX_PULLS = 8_192;

/**
 * The stream keeps finished jobs, which a work queue of JetStream would delete: after a restart, JetStream knows only the
 * ids of the messages that it still has.
 */
export function deliveryStream(jetstream: NatsJetStream, stream: string, ackWaitMs: number): DeliveryStream {
  const [jobs, unreadable] = [`${stream}.jobs`, `${stream}.unreadable`];
  const [dead, starts] = [`${stream}.dead`, `${stream}.starts`];
  const subjects = [jobs, unreadable, dead, starts];
  const durables = [
    [jobs, CONSUMERS.jobs],
    [unreadable, CONSUMERS.unreadable],
  ] as const;
  let windowNanos = WINDOW_NANOS;

  const manager = (): Promise<NatsManager> => jetstream.jetstreamManager(false);

  async function existing(streams: NatsManager['streams']): Promise<NatsStreamConfig | undefined> {
    try {
      return (await streams.info(stream)).config;
    } catch (error) {
      if (codeOf(error) === NOT_FOUND.stream) return undefined;
      throw error;
    }
  }

  async function create(): Promise<void> {
    const { streams, consumers } = await manager();
    const found = await existing(streams);
    const settings = { retention: 'limits', storage: 'file', discard: 'new', duplicate_window: WINDOW_NANOS };
    const config = found ?? (await streams.add({ name: stream, subjects, ...settings } as never)).config;
    checkStream(stream, subjects, config);
    windowNanos = config.duplicate_window;
    for (const [filter_subject, durable_name] of durables) {
      const delivery = { deliver_policy: 'all', ack_policy: 'explicit', ack_wait: ackWaitMs * NANOS_PER_MS };
      // Without limits: JetStream drops what was delivered too often, and jobs that wait for a retry would stop the others.
      const limits = { max_deliver: -1, max_ack_pending: -1, max_waiting: MAX_PULLS };
      await consumers.add(stream, { durable_name, filter_subject, ...delivery, ...limits } as never);
    }
  }

  /** JetStream has no lock: of several processes that create the same at once, one gets the error that it exists. */
  async function declare(): Promise<void> {
    try {
      await create();
    } catch (error) {
      if (typeof codeOf(error) !== 'number') throw error;
      await create();
    }
  }

  async function read(query: object): Promise<NatsStoredMessage | undefined> {
    const { streams } = await manager();
    return (await streams.getMessage(stream, query as never)) ?? undefined;
  }

  const next = (next_by_subj: string, seq: number) => read({ seq, next_by_subj });

  async function remove(seq: number): Promise<boolean> {
    const { streams } = await manager();
    try {
      return await streams.deleteMessage(stream, seq, false);
    } catch (error) {
      if (NOT_FOUND.message.includes(codeOf(error) ?? 0)) return false;
      throw error;
    }
  }

  return {
    stream,
    jobs,
    unreadable,
    dead,
    starts,
    declare,

    async publish(subject, payload, msgID) {
      const options = { msgID, timeout: PUBLISH_TIMEOUT_MS, expect: { streamName: stream } };
      try {
        const { seq, duplicate } = await jetstream.publish(subject, payload, options);
        return { seq, isNew: !duplicate };
      } catch (error) {
        throw isNoStream(error) ? new Error(`NATS has no stream for '${subject}'`, { cause: error }) : error;
      }
    },

    next,
    message: (seq) => read({ seq }),

    async latest(id, since) {
      const { consumers } = await manager();
      const opt_start_time = new Date(since - CLOCK_SKEW_MS).toISOString();
      const { name } = await consumers.add(stream, {
        ...{ deliver_policy: 'by_start_time', opt_start_time },
        ...headersOf(jobs),
      } as never);
      let found: number | undefined;
      for await (const { seq, headers } of messagesOf(await jetstream.consumers.get(stream, name))) {
        if (headers?.get('Nats-Msg-Id') === id) found = seq;
      }
      await consumers.delete(stream, name);
      return found === undefined ? undefined : read({ seq: found });
    },

    remove,

    async count(subject) {
      const { streams } = await manager();
      const { state } = await streams.info(stream, { subjects_filter: subject });
      return state.subjects?.[subject] ?? 0;
    },

    async consumers() {
      const { consumers } = await manager();
      const infos = durables.map(async ([subject, name]) => ({ subject, info: await consumers.info(stream, name) }));
      return Promise.all(infos);
    },

    async purge(now) {
      const { consumers } = await manager();
      const { ack_floor } = await consumers.info(stream, CONSUMERS.jobs);
      const before = now - windowNanos / NANOS_PER_MS;
      const { name } = await consumers.add(stream, { deliver_policy: 'all', ...headersOf(jobs) } as never);
      // One by one: after a purge of a subject, JetStream 2.9 forgets which of its messages are not acknowledged.
      for await (const { seq, time } of messagesOf(await jetstream.consumers.get(stream, name))) {
        if (seq > ack_floor.stream_seq || time.getTime() >= before) break;
        await remove(seq);
      }
      await consumers.delete(stream, name);
      let start = await next(starts, 1);
      while (start && start.time.getTime() < before) {
        await remove(start.seq);
        start = await next(starts, start.seq + 1);
      }
    },
  };
}

/** Returns the settings of a consumer that reads the headers of a subject, and ends by itself. */
function headersOf(filter_subject: string) {
  const idle = { mem_storage: true, num_replicas: 1, inactive_threshold: 60_000 * NANOS_PER_MS };
  return { ack_policy: 'none', filter_subject, headers_only: true, ...idle };
}

async function* messagesOf(consumer: NatsConsumer): AsyncGenerator<NatsMessage> {
  for (;;) {
    let count = 0;
    for await (const message of await consumer.fetch({ max_messages: 500, expires: 1_000 })) {
      count += 1;
      yield message;
    }
    if (count === 0) return;
  }
}

function codeOf(error: unknown): number | undefined {
  return (error as { code?: number } | null | undefined)?.code;
}

function isNoStream(error: unknown): boolean {
  return error instanceof Error && error.name === 'JetStreamNotEnabled';
}
