import type { IoredisSubscriber, NodeRedisSubscriber, RedisClient } from './client.js';

/**
 * Calls `received` with each message of a channel, over a duplicate of the client, which subscribes again after it has
 * reconnected. Resolves to a function that closes the duplicate, or to undefined for a client without one.
 */
export async function subscribe(
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
  await closingOnFailure(close, () => client.subscribe(channel));
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
