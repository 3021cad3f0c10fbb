import type { Redis } from 'ioredis';
import { type RedisClient, redisStore } from 'service-webhooks/stores/redis';
import { afterAll, describe, expect, it } from 'vitest';
import {
  canStartRedis,
  openIoredis,
  openIoredisCluster,
  openNodeRedisCluster,
  startCluster,
} from '../support/redis.js';
import { aClaim, rivalOf } from './requests.js';

const cluster = canStartRedis() ? await startCluster() : undefined;
afterAll(() => cluster?.stop());

describe.runIf(cluster)('redisStore on a Redis Cluster', () => {
  it.each([
    ['ioredis', overIoredis],
    ['node-redis', overNodeRedis],
  ])('a store follows a slot that moves to another node, over %s', async (_, open) => {
    const { url = '', ports = [] } = cluster ?? {};
    const [one, two] = ports.map((port) => openIoredis(`redis://127.0.0.1:${port}`)) as [Redis, Redis];
    const ids = [await one.cluster('MYID'), await two.cluster('MYID')] as const;
    const { client, close } = await open(url);
    const store = redisStore(client, { keyPrefix: '' });
    const key = await keyOfFirst(one);
    const slot = await one.cluster('KEYSLOT', key);
    const request = aClaim(key);
    await store.claim({ ...request, key: `{${key}}warm` });
    await one.del(`{${key}}warm`);
    await one.config('RESETSTAT');

    await two.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', ids[0]);
    await one.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', ids[1]);
    const acquired = await store.claim(request);
    expect(acquired).toMatchObject({ status: 'acquired', attempt: 1 });
    const { fence } = acquired;
    expect(await redirections(one, 'ASK')).toBeGreaterThan(0);

    for (const node of [two, one]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', ids[1]);
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'in_progress', fence });
    expect(await store.complete({ ...request, fence }, request)).toBe('ok');
    expect(await redirections(one, 'MOVED')).toBeGreaterThan(0);

    close();
    one.disconnect();
    two.disconnect();
  });

  it.each([
    ['service-webhooks:', 'clips'],
    ['{app}:', 'clips'],
    ['{', 'clips'],
    ['}{', '{}'],
    ['', '}clips{'],
  ])('the reports of an endpoint and the jobs are in one slot: prefix %j, name %j', async (keyPrefix, name) => {
    for (const { client, close } of [overIoredis(cluster?.url), await overNodeRedis(cluster?.url)]) {
      const store = redisStore(client, { keyPrefix });
      for (const instance of ['one', 'two', 'three']) {
        await store.saveReport?.({ name, instance, text: JSON.stringify(instance), ttlMs: 60_000 });
      }
      expect((await store.loadReports?.(name))?.sort()).toEqual(['"one"', '"three"', '"two"']);
      const record = { key: `${name}:{a}`, version: crypto.randomUUID(), text: '{}', dueAt: 1 };
      expect(await store.jobs?.write(record, undefined)).toBe(true);
      expect(await store.jobs?.list({ limit: 1, overdue: true })).toEqual([record]);
      await store.jobs?.remove(record.key);
      close();
    }
  });
});

/** A key that was not used before, of a slot that the first node has. */
async function keyOfFirst(node: Redis): Promise<string> {
  for (;;) {
    const key = `evt_${crypto.randomUUID()}`;
    if ((await node.cluster('KEYSLOT', key)) <= 8191) return key;
  }
}

/** How often a node sent somebody on. */
async function redirections(node: Redis, kind: 'ASK' | 'MOVED'): Promise<number> {
  const [, count = 0] = new RegExp(`errorstat_${kind}:count=(\\d+)`).exec(await node.info('errorstats')) ?? [];
  return Number(count);
}

interface Opened {
  client: RedisClient;
  close(): void;
}

function overIoredis(url = ''): Opened {
  const ioredis = openIoredisCluster(url);
  return { client: { ioredis }, close: () => ioredis.disconnect() };
}

async function overNodeRedis(url = ''): Promise<Opened> {
  const nodeRedis = await openNodeRedisCluster(url);
  return { client: { nodeRedis }, close: () => nodeRedis.destroy() };
}
