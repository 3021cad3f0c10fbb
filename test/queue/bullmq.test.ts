import { type Processor, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { type BullmqQueueOptions, bullmqProcessor, bullmqQueue } from 'service-webhooks/queue/bullmq';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { WorkerOptions } from '../../src/queue/processor.js';
import { asQueued } from '../../src/queue/stored-values.js';
import { aReceiver, aRequest, inShort, later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { canStartRedis, DURABLE, startRedis } from '../support/redis.js';
import { freePort } from '../support/server-process.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failing, failingForGood, type Recorded, recorded, untilDeadLetter, untilStats } from './runs.js';

/** A server of our own: what BullMQ keeps is killed and started again here. */
const redis = canStartRedis() ? await startRedis(...DURABLE) : undefined;
const { atEnd, proxied, disconnect } = closeAfterEach();

afterAll(() => redis?.stop());

let names = 0;

function connect(url = redis?.url ?? '', settings = {}) {
  const connection = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50, ...settings });
  return connection.on('error', () => {});
}

function open(name = `webhooks-${++names}`, options: Partial<BullmqQueueOptions> = {}, connection = connect()) {
  const bull = new Queue(name, { connection }).on('error', () => {});
  atEnd(async () => {
    await bull.close().catch(() => {});
    connection.disconnect();
  });
  return { name, bull, connection, queue: bullmqQueue({ queue: bull, backoff: 1, ...options }) };
}

/** A queue on a connection of an app, which does not wait for Redis. */
const openImpatiently = (url: string) =>
  open('webhooks', {}, connect(url, { enableOfflineQueue: false, maxRetriesPerRequest: 1 })).queue;

function startWorker(name: string, options: WorkerOptions, settings = {}, connection = connect()) {
  return startWorkerWith(name, bullmqProcessor({ logger: false, ...options }), settings, connection);
}

function startWorkerWith(name: string, process: Processor, settings = {}, connection = connect()) {
  const worker = new Worker(name, process, {
    connection,
    lockDuration: 2_000,
    stalledInterval: 150,
    maxStalledCount: 1_000,
    drainDelay: 1,
    ...settings,
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
    const victim = startWorker(name, { on: handler.on, ...options }, settings);
    await vi.waitFor(() => expect(handler.runs).toHaveLength(death), PATIENTLY);
    await victim.close(true);
  }
}

/** A job that has failed once and waits for a minute, next to a worker and as many other jobs as are given. */
async function aRetry(handler: Recorded, others: Parameters<Queue['addBulk']>[0] = []) {
  const opened = open(undefined, { backoff: 60_000 });
  await opened.bull.addBulk(others);
  startWorker(opened.name, { on: handler.on });
  await opened.queue.put(aQueued({ eventId: 'evt_retried' }));
  const delayed = others.length + 1;
  await vi.waitFor(async () => expect(await opened.bull.getJobCounts('delayed')).toEqual({ delayed }), PATIENTLY);
  return opened;
}

describe.runIf(redis)('bullmqQueue', () => {
  testEngine(
    {
      make({ attempts, options = {} }) {
        const opened = open(undefined, { attempts, ...options });
        const { name } = opened;
        return {
          ...opened,
          another: () => open(name, { attempts, ...options }).queue,
          async work(options) {
            const { url } = await proxied(redis?.url ?? '');
            const worker = startWorker(name, options, {}, connect(url));
            return { stop: () => worker.close(), kill: () => worker.close(true) };
          },
        };
      },
      async inject({ bull }, job) {
        await bull.add('delivery', job, { attempts: 1 });
      },
      restart: () => redis?.crash(),
      disconnect,
      lapse: (made) => takeLocks(made),
      async unreachable() {
        return { ...openImpatiently(`redis://127.0.0.1:${await freePort()}`), init: async () => {} };
      },
    },
    {
      changed: {
        'text in the data': ({ bull }, queued) =>
          bull.add('delivery', { ...queued, stalledBefore: 'many' }, { attempts: 2 }),
      },
    },
  );

  it('finished jobs are kept for 72 hours, and failed ones until they are discarded', async () => {
    const { queue, bull } = open();
    await queue.put(aQueued());
    const [job] = await bull.getJobs(['wait']);
    expect(job?.opts).toMatchObject({ removeOnComplete: { age: 72 * 3_600 }, removeOnFail: false, attempts: 10 });
  });

  it('a finished job keeps its key without the delivery, and a redelivery is known', async () => {
    const { name, bull, connection, queue } = open();
    const handler = recorded();
    const queued = aQueued();
    await queue.put(queued);
    startWorker(name, { on: handler.on });
    const [job] = await untilShort(bull, 1);
    expect(job).toMatchObject({ data: { put: expect.any(String) }, opts: { attempts: 0 } });
    expect(Object.keys(job?.data)).toEqual(['put']);
    expect(await connection.object('ENCODING', bull.toKey(job?.id ?? ''))).toMatch(/listpack|ziplist/);
    expect(await queue.put(queued)).toBe('known');
    await queue.put(aQueued());
    await untilShort(bull, 2);
    expect(handler.attempts()).toEqual([1, 1]);
  });

  it('a job keeps its delivery until BullMQ has recorded its end', async () => {
    const opened = open();
    const { name, bull, queue } = opened;
    const gates = [later(), later()];
    const handler = recorded(() => gates[handler.runs.length - 1]?.promise);
    const worker = startWorker(name, { on: handler.on });
    const lost = new Promise((resolve) => worker.once('error', resolve));
    await queue.put(aQueued());
    await handler.haveRun(1);
    await takeLocks(opened);
    gates[0]?.resolve();
    await lost;
    await handler.haveRun(1, 2);
    expect((await bull.getJobs(['active'])).map(({ data }) => asQueued(data))).toEqual([expect.anything()]);
    gates[1]?.resolve();
    await untilShort(bull, 1);
    expect(handler.attempts()).toEqual([1, 2]);
  });

  it('a finished job that a worker has run by other code keeps its data and options', async () => {
    const { name, bull, queue } = open();
    const process = bullmqProcessor({ on: { '*': () => {} }, logger: false });
    startWorkerWith(name, async (job, token, signal) => {
      if ((job as { name?: string }).name === 'delivery') await process(job, token, signal);
    });
    await queue.put(aQueued());
    await untilShort(bull, 1);
    await bull.add('other', { mine: true }, { jobId: 'other-job', attempts: 3 });
    await vi.waitFor(async () => expect(await bull.getCompletedCount()).toBe(2), PATIENTLY);
    await queue.put(aQueued());
    await vi.waitFor(async () => expect(await bull.getCompletedCount()).toBe(3), PATIENTLY);
    expect(await bull.getJob('other-job')).toMatchObject({ data: { mine: true }, opts: { attempts: 3 } });
  });

  it('each of two workers with one processor removes the deliveries of its jobs', async () => {
    const { name, bull, queue } = open();
    const gate = later();
    const process = bullmqProcessor({ on: { '*': () => gate.promise }, logger: false });
    for (let i = 0; i < 2; i += 1) startWorkerWith(name, process);
    for (let i = 0; i < 2; i += 1) await queue.put(aQueued());
    await vi.waitFor(async () => expect(await bull.getActiveCount()).toBe(2), PATIENTLY);
    gate.resolve();
    await untilShort(bull, 2);
  });

  it('fields that another program has added to a finished job stay', async () => {
    const { name, bull, connection, queue } = open();
    const gate = later();
    startWorker(name, { on: { '*': () => gate.promise } });
    await queue.put(aQueued());
    await vi.waitFor(async () => expect(await bull.getActiveCount()).toBe(1), PATIENTLY);
    const [{ id = '' } = {}] = await bull.getJobs(['active']);
    const fields = Array.from({ length: 10_000 }, (_, n) => [`field ${n}`, String(n)]).flat();
    await connection.hset(bull.toKey(id), ...fields);
    gate.resolve();
    await untilShort(bull, 1);
    expect(await connection.hget(bull.toKey(id), 'field 9999')).toBe('9999');
    expect(await bull.getCompletedCount()).toBe(1);
  });

  describe('a put', () => {
    const idOf = ({ key }: { key: string }) => encodeURIComponent(key);

    it('reads no job back', async () => {
      const { bull, queue } = open();
      const getJob = vi.spyOn(bull, 'getJob');
      const delivery = aQueued();
      expect([await queue.put(delivery), await queue.put(delivery)]).toEqual(['queued', 'known']);
      expect(getJob).not.toHaveBeenCalled();
    });

    it('knows a job of a receiver of the version before, which knows one of this version', async () => {
      const { name, bull, queue } = open();
      const putBefore = async (delivery: ReturnType<typeof aQueued>) => {
        const own = crypto.randomUUID();
        await bull.add('delivery', { ...delivery, put: own }, { jobId: idOf(delivery), attempts: 10 });
        return (await bull.getJob(idOf(delivery)))?.data.put === own ? 'queued' : 'known';
      };
      const [one, two] = [aQueued({ eventId: 'evt_1' }), aQueued({ eventId: 'evt_2' })];
      expect([await putBefore(one), await queue.put(one)]).toEqual(['queued', 'known']);
      expect([await queue.put(two), await putBefore(two)]).toEqual(['queued', 'known']);
      const handler = recorded();
      startWorker(name, { on: handler.on });
      await untilStats(queue);
      expect(handler.ids().sort()).toEqual(['evt_1', 'evt_2']);
    });

    it('knows a job that is done, and is queued again after another program removed it', async () => {
      const { name, bull, queue } = open();
      const delivery = aQueued();
      await queue.put(delivery);
      const worker = startWorker(name, { on: {} });
      await untilStats(queue);
      await worker.close();
      expect(await queue.put(delivery)).toBe('known');
      await bull.remove(idOf(delivery));
      expect(await queue.put(delivery)).toBe('queued');
    });

    it('of a job that another program removes at once does not reject', async () => {
      const { bull, queue } = open();
      const add = bull.add.bind(bull);
      vi.spyOn(bull, 'add').mockImplementation(async (...args) => {
        const job = await add(...args);
        await bull.remove(String(job.id));
        return job;
      });
      expect(['queued', 'known']).toContain(await queue.put(aQueued()));
      expect(await queue.stats()).toMatchObject({ depth: 0 });
    });

    it('is not mistaken for another one where a job has other data', async () => {
      const { bull, queue } = open();
      const delivery = aQueued();
      await bull.add('other', 'text' as never, { jobId: idOf(delivery) });
      expect(await queue.put(delivery)).toBe('known');
    });
  });

  it('the next delivery runs a retry that waits for a clock that went back', async () => {
    const handler = recorded(() => handler.runs.length === 1 && failing());
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    const { name } = await aRetry(handler);
    vi.useRealTimers();
    await open(name, { backoff: 60_000 }).queue.put(aQueued({ eventId: 'evt_next' }));
    await vi.waitFor(() => expect(handler.runs).toHaveLength(3), PATIENTLY);
    expect(handler.attempts('evt_retried')).toEqual([1, 2]);
    expect(handler.attempts('evt_next')).toEqual([1]);
  });

  it('a retry is found behind a thousand delayed jobs of another program', async () => {
    const other = { name: 'other', data: {}, opts: { delay: 48 * 3_600_000 } };
    const handler = recorded(() => handler.runs.length === 1 && failing());
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: Date.now() + 3_600_000 });
    const { name } = await aRetry(handler, Array(1_000).fill(other));
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
    const handler = recorded(({ id }) => id === 'evt_retried' && failing());
    const { name, bull, connection } = await aRetry(handler);
    const delayed = () => connection.zrange(bull.toKey('delayed'), '0', '-1', 'WITHSCORES');
    const before = await delayed();
    await open(name).queue.put(aQueued({ eventId: 'evt_next' }));
    await vi.waitFor(() => expect(handler.ids()).toEqual(['evt_retried', 'evt_next']), PATIENTLY);
    expect(await delayed()).toEqual(before);
  });

  it('a job gets no more attempts where another program raised its stalled runs', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 2 });
    await bull.add('delivery', { ...aQueued(), stalledBefore: 1_000_000 }, { attempts: 2 });
    const handler = recorded(never);
    await dieRunning(name, handler, 2);
    startWorker(name, { on: handler.on });
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
    async (thrown) => {
      const { name, queue } = open(undefined, { attempts: 2 });
      const observe = vi.fn();
      const handler = recorded(() => Promise.reject(Object.assign(new Error(thrown), { name: thrown })));
      startWorker(name, { observe, on: handler.on });
      await queue.put(aQueued());
      await untilStats(queue, { depth: 0, dead: 1 });
      expect(observe.mock.calls.map(([{ kind }]) => kind)).toEqual(['failed', 'failed', 'dead_letter']);
    },
  );

  it('a dead letter has no stack but that of its last failure, whatever another program stored', async () => {
    const { name, bull, queue, connection } = open(undefined, { attempts: 1 });
    await queue.put(aQueued());
    startWorker(name, { on: { '*': failing } });
    const { id, stack } = await untilDeadLetter(queue);
    expect(stack).toMatch(/^Error: no disk\n +at /);
    const stored = (stacktrace: string) => connection.hset(bull.toKey(id), 'stacktrace', stacktrace);
    for (const stacktrace of ['["no disk"]', '["Error: another"]', '[null]', '[]', '{"0":1}', 'no JSON']) {
      await stored(stacktrace);
      expect(await queue.deadLetters()).toMatchObject([{ reason: 'no disk', stack: undefined }]);
    }
    await stored(JSON.stringify([`no disk\n\n\u001b${'a'.repeat(5_000)}`]));
    expect((await untilDeadLetter(queue)).stack).toBe(`\\u001b${'a'.repeat(3_994)}`);
  });

  it('a job keeps one stack, however often it fails', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 3 });
    await queue.put(aQueued());
    startWorker(name, { on: { '*': failing } });
    const { id } = await untilDeadLetter(queue);
    expect((await bull.getJob(id))?.stacktrace).toEqual([expect.stringMatching(/^no disk\n\nError: no disk\n/)]);
  });

  it('a retried dead letter that another program deletes counts as done', async () => {
    const { name, bull, queue } = open(undefined, { attempts: 1 });
    await queue.put(aQueued());
    const worker = startWorker(name, { on: { '*': failing } });
    const { id } = await untilDeadLetter(queue);
    await worker.close();
    const followed = await queue.retryAndFollow?.(id);
    expect(await followed?.state()).toBe('pending');
    await bull.obliterate({ force: true });
    expect(await followed?.state()).toBe('done');
  });

  it('a worker without the lock reports no dead letter', async () => {
    const opened = open(undefined, { attempts: 1 });
    const { name, queue } = opened;
    const observe = vi.fn();
    const start = later();
    const handler = recorded(() => start.promise.then(failing));
    startWorker(name, { observe, on: handler.on }, { stalledInterval: 60_000 });
    await queue.put(aQueued());
    await handler.haveRun(1);
    await takeLocks(opened);
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
    const third = startWorker(name, { logger, on: handler.on }, { maxStalledCount: 1 });
    const letter = await untilDeadLetter(queue);
    expect(letter).toMatchObject({ reason: 'job stalled more than allowable limit', stack: undefined });
    expect(handler.runs).toHaveLength(2);
    expect(logger.warn.mock.calls.map(([line]) => line)).toEqual([
      expect.stringContaining('Set maxStalledCount of the Worker to 1000'),
      expect.stringContaining('Set maxStalledCount of the Worker to 1000'),
    ]);
    await third.close(true);
    await queue.retry(letter.id);
    startWorker(name, { on: handler.on });
    await vi.waitFor(() => expect(handler.attempts().slice(2)).toEqual([1]), PATIENTLY);
  });

  it('a receiver answers 202 before Redis is ready, 503 while it is away, and 202 when it is back', async () => {
    const server = await startRedis(...DURABLE);
    atEnd(() => server.stop());
    const { receiver } = aReceiver({ on: undefined, queue: openImpatiently(server.url), deadlineMs: 2_000 });
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

  it('the age of a retried dead letter counts from its retry', async () => {
    const { name, bull, connection, queue } = open();
    await queue.put(aQueued());
    const worker = startWorker(name, { on: { '*': failingForGood } });
    const { id } = await untilDeadLetter(queue);
    await worker.close();
    await connection.hset(bull.toKey(id), 'timestamp', Date.now() - 24 * 3_600_000);
    await queue.retry(id);
    const { depth, oldestMs } = await queue.stats();
    expect([depth, Number(oldestMs) < 3_600_000]).toEqual([1, true]);
  });
});

/** Resolves to the finished jobs once there are so many, none with its delivery. */
async function untilShort(bull: Queue, count: number) {
  const finished = () => bull.getJobs(['completed']);
  await vi.waitFor(async () => {
    const jobs = await finished();
    expect(jobs.map(({ data }) => asQueued(data))).toEqual(Array(count).fill(undefined));
  }, PATIENTLY);
  return finished();
}

/** As where a worker was paused for longer than its lock. */
async function takeLocks({ bull, connection }: ReturnType<typeof open>): Promise<void> {
  for (const { id } of await bull.getJobs(['active'])) await connection.del(bull.toKey(`${id}:lock`));
}
