import type { Redis } from 'ioredis';
import type { DedupeStore } from 'service-webhooks';
import { redisStore } from 'service-webhooks/stores/redis';
import { type StoreSuiteOptions, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { afterAll, beforeAll, describe, it } from 'vitest';
import {
  canStartRedis,
  findRedis,
  openIoredis,
  openIoredisCluster,
  openNodeRedis,
  openNodeRedisCluster,
  startCluster,
} from '../support/redis.js';
import { RACES } from '../support/scale.js';
import { startUpstash } from '../support/upstash.js';

const server = await findRedis();
const cluster = canStartRedis() ? await startCluster() : undefined;
const upstash = server && (await startUpstash(server.url));
const keyPrefix = `test-${crypto.randomUUID()}:`;

afterAll(async () => {
  await upstash?.stop();
  await cluster?.stop();
  await server?.stop();
});

/** A client, a store on it, and the id of its connection where it has one. */
interface Opened {
  store: DedupeStore;
  connection?(): Promise<unknown>;
  close(): unknown;
}

function overIoredis(url: string): Opened {
  const client = openIoredis(url);
  return {
    store: redisStore({ ioredis: client }, { keyPrefix }),
    connection: () => client.client('ID'),
    close: () => client.disconnect(),
  };
}

function overNodeRedis(url: string): Opened {
  const client = openNodeRedis(url);
  return {
    store: redisStore({ nodeRedis: client }, { keyPrefix }),
    connection: () => client.clientId(),
    close: () => client.destroy(),
  };
}

describe.runIf(server)('redisStore on one server', () => {
  const { url = '' } = server ?? {};
  let admin: Redis;
  beforeAll(() => {
    admin = openIoredis(url);
  });
  afterAll(async () => {
    const keys = await admin.keys(`${keyPrefix}*`);
    if (keys.length > 0) await admin.unlink(keys);
    admin.disconnect();
  });

  const hooks: Partial<StoreSuiteOptions<Made>> = {
    evict: (_, key) => admin.del(keyPrefix + key),
    raw: (_, key) => admin.get(keyPrefix + key),
  };
  const faults: Partial<StoreSuiteOptions<Made>> = {
    async disconnect({ opened }) {
      for (const { connection } of opened) await admin.call('CLIENT', 'KILL', 'ID', String(await connection?.()));
      await admin.script('FLUSH');
    },
    restart({ opened }) {
      const later = overIoredis(url);
      opened.push(later);
      return later.store;
    },
    unreachable: () => redisStore({ ioredis: openIoredis('redis://127.0.0.1:1', { retryStrategy: () => null }) }),
  };

  describe('over ioredis, with a second client of node-redis', () => {
    suite(() => [overIoredis(url), overNodeRedis(url)], { ...hooks, ...faults, rounds: RACES });
  });

  describe('over node-redis, with a second client of ioredis', () => {
    suite(() => [overNodeRedis(url), overIoredis(url)], { ...hooks, ...faults, rounds: 20 });
  });

  describe('over the client of Upstash, with a second client of ioredis', () => {
    const overUpstash = (): Opened => {
      const client = upstash?.open();
      return { store: redisStore({ upstash: client as NonNullable<typeof client> }, { keyPrefix }), close() {} };
    };
    suite(() => [overUpstash(), overIoredis(url)], { ...hooks, rounds: 10 });
  });
});

describe.runIf(cluster)('redisStore on a Redis Cluster of two nodes', () => {
  const overCluster = async (): Promise<Opened[]> => {
    const ioredis = openIoredisCluster(cluster?.url ?? '');
    const nodeRedis = await openNodeRedisCluster(cluster?.url ?? '');
    return [
      { store: redisStore({ ioredis }), close: () => ioredis.disconnect() },
      { store: redisStore({ nodeRedis }), close: () => nodeRedis.destroy() },
    ];
  };
  suite(overCluster, { rounds: 20, evict: ({ store }, key) => store.forget?.(key) });
});

type Made = StoreUnderTest & { opened: Opened[] };

function suite(open: () => Opened[] | Promise<Opened[]>, options: Partial<StoreSuiteOptions<Made>>): void {
  const cases = storeSuite<Made>({
    expiresByItself: true,
    async make() {
      const opened = await open();
      const [store, store2] = opened.map((one) => one.store) as [DedupeStore, DedupeStore];
      const close = () => {
        for (const one of opened) one.close();
      };
      return { store, store2, opened, close };
    },
    ...options,
  });
  for (const { name, skip, run } of cases) it.skipIf(skip)(name, run);
}
