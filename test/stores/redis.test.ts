import type { Redis } from 'ioredis';
import { RESP_TYPES } from 'redis';
import type { ClaimRequest } from 'service-webhooks';
import { redisStore } from 'service-webhooks/stores/redis';
import { afterAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENTLY } from '../support/patiently.js';
import { findRedis, openIoredis, openNodeRedis } from '../support/redis.js';
import { startUpstash } from '../support/upstash.js';
import { expectEveryAnswer, expectRefusals } from './every-answer.js';
import { aClaim, itRefuses } from './requests.js';

const server = await findRedis();
afterAll(() => server?.stop());

const aRequest = (changes: Partial<ClaimRequest> = {}) => aClaim(undefined, { retainMs: 120_000, ...changes });

describe('redisStore', () => {
  const client = { eval: async () => 'QUEUED' };

  const takes = 'redisStore takes { ioredis: client } or { nodeRedis: client } or { upstash: client }';
  itRefuses(redisStore, [
    ...[undefined, { ioredis: undefined }, { nodeRedis: {} }, { ioredis: client, upstash: client }].map(
      (wrong) => [wrong, {}, takes] as const,
    ),
    [client, {}, "nknown option 'eval' in the client of redisStore"],
    [{ redis: client }, {}, "nknown option 'redis' in the client of redisStore"],
    [{ ioRedis: client }, {}, "id you mean 'ioredis'?"],
    [{ ioredis: client }, { prefix: 'a:' }, "nknown option 'prefix' in redisStore"],
    [{ ioredis: client }, { prefix: 'a:' }, 'keyPrefix'],
    [{ ioredis: client }, { keyPrefix: 1 }, 'keyPrefix must be a string'],
  ]);

  it('an error names the wrong number, and nothing is sent', async () => {
    const evaluate = vi.fn(client.eval);
    await expectRefusals(redisStore({ ioredis: { eval: evaluate } }));
    expect(evaluate).not.toHaveBeenCalled();
  });

  it('the reply QUEUED of a client in a transaction is an error', async () => {
    const store = redisStore({ ioredis: client });
    const ref = { ...aRequest(), fence: 1 };
    await expect(store.claim(ref)).rejects.toThrow('QUEUED');
    await expect(store.complete(ref, ref)).rejects.toThrow('QUEUED');
    await expect(store.inspect?.('key')).rejects.toThrow('QUEUED');
    await expect(store.loadReports?.('clips')).rejects.toThrow('QUEUED');
    await expect(store.saveReport?.({ name: 'clips', instance: 'one', text: '{}', ttlMs: 1 })).rejects.toThrow(
      'QUEUED',
    );
  });
});

describe.runIf(server)('redisStore on a server', () => {
  const { url = '' } = server ?? {};

  function open(options?: Parameters<typeof openIoredis>[1]): Redis {
    const ioredis = openIoredis(url, options);
    onTestFinished(() => ioredis.disconnect());
    return ioredis;
  }

  function openNode() {
    const nodeRedis = openNodeRedis(url);
    onTestFinished(() => nodeRedis.destroy());
    return nodeRedis;
  }

  async function openUpstash() {
    const upstash = await startUpstash(url);
    onTestFinished(upstash.stop);
    return upstash.open();
  }

  /** The name of an endpoint, and the keys of its reports, which are removed after the test. */
  function reports(ioredis = open()) {
    const name = crypto.randomUUID();
    const keys = async () => (await ioredis.keys(`service-webhooks::health:*${name}*`)).sort();
    onTestFinished(async () => void (await ioredis.del(await keys())));
    return { ioredis, name, keys, store: redisStore({ ioredis }) };
  }

  it('the client keeps its listeners and its connection', async () => {
    const ioredis = open();
    await ioredis.ping();
    const listeners = () => ioredis.eventNames().map((name) => [name, ioredis.listenerCount(name)]);
    const before = listeners();
    const store = redisStore({ ioredis });
    const request = aRequest();
    const { fence } = await store.claim(request);
    await store.complete({ ...request, fence }, { retainMs: 1_000 });
    expect(store.close).toBeUndefined();
    expect(listeners()).toEqual(before);
    expect(ioredis.status).toBe('ready');
  });

  it('each operation is answered with what the store knows, over each client', async () => {
    for (const client of [{ ioredis: open() }, { nodeRedis: openNode() }, { upstash: await openUpstash() }]) {
      const store = redisStore(client);
      await expectEveryAnswer(store);
      expect(store.scope).toBe('shared');
    }
  });

  it('each operation is one request with one key', async () => {
    const ioredis = open();
    const asked: unknown[][] = [];
    const store = redisStore({
      ioredis: {
        eval(...args) {
          asked.push(args);
          return ioredis.eval(...args);
        },
      },
    });
    const request = aRequest({ leaseMs: 1 });
    const operations = [
      () => store.claim(request),
      () => store.claim(request),
      () => store.claim({ ...request, token: 'next', leaseMs: 1_000 }),
      () => store.claim({ ...request, token: 'third' }),
      () => store.extend({ ...request, token: 'next', fence: 2 }, { leaseMs: 2_000 }),
      () => store.release({ ...request, token: 'next', fence: 2 }),
      () => store.claim({ ...request, token: 'third' }),
      () => store.complete({ ...request, token: 'third', fence: 3 }, { retainMs: 1_000 }),
      () => store.claim(request),
      () => store.inspect?.(request.key),
      () => store.forget?.(request.key),
    ];
    for (const operation of operations) {
      await operation();
      expect(asked.splice(0).map(([, ...args]) => args.slice(0, 2))).toEqual([[1, `service-webhooks:${request.key}`]]);
    }
    await store.init?.();
    expect(asked.map(([, ...args]) => args)).toEqual([[1, 'service-webhooks:init']]);
  });

  it('each row has a time to live after each operation', async () => {
    const ioredis = open();
    const store = redisStore({ ioredis });
    const request = aRequest({ leaseMs: 1_000, retainMs: 2_000 });
    const ref = { ...request, fence: 1 };
    const steps = {
      claim: () => store.claim(request),
      extend: () => store.extend(ref, { leaseMs: 1_500 }),
      release: () => store.release(ref),
      'claim again': () => store.claim(request),
      complete: () => store.complete(ref, { retainMs: 2_000 }),
      forget: () => store.forget?.(request.key),
      'complete what is gone': () => store.complete(ref, { retainMs: 2_000 }),
    };
    for (const [name, step] of Object.entries(steps)) {
      await step();
      const ttl = await ioredis.pttl(`service-webhooks:${request.key}`);
      if (name === 'forget') expect(ttl).toBe(-2);
      else expect(ttl, `after ${name}`).toSatisfy((ms: number) => ms > 0 && ms <= 2_000);
    }
    await store.forget?.(request.key);
  });

  it('a row lives at least as long as the lease that its owner extends', async () => {
    const store = redisStore({ ioredis: open() });
    const request = aRequest({ leaseMs: 1_000, retainMs: 1_000 });
    const { fence } = await store.claim(request);
    await store.extend({ ...request, fence }, { leaseMs: 60_000 });
    const { leaseMsLeft = 0, retainMsLeft = 0 } = (await store.inspect?.(request.key)) ?? {};
    expect(leaseMsLeft).toBeGreaterThan(30_000);
    expect(retainMsLeft).toBe(leaseMsLeft);
    await store.forget?.(request.key);
  });

  it('a lease lasts to its end where the retention is shorter or longer', async () => {
    const store = redisStore({ ioredis: open() });
    for (const retainMs of [40_000, 50_000, 10_000_000_000_000]) {
      const request = aRequest({ leaseMs: 50_000, retainMs });
      await store.claim(request);
      const result = await store.claim({ ...request, token: 'other' });
      expect(result).toMatchObject({ status: 'in_progress' });
      expect((result as { retryAfterMs: number }).retryAfterMs).toSatisfy((ms: number) => ms > 40_000 && ms <= 50_000);
      await store.forget?.(request.key);
    }
  });

  it('a claim in the last milliseconds of a lease is answered with 1 ms or more to wait', async () => {
    const store = redisStore({ ioredis: open() });
    const left: number[] = [];
    for (let round = 0; round < 100; round += 1) {
      const request = aRequest({ leaseMs: 2, retainMs: 1_000 });
      const claims = Array.from({ length: 100 }, (_, nth) => store.claim({ ...request, token: `${nth}` }));
      for (const result of await Promise.all(claims)) {
        if (result.status === 'in_progress') left.push(result.retryAfterMs);
      }
    }
    expect(new Set(left)).toEqual(new Set([1, 2]));
  });

  it('each report is a key that expires by itself, and the index expires with the last of them', async () => {
    const { ioredis, name, keys, store } = reports();
    await store.saveReport?.({ name, instance: 'long', text: '"long"', ttlMs: 60_000 });
    await store.saveReport?.({ name, instance: 'short', text: '"short"', ttlMs: 30_000 });
    const lives = await Promise.all((await keys()).map((key) => ioredis.pttl(key)));
    expect(lives.map((ms) => Math.ceil(ms / 30_000) * 30_000)).toEqual([60_000, 60_000, 30_000]);
  });

  it('the reports of receivers beyond the newest 1,000 of an endpoint are removed', async () => {
    const { name, keys, store } = reports();
    const instances = Array.from({ length: 1_500 }, (_, nth) => `receiver-${nth}`);
    await Promise.all(instances.map((instance) => store.saveReport?.({ name, instance, text: '{}', ttlMs: 60_000 })));
    expect(await keys()).toHaveLength(1_001);
  });

  it('reports that have expired leave no entry in the index', async () => {
    const { ioredis, name, keys, store } = reports();
    await store.saveReport?.({ name, instance: 'gone', text: '{}', ttlMs: 1 });
    await vi.waitFor(async () => expect(await store.loadReports?.(name)).toEqual([]), PATIENTLY);
    await store.saveReport?.({ name, instance: 'new', text: '{}', ttlMs: 60_000 });
    const [index = ''] = await keys();
    expect(await ioredis.zrange(index, '0', '-1')).toEqual(['new']);
  });

  it('the reports of an earlier version, which were one hash, are left alone', async () => {
    const { ioredis, name, store } = reports();
    const earlier = `service-webhooks::reports:${name}`;
    await ioredis.hset(earlier, 'old', `${Date.now() + 60_000}\n"old"`);
    for (const endpoint of [name, `{${name}}`]) {
      await store.saveReport?.({ name: endpoint, instance: 'new', text: '"new"', ttlMs: 60_000 });
      expect(await store.loadReports?.(endpoint)).toEqual(['"new"']);
    }
    expect(await ioredis.hlen(earlier)).toBe(1);
    await ioredis.del(earlier);
  });

  it('a store finds its rows under the prefix of ioredis as well', async () => {
    const store = redisStore({ ioredis: open({ keyPrefix: 'app:' }) }, { keyPrefix: 'hooks:' });
    const request = aRequest();
    await store.claim(request);
    expect(await open().exists(`app:hooks:${request.key}`)).toBe(1);
    expect(await store.inspect?.(request.key)).toMatchObject({ state: 'in_progress', attempt: 1 });
    await store.forget?.(request.key);
  });

  it('a store reads a client that answers with buffers', async () => {
    const store = redisStore({ nodeRedis: openNode().withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) });
    const request = aRequest();
    expect(await store.claim(request)).toMatchObject({ status: 'acquired' });
    expect(await store.claim({ ...request, token: 'other' })).toMatchObject({ status: 'in_progress' });
    await store.forget?.(request.key);
  });

  it('a foreign value under the key is not changed', async () => {
    const ioredis = open();
    const store = redisStore({ ioredis }, { keyPrefix: '' });
    const request = aRequest();
    const ref = { ...request, fence: 1 };
    for (const put of [() => ioredis.set(request.key, 'a session'), () => ioredis.hset(request.key, 'name', 'Ada')]) {
      await put();
      const before = await ioredis.dump(request.key);
      await expect(store.claim(request)).rejects.toThrow();
      for (const change of [store.extend(ref, ref), store.complete(ref, ref), store.release(ref)]) {
        expect(await change.catch(() => 'rejects')).toMatch(/^(lost|rejects)$/);
      }
      expect(await ioredis.dump(request.key)).toBe(before);
      await ioredis.del(request.key);
    }
  });

  it('a claim through a client under the name of another rejects', async () => {
    const clients = { ioredis: open(), nodeRedis: openNode(), upstash: await openUpstash() };
    const request = aRequest();
    for (const name of ['ioredis', 'nodeRedis', 'upstash'] as const) {
      for (const [other, wrong] of Object.entries(clients)) {
        if (other === name) continue;
        const store = redisStore({ [name]: wrong } as never);
        await expect(store.claim(request), `a client of ${other} as ${name}`).rejects.toThrow();
      }
    }
    expect(await clients.ioredis.exists(`service-webhooks:${request.key}`)).toBe(0);
  });

  it('a store replies so that the client of Upstash finds no JSON to parse', async () => {
    const client = await openUpstash();
    expect(await client.eval("return '123'", [], [])).toBe(123);
    const replies: unknown[] = [];
    const store = redisStore({
      upstash: {
        async eval(...args) {
          const reply = await client.eval(...args);
          replies.push(reply);
          return reply;
        },
      },
    });
    const request = aRequest({ token: '1', fingerprint: '123', alias: 'true' });
    const ref = { ...request, fence: 1 };
    await store.init?.();
    await store.claim(request);
    expect(await store.claim({ ...request, token: '2' })).toMatchObject({
      seen: { fingerprint: '123', alias: 'true' },
    });
    await store.extend(ref, ref);
    await store.release(ref);
    await store.claim(request);
    await store.complete({ ...ref, fence: 2 }, ref);
    expect(await store.inspect?.(request.key)).toMatchObject({ state: 'completed', fingerprint: '123', alias: 'true' });
    await store.forget?.(request.key);
    expect(replies.map((reply) => typeof reply)).toEqual(Array(9).fill('string'));
  });
});
