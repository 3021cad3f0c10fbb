import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type BullmqQueueOptions, bullmqProcessor, bullmqQueue } from 'service-webhooks/queue/bullmq';
import { queueSuite } from 'service-webhooks-suites';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, inShort, later, refusal } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { canStartRedis, DURABLE, startRedis } from '../support/redis.js';
import { freePort } from '../support/server-process.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { aQueued } from './queued.js';

/** A server of our own: what BullMQ keeps is killed and started again here. */
const redis = canStartRedis() ? await startRedis(...DURABLE) : undefined;
const closing: (() => Promise<unknown>)[] = [];
const closeAll = async () => {
  for (const close of closing.splice(0).reverse()) await close();
};

afterEach(closeAll);
afterAll(() => redis?.stop());

let names = 0;

function open(name = `webhooks-${++names}`, options: Partial<BullmqQueueOptions> = {}, url = redis?.url ?? '') {
  const connection = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 }).on('error', () => {});
  const bull = new Queue(name, { connection }).on('error', () => {});
  closing.push(async () => {
    await bull.close().catch(() => {});
    connection.disconnect();
  });
  return { name, bull, queue: bullmqQueue({ queue: bull, backoff: 1, ...options }) };
}

function startWorker(name: string, processor: ReturnType<typeof bullmqProcessor>, options = {}, url = redis?.url) {
  const connection = new Redis(url ?? '', { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  connection.on('error', () => {});
  const worker = new Worker(name, processor, {
    connection,
    lockDuration: 2_000,
    stalledInterval: 150,
    maxStalledCount: 1_000,
    drainDelay: 1,
    ...options,
  }).on('error', () => {});
  closing.push(async () => {
    await worker.close(true).catch(() => {});
    connection.disconnect();
  });
  return worker;
}

describe.runIf(redis)('bullmqQueue', () => {
  describe('passes the suite:', () => {
    const cases = queueSuite({
      make({ attempts }) {
        const { name, bull, queue } = open(undefined, { attempts });
        const proxies: TcpProxy[] = [];
        return {
          bull,
          queue,
          proxies,
          queue2: open(name, { attempts }).queue,
          async work(options) {
            const { hostname, port } = new URL(redis?.url ?? '');
            const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
            proxies.push(proxy);
            closing.push(() => proxy.stop());
            const worker = startWorker(name, bullmqProcessor(options), {}, `redis://127.0.0.1:${proxy.port}`);
            return { stop: () => worker.close(), kill: () => worker.close(true) };
          },
          close: closeAll,
        };
      },
      async inject({ bull }, job) {
        await bull.add('delivery', job, { attempts: 1 });
      },
      restart: () => redis?.crash(),
      disconnect({ proxies }) {
        for (const proxy of proxies) proxy.cut();
      },
      async lapse({ bull }) {
        const client = new Redis(redis?.url ?? '');
        for (const { id } of await bull.getJobs(['active'])) await client.del(bull.toKey(`${id}:lock`));
        client.disconnect();
      },
      async unreachable() {
        const port = await freePort();
        const connection = new Redis(port, { enableOfflineQueue: false, maxRetriesPerRequest: 1 }).on(
          'error',
          () => {},
        );
        const bull = new Queue('away', { connection }).on('error', () => {});
        closing.push(async () => connection.disconnect());
        return { ...bullmqQueue({ queue: bull }), init: async () => {} };
      },
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 60_000);
  });

  it('keeps finished jobs for 72 hours by their age alone, and failed ones until they are discarded', async () => {
    const { queue, bull } = open();
    await queue.put(aQueued());
    const [job] = await bull.getJobs(['wait']);
    expect(job?.opts).toMatchObject({ removeOnComplete: { age: 72 * 3_600 }, removeOnFail: false, attempts: 10 });
  });

  it('runs a job again whose workers died more often than the default of maxStalledCount allows', async () => {
    const { name, queue } = open();
    const queued = aQueued();
    await queue.put(queued);
    const attempts: number[] = [];
    for (let death = 1; death <= 3; death += 1) {
      const victim = startWorker(
        name,
        bullmqProcessor({ logger: false, on: { '*': (_, { attempt }) => hang(attempts.push(attempt)) } }),
      );
      await vi.waitFor(() => expect(attempts).toHaveLength(death), PATIENTLY);
      await victim.close(true);
    }
    startWorker(name, bullmqProcessor({ logger: false, on: { '*': (_, { attempt }) => void attempts.push(attempt) } }));
    await vi.waitFor(async () => expect(await queue.stats()).toEqual({ depth: 0, oldestMs: 0, dead: 0 }), PATIENTLY);
    expect(attempts).toEqual([1, 2, 3, 4]);
  });

  it('a job whose data another program has changed has its attempts, and no more', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 2 });
    await bull.add('delivery', { ...aQueued(), stalledBefore: 'many' }, { attempts: 2, jobId: 'foreign' });
    const attempts: number[] = [];
    const failing = (_: unknown, { attempt }: { attempt: number }) => {
      attempts.push(attempt);
      throw new Error('no disk');
    };
    startWorker(name, bullmqProcessor({ logger: false, on: { '*': failing } }));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(attempts).toEqual([1, 2]);
    expect(await queue.deadLetters()).toMatchObject([{ attempts: 2, reason: 'no disk' }]);
  });

  it('a retry that waits for the time of a clock that went back runs after the next delivery', async () => {
    const backoff = 60_000;
    const { name, bull, queue } = open(undefined, { backoff });
    const runs: string[] = [];
    const failsOnce = ({ id }: { id: string }, { attempt }: { attempt: number }) => {
      runs.push(`${id}, attempt ${attempt}`);
      if (runs.length === 1) throw new Error('no disk');
    };
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    startWorker(name, bullmqProcessor({ logger: false, on: { '*': failsOnce } }));
    await queue.put(aQueued({ eventId: 'evt_retried' }));
    await vi.waitFor(async () => expect(await bull.getJobCounts('delayed')).toEqual({ delayed: 1 }), PATIENTLY);
    vi.useRealTimers();
    await open(name, { backoff }).queue.put(aQueued({ eventId: 'evt_next' }));
    await vi.waitFor(() => expect(runs).toHaveLength(3), PATIENTLY);
    expect(runs.sort()).toEqual(['evt_next, attempt 1', 'evt_retried, attempt 1', 'evt_retried, attempt 2']);
  });

  it('more delayed jobs of another program than one look has do not hide a retry', async () => {
    const { name, bull, queue } = open(undefined, { backoff: 60_000 });
    const delay = 48 * 3_600_000;
    await bull.addBulk(Array.from({ length: 1_000 }, () => ({ name: 'other', data: {}, opts: { delay } })));
    const runs = vi.fn((_: unknown, { attempt }: { attempt: number }) => {
      if (runs.mock.calls.length === 1) throw new Error('no disk');
      return void attempt;
    });
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + 3_600_000 });
    startWorker(name, bullmqProcessor({ logger: false, on: { '*': runs } }));
    await queue.put(aQueued());
    await vi.waitFor(async () => expect(await bull.getJobCounts('delayed')).toEqual({ delayed: 1_001 }), PATIENTLY);
    vi.setSystemTime(Date.now() - 3_600_000);
    const receiver = open(name).queue;
    for (let look = 0; look < 2; look += 1) {
      await receiver.put(aQueued());
      await vi.advanceTimersByTimeAsync(10_000);
    }
    await receiver.put(aQueued());
    vi.useRealTimers();
    await vi.waitFor(() => expect(runs).toHaveBeenCalledTimes(5), PATIENTLY);
    expect(runs.mock.calls.map(([, { attempt }]) => attempt).sort()).toEqual([1, 1, 1, 1, 2]);
  });

  it('a retry that waits for its backoff is not run earlier by the next delivery', async () => {
    const { name, bull, queue } = open(undefined, { backoff: 60_000 });
    const runs = vi.fn(({ id }: { id: string }) => {
      if (id === 'evt_retried') throw new Error('no disk');
    });
    startWorker(name, bullmqProcessor({ logger: false, on: { '*': runs } }));
    await queue.put(aQueued({ eventId: 'evt_retried' }));
    await vi.waitFor(async () => expect(await bull.getJobCounts('delayed')).toEqual({ delayed: 1 }), PATIENTLY);
    const [before] = await delayedUntil(bull);
    await open(name).queue.put(aQueued({ eventId: 'evt_next' }));
    await vi.waitFor(() => expect(runs).toHaveBeenCalledTimes(2), PATIENTLY);
    expect(await delayedUntil(bull)).toEqual([before]);
  });

  it('a job whose stalled runs another program has set to more than it has gets no more attempts for it', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 2 });
    await bull.add('delivery', { ...aQueued(), stalledBefore: 1_000_000 }, { attempts: 2 });
    const attempts: number[] = [];
    const on = { '*': (_: unknown, { attempt }: { attempt: number }) => hang(attempts.push(attempt)) };
    for (let death = 1; death <= 2; death += 1) {
      const victim = startWorker(name, bullmqProcessor({ logger: false, on }));
      await vi.waitFor(() => expect(attempts).toHaveLength(death), PATIENTLY);
      await victim.close(true);
    }
    startWorker(name, bullmqProcessor({ logger: false, on }));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 1 }), PATIENTLY);
    expect(await queue.deadLetters()).toEqual([]);
  });

  it.each(['failed', 'delayed', 'marker', 'id'])(
    "retries no dead letter by the name of BullMQ's key %s",
    async (id) => {
      const { queue, bull } = open();
      await bull.add('other', {}, { delay: 60_000 });
      await queue.put(aQueued());
      expect(await queue.retry(id)).toBe(false);
      expect(await queue.discard(id)).toBe(false);
    },
  );

  it.each(['UnrecoverableError', 'DelayedError', 'WaitingError', 'bullmq:rateLimitExceeded'])(
    'a handler whose error is %s to BullMQ fails as any other, and its dead letter is reported',
    async (name) => {
      const { name: queueName, queue } = open(undefined, { attempts: 2 });
      const observe = vi.fn();
      const failing = () => {
        throw Object.assign(new Error(name), { name });
      };
      startWorker(queueName, bullmqProcessor({ logger: false, observe, on: { '*': failing } }));
      await queue.put(aQueued());
      await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
      expect(observe.mock.calls.map(([{ kind }]) => kind)).toEqual(['failed', 'failed', 'dead_letter']);
    },
  );

  it('a worker that has lost the lock reports no dead letter', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 1 });
    const observe = vi.fn();
    const start = later();
    const runs = vi.fn(async () => {
      await start.promise;
      throw new Error('no disk');
    });
    startWorker(name, bullmqProcessor({ logger: false, observe, on: { '*': runs } }), { stalledInterval: 60_000 });
    await queue.put(aQueued());
    await vi.waitFor(() => expect(runs).toHaveBeenCalledTimes(1), PATIENTLY);
    const client = new Redis(redis?.url ?? '');
    closing.push(async () => client.disconnect());
    const [job] = await bull.getJobs(['active']);
    await client.del(bull.toKey(`${job?.id}:lock`));
    start.resolve();
    await vi.waitFor(() => expect(observe).toHaveBeenCalled(), PATIENTLY);
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 1, dead: 0 }), PATIENTLY);
    expect(observe.mock.calls.map(([{ kind }]) => kind)).toEqual(['failed']);
  });

  it('says for each worker that it has the default of maxStalledCount, under which such a job is a dead letter', async () => {
    const { name, queue } = open();
    await queue.put(aQueued());
    const logger = { error: vi.fn(), warn: vi.fn() };
    const runs = vi.fn();
    const handlers = { logger, on: { '*': () => hang(runs()) } };
    for (let death = 1; death <= 2; death += 1) {
      const victim = startWorker(name, bullmqProcessor(handlers), { maxStalledCount: 1 });
      await vi.waitFor(() => expect(runs).toHaveBeenCalledTimes(death), PATIENTLY);
      await victim.close(true);
    }
    const third = startWorker(name, bullmqProcessor(handlers), { maxStalledCount: 1 });
    const letters = await vi.waitFor(async () => {
      const found = await queue.deadLetters();
      expect(found).toHaveLength(1);
      return found;
    }, PATIENTLY);
    expect(letters).toMatchObject([{ reason: 'job stalled more than allowable limit' }]);
    expect(runs).toHaveBeenCalledTimes(2);
    expect(logger.warn.mock.calls.map(([line]) => line)).toEqual([
      expect.stringContaining('Set maxStalledCount of the Worker to 1000'),
      expect.stringContaining('Set maxStalledCount of the Worker to 1000'),
    ]);
    await third.close(true);
    await queue.retry(String(letters[0]?.id));
    startWorker(name, bullmqProcessor({ logger: false, on: { '*': (_, { attempt }) => void runs(attempt) } }));
    await vi.waitFor(() => expect(runs).toHaveBeenLastCalledWith(1), PATIENTLY);
  });

  it('a receiver that listens before Redis is ready answers 202 at its first delivery', async () => {
    const server = await startRedis();
    closing.push(() => server.stop());
    // As an app does: the delivery comes before the connection has been made.
    const connection = new Redis(server.url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
    connection.on('error', () => {});
    closing.push(async () => connection.disconnect());
    const bull = new Queue('early', { connection }).on('error', () => {});
    closing.push(() => bull.close().catch(() => {}));
    const { receiver } = aReceiver({ on: undefined, queue: bullmqQueue({ queue: bull }) });
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
  });

  it('a receiver answers 503 while Redis is away, and takes the delivery when it is back', async () => {
    const server = await startRedis(...DURABLE);
    closing.push(() => server.stop());
    const connection = new Redis(server.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 1,
      retryStrategy: () => 50,
    });
    connection.on('error', () => {});
    closing.push(async () => connection.disconnect());
    const bull = new Queue('away', { connection }).on('error', () => {});
    closing.push(() => bull.close().catch(() => {}));
    const { receiver } = aReceiver({ on: undefined, queue: bullmqQueue({ queue: bull }), deadlineMs: 2_000 });
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
    server.freeze();
    expect(inShort(await receiver(aRequest({ event: { id: 'evt_2' } })))).toBe('503 queue_unavailable');
    server.thaw();
    await server.crash();
    await vi.waitFor(async () => {
      expect(inShort(await receiver(aRequest({ event: { id: 'evt_3' } })))).toBe('202 queued');
    }, PATIENTLY);
    expect(inShort(await receiver(aRequest()))).toBe('202 known');
  });

  it.each<[string, object]>([
    ['queue must be a Queue of BullMQ', {}],
    ["Did you mean 'attempts'?", { queue: fake(), attempt: 1 }],
    ['retainMs must be at least', { queue: fake(), retainMs: 1 }],
    ['name must be 1 to 64', { queue: fake(), name: 'a:b' }],
  ])('says %j', (message, options) => {
    const error = refusal(() => bullmqQueue(options as never));
    expect(error.message).toContain(message);
    expect(error.code).toBe('invalid_option');
  });
});

/** Returns the scores of the delayed jobs. */
async function delayedUntil(bull: Queue): Promise<string[]> {
  const client = new Redis(redis?.url ?? '');
  closing.push(async () => client.disconnect());
  return (await client.zrange(bull.toKey('delayed'), '0', '-1', 'WITHSCORES')).filter((_, i) => i % 2 === 1);
}

function fake() {
  return { name: 'x', add() {}, getJob() {}, waitUntilReady() {}, getBackend() {} };
}

function hang(_: unknown): Promise<never> {
  return new Promise(() => {});
}
