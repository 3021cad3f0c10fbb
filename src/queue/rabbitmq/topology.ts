import { UNREADABLE_DELAY_MS } from '../backoff.js';
import type { RabbitmqChannel } from './rabbitmq-connection.js';

/** The queues that belong to one queue of deliveries. */
export interface Topology {
  /** The queue in which deliveries wait for a worker. */
  main: string;
  /**
   * The queues in which failed deliveries wait for their next attempt, one for each delay; the last one is used
   * repeatedly.
   */
  retries: string[];
  /** The queue in which jobs of another version wait. */
  unreadable: string;
  dead: string;
  /** The queues whose deliveries return to the main one later: those of the retries, and of the jobs of another version. */
  waiting: string[];
  /** Creates what is missing. */
  declare(channel: RabbitmqChannel): Promise<void>;
}

/**
 * RabbitMQ 4 drops a message after a number of deliveries unless told otherwise, and each read of a dead letter is one.
 */
const NO_LIMIT = 1_000_000_000;

/**
 * Returns the names of the queues. All are quorum queues, so that a confirmed message is on the disks of a majority of
 * nodes. A waiting queue returns its messages to the main one, without loss, when their time is over.
 */
export function topologyOf(main: string, retryDelaysMs: readonly number[]): Topology {
  const backTo = (queue: string) => ({
    'x-dead-letter-exchange': '',
    'x-dead-letter-routing-key': queue,
    'x-dead-letter-strategy': 'at-least-once',
    'x-overflow': 'reject-publish',
  });
  const retryQueue = (ms: number) => `${main}.retry.${ms}`;
  const retries = retryDelaysMs.map(retryQueue);
  const unreadable = `${main}.unreadable`;
  const dead = `${main}.dead`;
  const waiting = [
    ...[...new Set(retryDelaysMs)].map((ms) => [retryQueue(ms), ms] as const), // a delay may stand there twice
    [unreadable, UNREADABLE_DELAY_MS] as const,
  ];

  async function declare(channel: RabbitmqChannel): Promise<void> {
    const quorum = async (queue: string, more: object) => {
      const options = { durable: true, arguments: { 'x-queue-type': 'quorum', ...more } };
      await channel.assertQueue(queue, options);
    };
    await quorum(dead, { 'x-delivery-limit': NO_LIMIT });
    await quorum(main, { 'x-delivery-limit': NO_LIMIT, ...backTo(dead) });
    for (const [queue, ms] of waiting) await quorum(queue, { 'x-message-ttl': ms, ...backTo(main) });
  }

  return { main, retries, unreadable, dead, waiting: waiting.map(([queue]) => queue), declare };
}
