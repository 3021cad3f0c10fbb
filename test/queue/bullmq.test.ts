import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type BullmqQueueOptions, bullmqProcessor, bullmqQueue } from 'service-webhooks/queue/bullmq';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, inShort, later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { canStartRedis, DURABLE, startRedis } from '../support/redis.js';
import { freePort } from '../support/server-process.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failing, type Recorded, recorded, untilDeadLetter, untilStats } from './runs.js';

/** A server of our own: what BullMQ keeps is killed and started again here. */
const redis = canStartRedis() ? await startRedis(...DURABLE) : undefined;
const { atEnd, closeAll } = closeAfterEach();

afterAll(() => redis?.stop());

let names = 0;

function open(name = `webhooks-${++names}`, options: Partial<BullmqQueueOptions> = {}, url = redis?.url ?? '') {
  const connection = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 }).on('error', () => {});
  const bull = new Queue(name, { connection }).on('error', () => {});
  atEnd(async () => {
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
  atEnd(async () => {
    await worker.close(true).catch(() => {});
    connection.disconnect();
  });
  return worker;
}

/** Runs a job in one worker after the other, each of which dies while the handler runs. */
async function dieRunning(name: string, handler: Recorded, deaths: number, options = {}, settings = {}): Promise<void> {
  for (let death = 1; death <= deaths; death += 1) {
    const victim = startWorker(name, bullmqProcessor({ logger: false, on: handler.on, ...options }), settings);
    await vi.waitFor(() => expect(handler.runs).toHaveLength(death), PATIENTLY);
    await victim.close(true);
  }
}

/** A receiver over a connection of an app, which does not wait for Redis. */
function receiverOn(url: string) {
  const settings = { enableOfflineQueue: false, maxRetriesPerRequest: 1, retryStrategy: () => 50 };
  const connection = new Redis(url, settings).on('error', () => {});
  const bull = new Queue('webhooks', { connection }).on('error', () => {});
  atEnd(async () => {
    await bull.close().catch(() => {});
    connection.disconnect();
  });
  return aReceiver({ on: undefined, queue: bullmqQueue({ queue: bull }), deadlineMs: 2_000 }).receiver;
}

describe.runIf(redis)('bullmqQueue', () => {
  testEngine(
    {
      make({ attempts }) {
        const { name, bull, queue } = open(undefined, { attempts });
        const proxies: TcpProxy[] = [];
        const another = () => open(name, { attempts }).queue;
        return {
          bull,
          queue,
          proxies,
          another,
          queue2: another(),
          async work(options) {
            const { hostname, port } = new URL(redis?.url ?? '');
            const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
            proxies.push(proxy);
            atEnd(() => proxy.stop());
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
        const settings = { enableOfflineQueue: false, maxRetriesPerRequest: 1 };
        const connection = new Redis(port, settings).on('error', () => {});
        const bull = new Queue('away', { connection }).on('error', () => {});
        atEnd(async () => connection.disconnect());
        return { ...bullmqQueue({ queue: bull }), init: async () => {} };
      },
    },
    {
      changed: {
        'text in the data': ({ bull }, queued) =>
          bull.add(
            'delivery',
            { ...queued, stalledBefore: 'many' },
            { attempts: 2, jobId: queued.receivedAt + queued.key },
          ),
      },
    },
  );

  it('finished jobs are kept for 72 hours, and failed ones until they are discarded', async () => {
    const { queue, bull } = open();
    await queue.put(aQueued());
    const [job] = await bull.getJobs(['wait']);
    expect(job?.opts).toMatchObject({ removeOnComplete: { age: 72 * 3_600 }, removeOnFail: false, attempts: 10 });
  });

  it('a job runs again after more deaths of workers than BullMQ allows by default', async () => {
    const { name, queue } = open();
    const queued = aQueued();
    await queue.put(queued);
    const handler = recorded(({ attempt }) => attempt <= 3 && never());
    await dieRunning(name, handler, 3);
    startWorker(name, bullmqProcessor({ logger: false, on: handler.on }));
    await untilStats(queue, { depth: 0, oldestMs: 0, dead: 0 });
    expect(handler.attempts()).toEqual([1, 2, 3, 4]);
  });

  it('the next delivery runs a retry that waits for a clock that went back', async () => {
    const backoff = 60_000;
    const { name, bull, queue } = open(undefined, { backoff });
    const handler = recorded(() => handler.runs.length === 1 && failing());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    startWorker(name, bullmqProcessor({ logger: false, on: handler.on }));
    await queue.put(aQueued({ eventId: 'evt_retried' }));
    await vi.waitFor(async () => expect(await bull.getJobCounts('delayed')).toEqual({ delayed: 1 }), PATIENTLY);
    vi.useRealTimers();
    await open(name, { backoff }).queue.put(aQueued({ eventId: 'evt_next' }));
    await vi.waitFor(() => expect(handler.runs).toHaveLength(3), PATIENTLY);
    expect(handler.attempts('evt_retried')).toEqual([1, 2]);
    expect(handler.attempts('evt_next')).toEqual([1]);
  });

  it('a retry is found behind a thousand delayed jobs of another program', async () => {
    const { name, bull, queue } = open(undefined, { backoff: 60_000 });
    const delay = 48 * 3_600_000;
    await bull.addBulk(Array.from({ length: 1_000 }, () => ({ name: 'other', data: {}, opts: { delay } })));
    const handler = recorded(() => handler.runs.length === 1 && failing());
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + 3_600_000 });
    startWorker(name, bullmqProcessor({ logger: false, on: handler.on }));
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
    await vi.waitFor(() => expect(handler.attempts().sort()).toEqual([1, 1, 1, 1, 2]), PATIENTLY);
  });

  it('the next delivery does not shorten the backoff of a retry', async () => {
    const { name, bull, queue } = open(undefined, { backoff: 60_000 });
    const handler = recorded(({ id }) => id === 'evt_retried' && failing());
    startWorker(name, bullmqProcessor({ logger: false, on: handler.on }));
    await queue.put(aQueued({ eventId: 'evt_retried' }));
    await vi.waitFor(async () => expect(await bull.getJobCounts('delayed')).toEqual({ delayed: 1 }), PATIENTLY);
    const [before] = await delayedUntil(bull);
    await open(name).queue.put(aQueued({ eventId: 'evt_next' }));
    await vi.waitFor(() => expect(handler.ids()).toEqual(['evt_retried', 'evt_next']), PATIENTLY);
    expect(await delayedUntil(bull)).toEqual([before]);
  });

  it('a job gets no more attempts where another program raised its stalled runs', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 2 });
    await bull.add('delivery', { ...aQueued(), stalledBefore: 1_000_000 }, { attempts: 2 });
    const handler = recorded(never);
    await dieRunning(name, handler, 2);
    startWorker(name, bullmqProcessor({ logger: false, on: handler.on }));
    await untilStats(queue, { depth: 1 });
    expect(await queue.deadLetters()).toEqual([]);
  });

  it.each(['failed', 'delayed', 'marker', 'id'])("the name of BullMQ's key %s is no dead letter", async (id) => {
    const { queue, bull } = open();
    await bull.add('other', {}, { delay: 60_000 });
    await queue.put(aQueued());
    expect(await queue.retry(id)).toBe(false);
    expect(await queue.discard(id)).toBe(false);
  });

  it.each(['UnrecoverableError', 'DelayedError', 'WaitingError', 'bullmq:rateLimitExceeded'])(
    'a handler can throw what BullMQ takes for %s, and fails as any other',
    async (name) => {
      const { name: queueName, queue } = open(undefined, { attempts: 2 });
      const observe = vi.fn();
      const failing = () => {
        throw Object.assign(new Error(name), { name });
      };
      startWorker(queueName, bullmqProcessor({ logger: false, observe, on: { '*': failing } }));
      await queue.put(aQueued());
      await untilStats(queue, { depth: 0, dead: 1 });
      expect(observe.mock.calls.map(([{ kind }]) => kind)).toEqual(['failed', 'failed', 'dead_letter']);
    },
  );

  it('a worker without the lock reports no dead letter', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 1 });
    const observe = vi.fn();
    const start = later();
    const handler = recorded(() => start.promise.then(failing));
    startWorker(name, bullmqProcessor({ logger: false, observe, on: handler.on }), { stalledInterval: 60_000 });
    await queue.put(aQueued());
    await handler.haveRun(1);
    const client = new Redis(redis?.url ?? '');
    atEnd(async () => client.disconnect());
    const [job] = await bull.getJobs(['active']);
    await client.del(bull.toKey(`${job?.id}:lock`));
    start.resolve();
    await vi.waitFor(() => expect(observe).toHaveBeenCalled(), PATIENTLY);
    await untilStats(queue, { depth: 1, dead: 0 });
    expect(observe.mock.calls.map(([{ kind }]) => kind)).toEqual(['failed']);
  });

  it('each worker with the default of maxStalledCount is warned of dead letters by it', async () => {
    const { name, queue } = open();
    await queue.put(aQueued());
    const logger = { error: vi.fn(), warn: vi.fn() };
    const handler = recorded(() => handler.runs.length <= 2 && never());
    await dieRunning(name, handler, 2, { logger }, { maxStalledCount: 1 });
    const third = startWorker(name, bullmqProcessor({ logger, on: handler.on }), { maxStalledCount: 1 });
    const letter = await untilDeadLetter(queue);
    expect(letter.reason).toBe('job stalled more than allowable limit');
    expect(handler.runs).toHaveLength(2);
    expect(logger.warn.mock.calls.map(([line]) => line)).toEqual([
      expect.stringContaining('Set maxStalledCount of the Worker to 1000'),
      expect.stringContaining('Set maxStalledCount of the Worker to 1000'),
    ]);
    await third.close(true);
    await queue.retry(letter.id);
    startWorker(name, bullmqProcessor({ logger: false, on: handler.on }));
    await vi.waitFor(() => expect(handler.attempts().slice(2)).toEqual([1]), PATIENTLY);
  });

  it('a receiver answers 202 to a delivery that comes before Redis is ready', async () => {
    const server = await startRedis();
    atEnd(() => server.stop());
    const receiver = receiverOn(server.url);
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
  });

  it('a receiver answers 503 while Redis is away, and 202 when it is back', async () => {
    const server = await startRedis(...DURABLE);
    atEnd(() => server.stop());
    const receiver = receiverOn(server.url);
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
});

/** Returns the scores of the delayed jobs. */
async function delayedUntil(bull: Queue): Promise<string[]> {
  const client = new Redis(redis?.url ?? '');
  atEnd(async () => client.disconnect());
  return (await client.zrange(bull.toKey('delayed'), '0', '-1', 'WITHSCORES')).filter((_, i) => i % 2 === 1);
}
