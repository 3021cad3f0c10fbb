import type { IoredisClient } from 'service-webhooks/stores/redis';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from './queues/queue-engine.js';
import type { ServerUrl } from './server-url.js';

/** URLs of Redis. */
export const REDIS_URL: ServerUrl = {
  variable: 'REDIS_URL',
  example: 'redis://localhost:6379',
  protocols: ['redis:', 'rediss:'],
};

/** What is used of ioredis. */
export interface Ioredis extends IoredisClient {
  connect(): Promise<unknown>;
  disconnect(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  exists(key: string): Promise<number>;
  scan(cursor: string, ...options: (string | number)[]): Promise<[cursor: string, keys: string[]]>;
}

export interface IoredisModule {
  Redis: new (url: string, options: object) => Ioredis;
}

/** Connects once: a client that has lost its connection stays without one. */
export async function connectIoredis({ Redis }: IoredisModule, url: string): Promise<Ioredis> {
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    commandTimeout: CALL_TIMEOUT_MS,
    retryStrategy: () => null,
  });
  let problem: unknown;
  redis.on('error', (error) => {
    problem = error;
  });
  await redis.connect().catch((error) => {
    throw problem ?? error; // its own error says no more than that the connection is closed
  });
  return redis;
}
