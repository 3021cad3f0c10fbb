import { type NodeRedisClient, redisStore } from 'service-webhooks/stores/redis';
import { Failure } from '../failure.js';
import { installed } from '../installed.js';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS } from '../queues/queue-engine.js';
import { connectIoredis, type IoredisModule, REDIS_URL } from '../redis-client.js';
import type { JobStoreEngine } from './job-store-engine.js';

interface NodeRedis extends NodeRedisClient {
  connect(): Promise<unknown>;
  destroy?(): void;
  disconnect?(): Promise<void>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export const redisJobStore: JobStoreEngine = {
  name: 'redis',
  url: REDIS_URL,
  async open({ address, prefix: keyPrefix }) {
    const ioredis = installed<IoredisModule>('ioredis') ?? installed<IoredisModule>('bullmq', 'ioredis');
    if (ioredis !== undefined) {
      const client = await connectIoredis(ioredis, address);
      return { store: redisStore({ ioredis: client }, { keyPrefix }), close: async () => client.disconnect() };
    }
    const nodeRedis = installed<{ createClient(options: object): NodeRedis }>('redis');
    if (nodeRedis === undefined)
      throw new Failure('usage', 'this project has neither ioredis nor redis. Install one of them.');
    const client = nodeRedis.createClient({
      url: address,
      commandOptions: { timeout: CALL_TIMEOUT_MS },
      socket: { connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false },
    });
    client.on('error', () => {}); // the call that fails says so
    await client.connect();
    return {
      store: redisStore({ nodeRedis: client }, { keyPrefix }),
      close: async () => (client.destroy ? client.destroy() : client.disconnect?.()),
    };
  },
};
