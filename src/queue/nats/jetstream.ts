/** The part that is used of a JetStream client: `jetstream(connection)` of `@nats-io/jetstream`. */
export interface NatsJetStream {
  publish(
    subject: string,
    payload: string,
    options: { msgID: string; timeout: number; expect: { streamName: string } },
  ): Promise<{ seq: number; duplicate: boolean }>;
  consumers: { get(stream: string, consumer: string): Promise<NatsConsumer> };
  /** The connection, which knows the largest message that the server takes. */
  readonly nc?: { readonly info?: { readonly max_payload?: number | undefined } | undefined } | undefined;
  jetstreamManager(checkApi: boolean): Promise<NatsManager>;
}

/** The part that is used of a JetStream manager. */
export interface NatsManager {
  streams: {
    info(stream: string, options?: { subjects_filter: string }): Promise<NatsStreamInfo>;
    add(config: never): Promise<NatsStreamInfo>;
    getMessage(stream: string, query: never): Promise<NatsStoredMessage | null>;
    deleteMessage(stream: string, seq: number, erase: boolean): Promise<boolean>;
  };
  consumers: {
    info(stream: string, consumer: string): Promise<NatsConsumerInfo>;
    add(stream: string, config: never): Promise<NatsConsumerInfo>;
    delete(stream: string, consumer: string): Promise<boolean>;
  };
}

/** The part that is read of a stream. */
export interface NatsStreamInfo {
  config: NatsStreamConfig;
  /** With the number of messages of each subject that was asked for. */
  state: { subjects?: Record<string, number> | undefined };
}

/** The part that is read of the configuration of a stream. Times are in nanoseconds. */
export interface NatsStreamConfig {
  subjects?: string[] | undefined;
  retention: string;
  storage: string;
  discard: string;
  duplicate_window: number;
  max_age: number;
  max_bytes: number;
  max_msgs: number;
  max_msgs_per_subject: number;
}

/** The part that is read of the state of a consumer. */
export interface NatsConsumerInfo {
  name: string;
  /** Every message up to `stream_seq` is acknowledged. */
  ack_floor: { stream_seq: number };
  num_pending: number;
  num_ack_pending: number;
}

/** The part that is used of a pull consumer. */
export interface NatsConsumer {
  fetch(options: { max_messages: number; expires: number }): Promise<NatsPull>;
}

/** A request for messages that has not ended. */
export interface NatsPull extends AsyncIterable<NatsMessage> {
  stop(): void;
}

/** The part that is used of a message that a consumer has delivered. */
export interface NatsMessage {
  seq: number;
  time: Date;
  info: { deliveryCount: number; deliverySequence: number };
  headers?: { get(name: string): string } | undefined;
  string(): string;
  ackAck(): Promise<boolean>;
  nak(delayMs?: number): void;
  working(): void;
}

/** The part that is used of a message that was read from a stream. */
export interface NatsStoredMessage {
  subject: string;
  seq: number;
  time: Date;
  string(): string;
}
