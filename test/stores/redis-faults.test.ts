import { redisStore } from 'service-webhooks/stores/redis';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aReceiver, aRequest, inShort } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { buildProgram, type Program } from '../support/processes.js';
import { canStartRedis, DURABLE, findRedis, openIoredis, openNodeRedis, startRedis } from '../support/redis.js';
import { ATTEMPTS } from '../support/scale.js';
import { freePort } from '../support/server-process.js';
import { startTcpProxy } from '../support/tcp-proxy.js';
import type { Task } from './redis-process.js';
import { aClaim, rivalOf } from './requests.js';

const server = await findRedis();
const program = server && (await buildProgram('test/stores/redis-process.ts'));
const keyPrefix = `test-${crypto.randomUUID()}:`;
afterAll(async () => {
  program?.remove();
  if (server === undefined) return;
  const admin = openIoredis(server.url);
  const keys = await admin.keys(`${keyPrefix}*`);
  if (keys.length > 0) await admin.unlink(keys);
  admin.disconnect();
  await server.stop();
});

function ioredisOf(...args: Parameters<typeof openIoredis>) {
  const ioredis = openIoredis(...args);
  onTestFinished(() => ioredis.disconnect());
  return ioredis;
}

function nodeRedisOf(...args: Parameters<typeof openNodeRedis>) {
  const nodeRedis = openNodeRedis(...args);
  onTestFinished(() => nodeRedis.destroy());
  return nodeRedis;
}

describe.runIf(server)('redisStore on a server', () => {
  const { url = '' } = server ?? {};
  const start = (task: Task) => (program as Program).start(task);
  const storeOf = (at = url) => redisStore({ ioredis: ioredisOf(at) }, { keyPrefix });

  async function proxyOf() {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port || 6379) });
    onTestFinished(proxy.stop);
    return { proxy, proxied: url.replace(/\/\/.*/, `//127.0.0.1:${proxy.port}`) };
  }

  it('a store goes on after the server lost its scripts', async () => {
    const [admin, store] = [ioredisOf(url), storeOf()];
    const request = aClaim();
    const ref = { ...request, fence: 1 };
    const forget = () => admin.script('FLUSH');
    expect(await store.claim(request)).toMatchObject({ status: 'acquired' });
    await forget();
    expect(await store.claim(request)).toMatchObject({ status: 'acquired', attempt: 1 });
    await forget();
    expect(await store.extend(ref, request)).toBe('ok');
    await forget();
    expect(await store.complete(ref, request)).toBe('ok');
  });

  it('a claim that ioredis repeats after a lost reply is acquired', async () => {
    const { proxy, proxied } = await proxyOf();
    const ioredis = ioredisOf(proxied, { retryStrategy: () => 1 });
    const store = redisStore({ ioredis }, { keyPrefix });
    await ioredis.ping();
    const request = aClaim();
    proxy.loseNextReply();
    expect(await store.claim(request)).toMatchObject({ status: 'acquired', attempt: 1 });
    expect(proxy.lost()).toBe(1);
    expect(await storeOf().claim(rivalOf(request))).toMatchObject({ status: 'in_progress' });
  });

  it('a call whose reply was lost succeeds when it is repeated', async () => {
    const { proxy, proxied } = await proxyOf();
    const nodeRedis = nodeRedisOf(proxied);
    const store = redisStore({ nodeRedis }, { keyPrefix });
    const losing = async <T>(call: () => Promise<T>): Promise<T> => {
      await nodeRedis.ping();
      proxy.loseNextReply();
      await expect(call()).rejects.toThrow();
      return call();
    };
    const [request, other] = [aClaim(), aClaim()];
    expect(await losing(() => store.claim(request))).toMatchObject({ status: 'acquired', attempt: 1 });
    expect(await losing(() => store.complete({ ...request, fence: 1 }, request))).toBe('ok');
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'completed' });
    await store.claim(other);
    expect(await losing(() => store.release({ ...other, fence: 1 }))).toBe('ok');
    expect(await store.claim(rivalOf(other))).toMatchObject({ status: 'acquired', attempt: 2 });
    expect(proxy.lost()).toBe(3);
  });

  it('a store waits for a client that has not connected yet', async () => {
    const [lazy, eager] = [ioredisOf(url, { lazyConnect: true }), nodeRedisOf(url)];
    expect([lazy.status, eager.isReady]).toEqual(['wait', false]);
    const request = aClaim();
    const [first, second] = await Promise.all([
      redisStore({ ioredis: lazy }, { keyPrefix }).claim(request),
      redisStore({ nodeRedis: eager }, { keyPrefix }).claim(request),
    ]);
    expect([first, second]).toEqual([
      expect.objectContaining({ status: 'acquired', attempt: 1 }),
      expect.objectContaining({ status: 'acquired', attempt: 1 }),
    ]);
  });

  it(`one of ${ATTEMPTS} attempts from four processes with different clocks acquires the event`, async () => {
    const { key } = aClaim();
    const TEN_MINUTES = 600_000;
    const processes = [-TEN_MINUTES, 0, 0, TEN_MINUTES].map((clockMs) =>
      start({ url, keyPrefix, key, do: 'claim at once', count: ATTEMPTS / 4, clockMs }),
    );
    for (const one of processes) expect(await one.next()).toBe('ready');
    for (const one of processes) one.go();
    let [acquired, inProgress] = [0, 0];
    for (const one of processes) {
      const said = (await one.next()) as { acquired: number; in_progress: number };
      acquired += said.acquired;
      inProgress += said.in_progress;
    }
    expect([acquired, inProgress]).toEqual([1, ATTEMPTS - 1]);
  });

  it.each([
    ['in_progress', 'hold'],
    ['completed', 'complete'],
  ] as const)('a claim is answered %s after the process of the first was killed', async (status, work) => {
    const { key } = aClaim();
    const victim = start({ url, keyPrefix, key, do: work });
    expect(await victim.next()).toBe('done');
    await victim.kill();
    expect(await storeOf().claim(aClaim(key))).toMatchObject({ status });
  });
});

describe.runIf(canStartRedis())('redisStore on a server that fails', () => {
  async function start(...settings: string[]) {
    const broken = await startRedis(...settings);
    onTestFinished(broken.stop);
    return broken;
  }

  it('a delivery is answered 503 while the server hangs, and handled afterwards', async () => {
    const hung = await start();
    const store = redisStore({ ioredis: ioredisOf(hung.url) });
    const handled = vi.fn();
    const { receiver, find } = aReceiver({
      on: { '*': handled },
      dedupe: { store, name: 'default' },
      deadlineMs: 2_000,
    });
    expect(inShort(await receiver(aRequest({ event: { id: 'evt_before' } })))).toBe('200 handled');
    hung.freeze();
    expect(inShort(await receiver(aRequest()))).toBe('503 store_unavailable');
    expect(find('store_error')).toMatchObject({ operation: 'claim' });
    hung.thaw();
    await vi.waitFor(async () => expect(inShort(await receiver(aRequest()))).toBe('200 handled'), PATIENTLY);
    expect(inShort(await receiver(aRequest()))).toBe('200 duplicate');
    expect(handled).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['ioredis', (url: string) => ({ ioredis: ioredisOf(url, { maxRetriesPerRequest: 1, retryStrategy: () => 1 }) })],
    ['node-redis', (url: string) => ({ nodeRedis: nodeRedisOf(url) })],
  ])('a delivery is answered 503 where the connection of %s is refused', async (_, open) => {
    const store = redisStore(open(`redis://127.0.0.1:${await freePort()}`));
    const { receiver, find } = aReceiver({ dedupe: { store, name: 'default' }, deadlineMs: 500 });
    expect(inShort(await receiver(aRequest()))).toBe('503 store_unavailable');
    expect(find('store_error')).toMatchObject({ operation: 'claim' });
  });

  it('a durable server remembers claims and completions over a crash', async () => {
    const durable = await start(...DURABLE);
    const store = redisStore({ ioredis: ioredisOf(durable.url, { retryStrategy: () => 10 }) });
    const [held, done] = [aClaim(), aClaim()];
    await store.claim(held);
    await store.claim(done);
    await store.complete({ ...done, fence: 1 }, done);
    await durable.crash();
    expect(await store.claim(rivalOf(held))).toMatchObject({ status: 'in_progress' });
    expect(await store.claim(rivalOf(done))).toMatchObject({ status: 'completed' });
    expect(await store.complete({ ...held, fence: 1 }, held)).toBe('ok');
  });

  it('a fence grows over a failover that has lost the last claims', async () => {
    const primary = await start();
    const replica = await start('--replicaof', `127.0.0.1 ${primary.port}`);
    const [before, after] = [ioredisOf(primary.url), ioredisOf(replica.url)];
    const [store, store2] = [redisStore({ ioredis: before }), redisStore({ ioredis: after })];
    const [known, unknown] = [aClaim(), aClaim()];
    await store.release({ ...known, fence: (await store.claim(known)).fence });
    await vi.waitFor(async () => expect(await after.dbsize()).toBe(1), PATIENTLY);
    await after.replicaof('NO', 'ONE'); // what the old primary takes from here on is lost
    for (const request of [known, unknown]) {
      const lost = await store.claim(rivalOf(request));
      const owner = await store2.claim(rivalOf(request));
      expect([lost.status, owner.status]).toEqual(['acquired', 'acquired']);
      expect(owner.fence).toBeGreaterThan(lost.fence);
    }
  });

  it('an event that the server has forgotten in a crash is completed', async () => {
    const forgetful = await start();
    const store = redisStore({ nodeRedis: nodeRedisOf(forgetful.url) });
    const request = aClaim();
    await store.claim(request);
    await forgetful.crash();
    await vi.waitFor(async () => expect(await store.inspect?.(request.key)).toBeUndefined(), PATIENTLY);
    expect(await store.complete({ ...request, fence: 1 }, request)).toBe('ok');
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'completed' });
  });

  it('an evicted event is completed, and a claim without room rejects', async () => {
    const full = await start('--maxmemory', '3mb', '--maxmemory-policy', 'allkeys-random');
    const ioredis = ioredisOf(full.url);
    const store = redisStore({ ioredis }, { keyPrefix });
    const request = aClaim();
    await store.claim(request);
    for (let i = 0; (await store.inspect?.(request.key)) !== undefined; i += 1) {
      await ioredis.set(`filler-${i}`, 'x'.repeat(20_000));
    }
    await ioredis.config('SET', 'maxmemory', '0'); // or the next command might evict the event again
    expect(await store.complete({ ...request, fence: 1 }, request)).toBe('ok');
    expect(await store.claim(rivalOf(request))).toMatchObject({ status: 'completed' });
    await ioredis.config('SET', 'maxmemory-policy', 'noeviction');
    await ioredis.config('SET', 'maxmemory', '1mb');
    await expect(store.claim(aClaim())).rejects.toThrow(/OOM/);
  });
});
