import { withTimeout } from '../../timers.js';
import type { ConnectionKeeper, RabbitmqChannel } from './rabbitmq-connection.js';

/** Runs the calls of operators one at a time, also those of other processes. */
export type OperatorLock = <T>(call: () => Promise<T>) => Promise<T>;

const LIMIT_MS = 10_000;
/** No quorum queue: with a length, it may not answer any more after a crash of RabbitMQ. */
const LOCK = {
  durable: true,
  arguments: { 'x-queue-type': 'classic', 'x-single-active-consumer': true, 'x-max-length': 1, 'x-expires': 600_000 },
};

/**
 * Returns the lock of the operators of a queue: RabbitMQ hides a message from all others while one reads it. RabbitMQ sends the
 * messages of the queue `.operator` to one consumer, and to the next one, in their order, when the channel of the first is
 * closed. So who receives a message has the lock. A call rejects that has to wait for 10 s.
 */
export function operatorLock(connection: ConnectionKeeper, queue: string): OperatorLock {
  /** A classic queue is on one node of a cluster. While that is down, all operators take the next one, which is on another. */
  const names = [`${queue}.operator`, `${queue}.operator.2`, `${queue}.operator.3`];
  let last: Promise<unknown> = Promise.resolve();

  /** Resolves to the channel that has the lock until it is closed. */
  async function acquire(late: AbortSignal, [name = '', ...others] = names): Promise<RabbitmqChannel> {
    late.throwIfAborted();
    const channel = await connection.channel();
    const close = () => channel.close().catch(() => {}); // it may be closed already
    late.addEventListener('abort', () => void close());
    try {
      late.throwIfAborted();
      await channel.assertQueue(name, LOCK);
      await channel.prefetch(1);
      await new Promise<void>((resolve, reject) => {
        channel.on('close', () => reject(new Error('RabbitMQ has closed the channel of the lock')));
        const onMessage = (message: unknown) =>
          message ? resolve() : reject(new Error(`The queue '${name}' was deleted`));
        channel.consume(name, onMessage).catch(reject);
        channel.sendToQueue(name, Buffer.from('') as never, { persistent: true }, () => {});
      });
      return channel;
    } catch (error) {
      await close();
      const isDown = (error as { code?: unknown } | null)?.code === 404;
      if (isDown && others.length > 0) return acquire(late, others);
      throw error;
    }
  }

  return (call) => {
    const late = new AbortController();
    const acquired = last.then(() => acquire(late.signal));
    const turn = withTimeout(
      LIMIT_MS,
      () => acquired,
      () => {
        late.abort();
        return new Error(
          `Another operator reads the dead letters of '${queue}', or RabbitMQ does not answer. Try again in a minute.`,
        );
      },
    ).then(async (channel) => {
      try {
        return await call();
      } finally {
        await channel.close().catch(() => {}); // the connection was lost, and the lock with it
      }
    });
    last = Promise.allSettled([acquired, turn]);
    return turn;
  };
}
