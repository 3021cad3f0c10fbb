import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { PATIENTLY } from '../../support/patiently.js';
import { canStartRedis, DURABLE, startRedis } from '../../support/redis.js';
import { load } from './example.js';
import { takeRedisDatabase } from './servers.js';

interface Queue {
  add(name: string, data: object, options: object): Promise<unknown>;
  getJob(id: string): Promise<{ retry(): Promise<void>; getState(): Promise<string> } | undefined>;
  on(event: 'error', listener: () => void): unknown;
  close(): Promise<void>;
}
interface Worker {
  getNextJob(token: string): Promise<unknown>;
  close(force?: boolean): Promise<void>;
  on(event: 'error', listener: () => void): unknown;
}
interface BullMq {
  Queue: new (name: string, options: object) => Queue;
  Worker: new (name: string, process: ((job: { id: string }) => Promise<void>) | null, options: object) => Worker;
}

const redis = await takeRedisDatabase();
const closing: (() => Promise<void>)[] = [];
let queues = 0;

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => redis?.drop());

/** What the page about queues says of BullMQ. */
describe.runIf(redis)('a BullMQ queue of events', () => {
  it('an event sent again after its job finished is done again with removeOnComplete: true', async () => {
    const { add, runs, done } = start();
    await add({ jobId: 'evt_1', removeOnComplete: true });
    await done();
    await add({ jobId: 'evt_1', removeOnComplete: true });
    await done();
    expect(runs('evt_1')).toBe(2);
  });

  it('a redelivery while the job of the event runs adds no second job', async () => {
    const { add, runs, done } = start(async () => void (await add({ jobId: 'evt_1' })));
    await add({ jobId: 'evt_1' });
    await done();
    expect(runs('evt_1')).toBe(1);
  });

  it('an event sent again within removeOnComplete: { age } is not done again', async () => {
    const { add, runs, done } = start();
    await add({ jobId: 'evt_1', removeOnComplete: { age: 3_600 } });
    await done();
    await add({ jobId: 'evt_1', removeOnComplete: { age: 3_600 } });
    await done();
    expect(runs('evt_1')).toBe(1);
  });

  it('an event is done again once removeOnComplete: { count } has removed its job', async () => {
    const { add, runs, done } = start();
    const options = { removeOnComplete: { age: 3_600, count: 1 } };
    for (const jobId of ['evt_1', 'evt_2', 'evt_1']) {
      await add({ jobId, ...options });
      await done(options);
    }
    expect(runs('evt_1')).toBe(2);
  });

  it('an event sent again after its job finished is done again with deduplication: { id } alone', async () => {
    const { queue, processed, done } = start();
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await queue.add('event', {}, { deduplication: { id: 'evt_1' } });
      await done();
    }
    expect(processed.filter((id) => !id.startsWith('last'))).toHaveLength(2);
  });

  it('a redelivery does not run a failed job again, and job.retry() does', async () => {
    let broken = true;
    const { queue, add, runs, done } = start(async () => {
      if (broken) throw new Error('the work cannot be done');
    });
    await add({ jobId: 'evt_1' });
    await state(queue, 'evt_1', 'failed');
    broken = false;
    await add({ jobId: 'evt_1' });
    await done();
    expect(runs('evt_1')).toBe(1);
    expect(await (await queue.getJob('evt_1'))?.getState()).toBe('failed');

    await (await queue.getJob('evt_1'))?.retry();
    await state(queue, 'evt_1', 'completed');
    expect(runs('evt_1')).toBe(2);
  });

  it.each(['evt:1', '42'])('BullMQ refuses the job id %j', async (jobId) => {
    const { queue } = start();
    await expect(queue.add('event', {}, { jobId })).rejects.toThrow(/Custom Id cannot/);
  });

  it('an event whose worker died is done by another worker', async () => {
    const { queue, add, runs, open } = startOn(redis?.url ?? '', nextName());
    await add({ jobId: 'evt_1' });
    // As one that dies, it takes the job and does not say another word about it.
    expect(await open(null, { lockDuration: 1_000 }).getNextJob('token')).toMatchObject({ id: 'evt_1' });
    open(async () => {}, { stalledInterval: 200 });
    await state(queue, 'evt_1', 'completed');
    expect(runs('evt_1')).toBe(1);
  });

  describe.runIf(redis && canStartRedis())('a Redis that is killed and starts again', () => {
    it.each([
      ['has forgotten', 'nothing that persists', [], undefined],
      ['has', 'a file that is written at once', DURABLE, 'waiting'],
    ])('Redis %s the queued job, with %s', async (_knows, _persistence, settings, found) => {
      const server = await startRedis(...settings);
      closing.push(() => server.stop());
      const { queue, add } = startOn(server.url, 'webhooks');
      await add({ jobId: 'evt_1' });
      await server.crash();
      expect(await (await queue.getJob('evt_1'))?.getState()).toBe(found);
    });
  });
});

/** A queue of its own with a worker, which does one job after the other. */
function start(work: () => Promise<void> = async () => {}) {
  const started = startOn(redis?.url ?? '', nextName());
  started.open(work);
  return started;
}

function nextName(): string {
  queues += 1;
  return `queue-${queues}`;
}

function startOn(url: string, name: string) {
  const { Queue, Worker } = load<BullMq>('bullmq');
  const connection = { url };
  const queue = new Queue(name, { connection });
  queue.on('error', () => {});
  closing.push(() => queue.close());
  const processed: string[] = [];
  let last = 0;
  return {
    queue,
    processed,
    runs: (id: string) => processed.filter((one) => one === id).length,
    add: (jobOptions: object) => queue.add('event', {}, jobOptions),
    open(work: (() => Promise<void>) | null, options?: object): Worker {
      const process = async ({ id }: { id: string }) => {
        processed.push(id);
        await work?.();
      };
      const worker = new Worker(name, work && process, { connection, ...options });
      worker.on('error', () => {});
      closing.push(() => worker.close(true));
      return worker;
    },
    /** When this one is done, all before it are. */
    async done(options: object = {}) {
      last += 1;
      const jobId = `last-${last}`;
      await queue.add('last', {}, { ...options, jobId });
      await state(queue, jobId, 'completed');
    },
  };
}

async function state(queue: Queue, id: string, expected: string): Promise<void> {
  await vi.waitFor(async () => expect(await (await queue.getJob(id))?.getState()).toBe(expected), PATIENTLY);
}
