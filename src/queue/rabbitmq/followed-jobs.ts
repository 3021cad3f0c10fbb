import type { FollowedJob, FollowedState } from '../dead-letters.js';
import { knownText } from '../stored-values.js';
import { type ConnectionKeeper, kept, type RabbitmqChannel, type RabbitmqMessage } from './rabbitmq-connection.js';

/** Follows retried jobs: their workers answer to a queue of this connection, which ends with it. */
export interface FollowedJobs {
  /** Resolves to a job, and to the properties with which its message must be published. */
  follow(): Promise<{ job: FollowedJob; properties: RabbitmqMessage['properties'] }>;
}

const MAX_ID_LENGTH = 100;

export function followedJobs(connection: ConnectionKeeper, main: string): FollowedJobs {
  const answers = kept(async (lost) => {
    const channel = await connection.channel();
    const replyTo = `${answersOf(main)}${crypto.randomUUID()}`;
    const states = new Map<string, FollowedState>();
    const one = { replyTo, states, isLost: false };
    channel.on('close', () => {
      one.isLost = true;
      lost();
    });
    await channel.assertQueue(replyTo, { durable: false, exclusive: true, autoDelete: true });
    const onAnswer = (message: RabbitmqMessage | null) => {
      if (message === null) return void channel.close().catch(() => {}); // the queue was deleted
      const [id, state] = [String(message.properties.correlationId), message.content.toString()];
      if (states.has(id) && (state === 'done' || state === 'dead')) states.set(id, state);
    };
    await channel.consume(replyTo, onAnswer, { noAck: true });
    return one;
  });

  return {
    async follow() {
      const one = await answers();
      const id = crypto.randomUUID();
      one.states.set(id, 'pending');
      return {
        properties: { replyTo: one.replyTo, headers: { 'x-followed-id': id } },
        job: {
          async state() {
            const state = one.states.get(id) ?? 'pending';
            if (state === 'pending' && one.isLost)
              throw new Error(
                'The connection to RabbitMQ was lost, so that the end of the retried job is not known. Look at the dead letters.',
              );
            return state;
          },
          close: async () => void one.states.delete(id),
        },
      };
    },
  };
}

/** Returns the properties by which a job stays followed when it is moved. */
export function followerOf({ properties: { replyTo, headers } }: RabbitmqMessage): RabbitmqMessage['properties'] {
  const id = knownText(headers?.['x-followed-id']);
  return id === undefined || id.length > MAX_ID_LENGTH ? {} : { replyTo, headers: { 'x-followed-id': id } };
}

/**
 * Tells how a job has ended to the operator who follows it. The answer only goes to a queue that belongs to the same queue of
 * deliveries, and one that does not arrive changes nothing.
 */
export function answerFollower(
  { channel, main }: { channel: RabbitmqChannel; main: string },
  message: RabbitmqMessage,
  state: FollowedState,
): void {
  const { replyTo, headers } = followerOf(message);
  if (!replyTo?.startsWith(answersOf(main))) return;
  try {
    const correlationId = headers?.['x-followed-id'];
    channel.sendToQueue(replyTo, Buffer.from(state) as never, { correlationId }, () => {});
  } catch {
    // The channel is closed.
  }
}

const answersOf = (main: string) => `${main}.answers.`;
