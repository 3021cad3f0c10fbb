/** The part of a connection of amqplib's promise API that is used. */
export interface RabbitmqConnection {
  createConfirmChannel(): Promise<RabbitmqChannel>;
  on(event: 'close' | 'error', listener: (error?: unknown) => void): unknown;
  close(): Promise<void>;
}

/** The part of a confirm channel of amqplib's promise API that is used. */
export interface RabbitmqChannel {
  assertQueue(queue: string, options: { durable: boolean; arguments: object }): Promise<unknown>;
  checkQueue(queue: string): Promise<{ messageCount: number }>;
  prefetch(count: number): Promise<unknown>;
  consume(queue: string, onMessage: (message: RabbitmqMessage | null) => void): Promise<{ consumerTag: string }>;
  cancel(consumerTag: string): Promise<unknown>;
  get(queue: string, options: { noAck: false }): Promise<RabbitmqMessage | false>;
  ack(message: never): void;
  sendToQueue(queue: string, content: never, options: object, callback: (error: unknown) => void): boolean;
  on(event: 'close' | 'error', listener: (error?: unknown) => void): unknown;
  on(event: 'return', listener: (message: RabbitmqMessage) => void): unknown;
  close(): Promise<void>;
}

/** The fields that are read from a message. */
export interface RabbitmqMessage {
  content: { toString(): string };
  fields: { deliveryTag: number };
  properties: {
    messageId?: string | undefined;
    correlationId?: string | undefined;
    headers?: RabbitmqHeaders | undefined;
  };
}

/** The headers of a message: `x-delivery-count` is RabbitMQ's own. */
export interface RabbitmqHeaders {
  'x-failures'?: number;
  'x-dead-id'?: string;
  'x-died-at'?: number;
  'x-reason'?: string;
  'x-delivery-count'?: number;
  [header: string]: unknown;
}

/** Keeps one connection, which is opened when it is needed, and again after it was lost. */
export interface ConnectionKeeper {
  /** Opens a channel for a caller, who closes it. */
  channel(): Promise<RabbitmqChannel>;
  /** Publishes to a queue, and resolves once RabbitMQ has confirmed the message. */
  publish(queue: string, content: string, properties: RabbitmqMessage['properties']): Promise<void>;
  close(): Promise<void>;
}

/** Returns a keeper of one connection, with one channel for everything that is published. */
export function keepConnection(connect: () => Promise<RabbitmqConnection>): ConnectionKeeper {
  let connection: Promise<RabbitmqConnection> | undefined;
  let publisher: Promise<Publisher> | undefined;

  function connected(): Promise<RabbitmqConnection> {
    if (connection) return connection;
    const opening = (async () => connect())();
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

  function publishing(): Promise<Publisher> {
    if (publisher) return publisher;
    const opening = channel().then(publisherOn);
    const forget = () => {
      if (publisher === opening) publisher = undefined;
    };
    publisher = opening;
    opening.then((one) => one.channel.on('close', forget), forget);
    return opening;
  }

  return {
    channel,

    async publish(queue, content, properties) {
      await (await publishing()).publish(queue, content, properties);
    },

    async close() {
      const open = connection;
      connection = undefined;
      await (await open?.catch(() => undefined))?.close().catch(() => {});
    },
  };
}

interface Publisher {
  channel: RabbitmqChannel;
  publish: ConnectionKeeper['publish'];
}

function publisherOn(channel: RabbitmqChannel): Publisher {
  /** The messages that RabbitMQ has returned, although it also confirms them. */
  const returned = new Set<string>();
  channel.on('return', ({ properties }) => void returned.add(String(properties.correlationId)));
  return {
    channel,
    publish: (queue, content, properties) =>
      new Promise((resolve, reject) => {
        const correlationId = crypto.randomUUID();
        const options = { ...properties, correlationId, persistent: true, mandatory: true };
        channel.sendToQueue(queue, Buffer.from(content) as never, options, (error) => {
          if (error) reject(error instanceof Error ? error : new Error('RabbitMQ did not confirm the message'));
          else if (returned.delete(correlationId)) reject(new Error(`there is no queue '${queue}'`));
          else resolve();
        });
      }),
  };
}
