import { withTimeout } from '../../timers.js';
import { untilEnded } from '../until-ended.js';
import type { IoredisSubscriber, NodeRedisSubscriber, RedisClient } from './client.js';

/** How long the first subscription may take. */
const CONNECT_MS = 10_000;

/**
 * Calls `received` with each message of a channel, over a duplicate of the client, which subscribes again after it has
 * reconnected. Resolves to a function that closes the duplicate, or to undefined for a client without one.
 */
export async function subscribe(
  client: RedisClient,
  channel: string,
  received: (message: string) => void,
): Promise<(() => void) | undefined> {
  return untilEnded(received, (receive) => openDuplicate(client, channel, receive));
}

async function openDuplicate(
  { ioredis, nodeRedis }: RedisClient,
  channel: string,
  received: (message: string) => void,
): Promise<(() => void) | undefined> {
  if (ioredis?.duplicate) return onIoredis(ioredis.duplicate(), channel, received);
  if (nodeRedis?.duplicate) return onNodeRedis(nodeRedis.duplicate(), channel, received);
  return undefined;
}

async function onIoredis(
  client: IoredisSubscriber,
  channel: string,
  received: (message: string) => void,
): Promise<() => void> {
  const close = () => client.disconnect();
  client.on('error', () => {}); // it reconnects by itself
  client.on('message', (_, message) => received(String(message)));
  const subscribed = new Promise<void>((resolve) => {
    const subscribeNow = () =>
      void client.subscribe(channel).then(
        () => resolve(),
        () => {},
      );
    client.on('ready', subscribeNow);
    subscribeNow(); // refused before the connection is ready, where the client has no offline queue
  });
  await closingOnFailure(close, () => withTimeout(CONNECT_MS, () => subscribed));
  return close;
}

async function onNodeRedis(
  client: NodeRedisSubscriber,
  channel: string,
  received: (message: string) => void,
): Promise<() => void> {
  const close = () => void client.destroy();
  client.on('error', () => {}); // it reconnects by itself
  await closingOnFailure(close, async () => {
    await client.connect();
    await client.subscribe(channel, (message) => received(String(message)));
  });
  return close;
}

async function closingOnFailure(close: () => void, open: () => Promise<unknown>): Promise<void> {
  try {
    await open();
  } catch (error) {
    close();
    throw error;
  }
}
