import { withTimeout } from '../../timers.js';

const CONNECT_LIMIT_MS = 10_000;

// Without an import and without a prefix, so that an edge bundle contains no `node:`.
const asyncHooks = (
  globalThis as { process?: { getBuiltinModule?: (id: string) => typeof import('node:async_hooks') | undefined } }
).process?.getBuiltinModule?.('async_hooks');

/** The part of a connection of amqplib's promise API that is used. */
export interface RabbitmqConnection {
  createConfirmChannel(): Promise<RabbitmqChannel>;
  on(event: 'close' | 'error', listener: (error?: unknown) => void): unknown;
  close(): Promise<void>;
}

/** The part of a confirm channel of amqplib's promise API that is used. */
export interface RabbitmqChannel {
  assertQueue(queue: string, options: RabbitmqQueueSettings): Promise<unknown>;
  deleteQueue(queue: string): Promise<unknown>;
  checkQueue(queue: string): Promise<{ messageCount: number }>;
  prefetch(count: number): Promise<unknown>;
  consume(
    queue: string,
    onMessage: (message: RabbitmqMessage | null) => void,
    options?: { noAck: boolean },
  ): Promise<{ consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  get(queue: string, options: { noAck: false }): Promise<RabbitmqMessage | false>;
  ack(message: never): void;
  sendToQueue(queue: string, content: never, options: object, callback: (error: unknown) => void): boolean;
  on(event: 'close' | 'error', listener: (error?: unknown) => void): unknown;
  on(event: 'return', listener: (message: RabbitmqMessage) => void): unknown;
  close(): Promise<void>;
}

/** The settings with which a queue is declared. */
export interface RabbitmqQueueSettings {
  durable: boolean;
  exclusive?: boolean;
  autoDelete?: boolean;
  arguments?: object;
}

/** The fields that are read from a message. */
export interface RabbitmqMessage {
  content: { toString(): string };
  fields: { deliveryTag: number };
  properties: {
    messageId?: string | undefined;
    correlationId?: string | undefined;
    replyTo?: string | undefined;
    headers?: RabbitmqHeaders | undefined;
  };
}

/** The headers of a message, which any program may have set; `x-delivery-count` is RabbitMQ's own. */
export interface RabbitmqHeaders {
  'x-failures'?: unknown;
  'x-dead-id'?: unknown;
  'x-died-at'?: unknown;
  'x-reason'?: unknown;
  'x-stack'?: unknown;
  'x-put-at'?: unknown;
  'x-followed-id'?: unknown;
  'x-delivery-count'?: unknown;
  [header: string]: unknown;
}

/** Keeps one connection, which is opened when it is needed, and again after it was lost. */
export interface ConnectionKeeper {
  /** Opens a channel for a caller, who closes it. */
  channel(): Promise<RabbitmqChannel>;
  /** Calls with a channel and closes it, which returns the messages that were not acknowledged. */
  withChannel<T>(call: (channel: RabbitmqChannel) => Promise<T>): Promise<T>;
  /** Publishes on a channel of its own, which is opened again after it was lost. */
  publish: Publish;
  /** Returns a publisher with a channel of its own: RabbitMQ holds up all that follows on the channel of a queue that hangs. */
  publisher(): Publish;
  close(): Promise<void>;
}

/** Publishes to a queue, and resolves once RabbitMQ has confirmed the message. */
export type Publish = (queue: string, content: string, properties: RabbitmqMessage['properties']) => Promise<void>;

/** Returns a keeper of one connection, with one channel for everything that is published. */
export function keepConnection(connect: () => Promise<RabbitmqConnection>): ConnectionKeeper {
  // A socket calls in the async context in which it was opened. A put may open it, and no job must run in the context, and
  // so in the trace, of the request that was put.
  const connectOutside = asyncHooks?.AsyncResource.bind(connect) ?? connect;
  let connection: Promise<RabbitmqConnection> | undefined;

  function connected(): Promise<RabbitmqConnection> {
    if (connection) return connection;
    const opening = withinLimit(connectOutside);
    const forget = () => {
      if (connection === opening) connection = undefined;
    };
    connection = opening;
    opening.then((one) => {
      one.on('error', () => {}); // 'close' follows
      one.on('close', forget);
    }, forget);
    return opening;
  }

  async function channel(): Promise<RabbitmqChannel> {
    const opened = await (await connected()).createConfirmChannel();
    opened.on('error', () => {}); // 'close' follows, and pending calls reject
    return opened;
  }

  function publisher(): Publish {
    const publishing = kept(async (lost) => {
      const opened = await channel();
      opened.on('close', lost);
      return publisherOn(opened);
    });
    return async (...message) => (await publishing())(...message);
  }

  return {
    channel,

    async withChannel(call) {
      const opened = await channel();
      try {
        return await call(opened);
      } finally {
        await opened.close().catch(() => {});
      }
    },

    publish: publisher(),
    publisher,

    async close() {
      const open = connection;
      connection = undefined;
      await (await open?.catch(() => undefined))?.close().catch(() => {});
    },
  };
}

/** Returns what opens something at the first call, and again once it was lost or did not open. */
export function kept<T>(open: (lost: () => void) => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    if (opened) return opened;
    const lost = () => {
      if (opened === opening) opened = undefined;
    };
    const opening = open(lost);
    opened = opening;
    opening.catch(lost);
    return opening;
  };
}

/** Resolves to the connection. One that opens after the limit is closed: another was opened in its place. */
function withinLimit(connect: () => Promise<RabbitmqConnection>): Promise<RabbitmqConnection> {
  let isLate = false;
  const connecting = (async () => connect())();
  connecting.then(
    (late) => isLate && void late.close().catch(() => {}),
    () => {},
  );
  return withTimeout(
    CONNECT_LIMIT_MS,
    () => connecting,
    () => {
      isLate = true;
      return new Error(`RabbitMQ did not answer within ${CONNECT_LIMIT_MS} ms`);
    },
  );
}

/** Returns what publishes on one channel. It rejects where the channel is closed or the queue is missing. */
export function publisherOn(channel: RabbitmqChannel): Publish {
  /** The messages that RabbitMQ has returned, although it also confirms them. */
  const returned = new Set<string>();
  channel.on('return', ({ properties }) => void returned.add(String(properties.correlationId)));
  return (queue, content, properties) =>
    new Promise((resolve, reject) => {
      const correlationId = crypto.randomUUID();
      const options = { ...properties, correlationId, persistent: true, mandatory: true };
      channel.sendToQueue(queue, Buffer.from(content) as never, options, (error) => {
        if (error) reject(error instanceof Error ? error : new Error('RabbitMQ did not confirm the message'));
        else if (returned.delete(correlationId))
          reject(new Error(`RabbitMQ has no queue '${queue}': call queue.init()`));
        else resolve();
      });
    });
}
