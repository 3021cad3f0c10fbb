import type { Redis as Upstash } from '@upstash/redis';
import type { Cluster, Redis } from 'ioredis';
import type { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import type { RedisClient } from 'service-webhooks/stores/redis';
import { describe, expectTypeOf, it } from 'vitest';

describe('RedisClient', () => {
  it('is any of the clients under its name', () => {
    expectTypeOf<{ ioredis: Redis | Cluster }>().toExtend<RedisClient>();
    expectTypeOf<{ ioredis: Redis<'resp3'> }>().toExtend<RedisClient>();
    expectTypeOf<{ nodeRedis: ReturnType<typeof createClient> }>().toExtend<RedisClient>();
    expectTypeOf<{ nodeRedis: ReturnType<typeof createClientPool> }>().toExtend<RedisClient>();
    expectTypeOf<{ nodeRedis: ReturnType<typeof createCluster> }>().toExtend<RedisClient>();
    expectTypeOf<{ nodeRedis: ReturnType<typeof createSentinel> }>().toExtend<RedisClient>();
    expectTypeOf<{ upstash: Upstash }>().toExtend<RedisClient>();
  });

  it('is none of them under the name of another', () => {
    expectTypeOf<{ ioredis: ReturnType<typeof createClient> }>().not.toExtend<RedisClient>();
    expectTypeOf<{ nodeRedis: Redis }>().not.toExtend<RedisClient>();
    expectTypeOf<{ nodeRedis: Upstash }>().not.toExtend<RedisClient>();
    expectTypeOf<{ upstash: ReturnType<typeof createClient> }>().not.toExtend<RedisClient>();
  });

  it('is exactly one client', () => {
    expectTypeOf<{ ioredis: Redis; upstash: Upstash }>().not.toExtend<RedisClient>();
    expectTypeOf<Redis>().not.toExtend<RedisClient>();
  });
});
