import { redisStore } from 'service-webhooks/stores/redis';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { canStartRedis, openIoredis, openNodeRedis, startRedis } from '../support/redis.js';
import { startUpstash } from '../support/upstash.js';
import { aClaim } from './requests.js';

const warnings: string[] = [];

beforeEach(() => {
  warnings.length = 0;
  // Receivers of other files in this process may still have something to say.
  vi.spyOn(console, 'warn').mockImplementation((warning: string) => {
    if (warning.includes('Redis')) warnings.push(warning);
  });
});

describe.runIf(canStartRedis())('init of redisStore', () => {
  async function start(...settings: string[]) {
    const server = await startRedis(...settings);
    const ioredis = openIoredis(server.url);
    onTestFinished(server.stop);
    onTestFinished(() => ioredis.disconnect());
    return { server, ioredis };
  }

  it('a server that evicts, or forgets in a restart, causes a warning', async () => {
    const { server, ioredis } = await start('--maxmemory-policy', 'allkeys-lru');
    const [nodeRedis, upstash] = [openNodeRedis(server.url), await startUpstash(server.url)];
    onTestFinished(upstash.stop);
    onTestFinished(() => nodeRedis.destroy());
    for (const client of [{ ioredis }, { nodeRedis }, { upstash: upstash.open() }]) {
      await redisStore(client).init?.();
      expect(warnings.splice(0)).toEqual([
        'service-webhooks: Redis may evict events: its maxmemory-policy is allkeys-lru, not noeviction',
        'service-webhooks: Redis may lose events when it restarts: its appendonly is no',
      ]);
    }
  });

  it('a receiver that begins again after an outage does not warn twice', async () => {
    const { ioredis } = await start('--maxmemory-policy', 'allkeys-lru');
    const store = redisStore({ ioredis });
    for (let i = 0; i < 3; i++) await store.init?.();
    expect(warnings).toHaveLength(2);
  });

  it('a server that keeps its data causes no warning', async () => {
    const { ioredis } = await start('--maxmemory-policy', 'noeviction', '--appendonly', 'yes');
    await redisStore({ ioredis }).init?.();
    expect(warnings).toEqual([]);
    expect(await ioredis.dbsize()).toBe(0);
  });

  it('a user without the rights for CONFIG and INFO claims and completes', async () => {
    const { server, ioredis } = await start('--maxmemory-policy', 'allkeys-lru');
    await ioredis.acl('SETUSER', 'receiver', 'on', '>pass', '~service-webhooks:*', '-@all', ...MAY);
    const limited = openIoredis(server.url, { username: 'receiver', password: 'pass', enableReadyCheck: false });
    onTestFinished(() => limited.disconnect());
    const store = redisStore({ ioredis: limited });
    const request = aClaim();
    const ref = { ...request, fence: 1 };
    await store.init?.();
    expect(warnings).toEqual([]);
    expect(await store.claim(request)).toMatchObject({ status: 'acquired' });
    expect(await store.claim({ ...request, token: 'other' })).toMatchObject({ status: 'in_progress' });
    expect(await store.extend(ref, request)).toBe('ok');
    expect(await store.complete(ref, request)).toBe('ok');
    expect(await store.inspect?.(request.key)).toMatchObject({ state: 'completed' });
    await store.forget?.(request.key);
    await expect(limited.info()).rejects.toThrow(/NOPERM|no permissions/);
  });

  it('a missing server is an error', async () => {
    const late = openIoredis('redis://127.0.0.1:1', { retryStrategy: () => null });
    await expect(redisStore({ ioredis: late }).init?.()).rejects.toThrow();
    expect(warnings).toEqual([]);
  });
});

/** All that the store asks of a server. */
const MAY = ['+eval', '+get', '+set', '+pttl', '+time', '+del'];
