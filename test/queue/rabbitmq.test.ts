import type { Socket } from 'node:net';
import type { ChannelModel } from 'amqplib';
import { PermanentError } from 'service-webhooks';
import { type RabbitmqQueueOptions, rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { queueSuite } from 'service-webhooks-suites';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { later, never, refusal } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { findRabbitmq, openRabbitmq } from '../support/rabbitmq.js';
import { freePort } from '../support/server-process.js';
import { aQueued } from './queued.js';

const url = await findRabbitmq();
const closing: (() => Promise<unknown>)[] = [];
const closeAll = async () => {
  for (const close of closing.splice(0).reverse()) await close();
};
afterEach(closeAll);

let names = 0;

/** A queue of its own, deleted after the test, on a connection of its own. */
function open(queueName = newName(), options: Partial<RabbitmqQueueOptions> = {}) {
  const connections: ChannelModel[] = [];
  const queue = rabbitmqQueue({
    queue: queueName,
    retryDelaysMs: [1, 2],
    async connect() {
      const connection = await openRabbitmq(url ?? '');
      connections.push(connection);
      return connection;
    },
    ...options,
  });
  closing.push(() => queue.close());
  /** As the end of the process does. */
  const die = async () => {
    for (const connection of connections.splice(0)) {
      (connection as unknown as { connection: { stream: Socket } }).connection.stream.destroy(new Error('killed'));
    }
  };
  return { queueName, queue, die, connections };
}

function newName(): string {
  names += 1;
  const queueName = `service-webhooks-test-${process.pid}-${names}`;
  closing.push(async () => {
    const connection = await openRabbitmq(url ?? '');
    const channel = await connection.createChannel();
    for (const suffix of ['', '.dead', '.unreadable', '.retry.1', '.retry.2']) {
      await channel.deleteQueue(queueName + suffix);
    }
    await connection.close();
  });
  return queueName;
}

describe.runIf(url)('rabbitmqQueue', () => {
  describe('passes the suite:', () => {
    const cases = queueSuite({
      make({ attempts }) {
        const { queueName, queue } = open(undefined, { attempts });
        const cuts: (() => Promise<void>)[] = [];
        return {
          queueName,
          queue,
          cuts,
          queue2: open(queueName, { attempts }).queue,
          async work(options) {
            const { queue: own, die } = open(queueName, { attempts });
            const worker = own.work(options);
            cuts.push(die);
            closing.push(() => worker.stop({ timeoutMs: 0 }));
            return {
              stop: () => worker.stop(),
              async kill() {
                const stopped = worker.stop({ timeoutMs: 0 });
                await die();
                await stopped;
              },
            };
          },
          close: closeAll,
        };
      },
      async inject({ queueName }, job) {
        const connection = await openRabbitmq(url ?? '');
        const channel = await connection.createConfirmChannel();
        channel.sendToQueue(queueName, Buffer.from(JSON.stringify(job)), { persistent: true });
        await channel.waitForConfirms();
        await connection.close();
      },
      async disconnect({ cuts }) {
        for (const cut of cuts) await cut();
      },
      // RabbitMQ has no lock but the channel.
      lapse: ({ cuts: [cut] }) => cut?.(),
      async unreachable() {
        const port = await freePort();
        return rabbitmqQueue({ queue: 'away', connect: () => openRabbitmq(`amqp://127.0.0.1:${port}`) });
      },
      without: ['known', 'oldest'],
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 60_000);
  });

  it('a put to a queue that was deleted rejects, although RabbitMQ confirms it', async () => {
    const { queue } = open();
    const error = await queue.put(aQueued()).catch((reason: Error) => reason);
    expect(String(error)).toContain('RabbitMQ has no queue');
  });

  it('workers that stop one after the other use no attempt of a job that they do not run', async () => {
    const { queueName, queue } = open(undefined, { attempts: 1 });
    await queue.init?.();
    const jobs = 100;
    for (let i = 0; i < jobs; i += 1) await queue.put(aQueued());
    const runs = new Map<string, number>();
    const count = ({ id }: { id: string }) => void runs.set(id, (runs.get(id) ?? 0) + 1);
    while (runs.size < jobs) {
      const before = runs.size;
      const worker = open(queueName, { attempts: 1 }).queue.work({
        concurrency: 10,
        logger: false,
        on: { '*': count },
      });
      await vi.waitUntil(() => runs.size > before, { ...PATIENTLY, interval: 1 });
      await worker.stop();
    }
    expect([...runs.values()]).toEqual(Array.from({ length: jobs }, () => 1));
    expect(await queue.stats()).toMatchObject({ depth: 0, dead: 0 });
  });

  it('a worker whose stop is over records the result that it has begun to record', async () => {
    const { queue } = open();
    await queue.init?.();
    await queue.put(aQueued());
    const observe = vi.fn();
    const end = later();
    const handler = vi.fn(async () => {
      await end.promise;
      throw new PermanentError('the clip is gone');
    });
    const worker = queue.work({ logger: false, observe, on: { '*': handler } });
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1), PATIENTLY);
    observe.mockImplementation(({ kind }) => kind === 'discarded' && queueMicrotask(() => void stopNow()));
    let stopped: Promise<void> | undefined;
    const stopNow = () => {
      stopped = worker.stop({ timeoutMs: 0 });
    };
    end.resolve();
    await vi.waitUntil(() => stopped !== undefined, PATIENTLY);
    await stopped;
    expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 });
    expect(observe.mock.lastCall?.[0]).toMatchObject({ kind: 'dead_letter' });
  });

  it('a put after the connection was lost opens another one', async () => {
    const { queue, die, connections } = open();
    await queue.init?.();
    await queue.put(aQueued());
    await die();
    await vi.waitFor(async () => expect(await queue.put(aQueued())).toBe('queued'), PATIENTLY);
    expect(connections).toHaveLength(1);
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 2 }), PATIENTLY);
  });

  it('a connection that never opens is given up, and the next call opens another one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const close = vi.fn(async () => {});
      const late = later<never>();
      const connect = vi.fn(() => late.promise);
      const queue = rabbitmqQueue({ queue: 'never', connect });
      const first = queue.init?.().catch((error: Error) => error.message);
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await first).toContain('did not answer within 10000 ms');
      void queue.init?.().catch(() => {});
      await vi.advanceTimersByTimeAsync(1);
      expect(connect).toHaveBeenCalledTimes(2);
      late.resolve({ close, on() {}, createConfirmChannel: never } as never);
      await vi.advanceTimersByTimeAsync(1);
      expect(close).toHaveBeenCalledTimes(1); // the first one; the second is in use
    } finally {
      vi.useRealTimers();
    }
  });

  it('a put that is on its way when the connection is lost rejects', async () => {
    const { queue, die } = open();
    await queue.init?.();
    await queue.put(aQueued());
    const puts = Array.from({ length: 20 }, () => queue.put(aQueued()).then(String, () => 'rejected'));
    await die();
    expect(new Set(await Promise.all(puts)).size).toBeGreaterThan(0);
    expect(await Promise.all(puts)).toContain('rejected');
  });

  it('a worker whose connection was lost takes jobs again, with the next attempt of the one that it ran', async () => {
    const { queue, die, queueName } = open();
    await queue.init?.();
    const attempts: number[] = [];
    let aborted = false;
    const worker = queue.work({
      logger: false,
      on: {
        '*': (_, { attempt, signal }) => {
          attempts.push(attempt);
          signal.addEventListener('abort', () => {
            aborted = true;
          });
          return attempt === 1 ? never() : undefined;
        },
      },
    });
    closing.push(() => worker.stop({ timeoutMs: 0 }));
    await open(queueName).queue.put(aQueued());
    await vi.waitFor(() => expect(attempts).toEqual([1]), PATIENTLY);
    await die();
    await vi.waitFor(() => expect(attempts).toEqual([1, 2]), PATIENTLY);
    expect(aborted).toBe(true);
  });

  it.each<[string, object]>([
    ['text', { 'x-failures': 'many', 'x-delivery-count': 'often' }],
    ['numbers that count nothing', { 'x-failures': -5, 'x-delivery-count': 0.5 }],
    ['an object', { 'x-failures': { a: 1 } }],
  ])('headers of another program that hold %s give a job no other number of attempts', async (_, headers) => {
    const { queue, queueName } = open(undefined, { attempts: 2 });
    await queue.init?.();
    const connection = await openRabbitmq(url ?? '');
    closing.push(() => connection.close());
    const channel = await connection.createConfirmChannel();
    channel.sendToQueue(queueName, Buffer.from(JSON.stringify(aQueued())), { persistent: true, headers });
    await channel.waitForConfirms();
    const attempts: number[] = [];
    const worker = queue.work({
      logger: false,
      on: {
        '*': (_event, { attempt }) => {
          attempts.push(attempt);
          throw new Error('no disk');
        },
      },
    });
    closing.push(() => worker.stop({ timeoutMs: 0 }));
    await vi.waitFor(async () => expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(attempts).toEqual([1, 2]);
    expect(await queue.deadLetters()).toMatchObject([{ attempts: 2, reason: 'no disk' }]);
  });

  it('a dead letter whose headers are of another program has no attempts, no reason and no time', async () => {
    const { queue, queueName } = open();
    await queue.init?.();
    const connection = await openRabbitmq(url ?? '');
    closing.push(() => connection.close());
    const channel = await connection.createConfirmChannel();
    const headers = { 'x-failures': 'many', 'x-reason': 7, 'x-died-at': 'yesterday', 'x-dead-id': 1 };
    const properties = { persistent: true, messageId: 'test:evt_1', headers };
    channel.sendToQueue(`${queueName}.dead`, Buffer.from(JSON.stringify(aQueued())), properties);
    await channel.waitForConfirms();
    const letters = await queue.deadLetters();
    expect(letters).toMatchObject([{ id: 'test:evt_1', attempts: undefined, reason: undefined, diedAt: undefined }]);
    expect(await queue.discard('test:evt_1')).toBe(true);
  });

  it('runs as many handlers at once as its concurrency', async () => {
    const { queue } = open();
    await queue.init?.();
    for (let i = 0; i < 5; i += 1) await queue.put(aQueued());
    const end = later();
    const handler = vi.fn(() => end.promise);
    const worker = queue.work({ on: { '*': handler }, concurrency: 3, logger: false });
    closing.push(() => worker.stop({ timeoutMs: 0 }));
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(3), PATIENTLY);
    expect(await queue.stats()).toMatchObject({ depth: 2 });
    end.resolve();
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(5), PATIENTLY);
  });

  it.each<[string, object]>([
    ['connect must be a function', { queue: 'a' }],
    ["Did you mean 'connect'?", { queue: 'a', connection: {} }],
    ['queue must be the name', { connect() {} }],
    ['retryDelaysMs must be a list', { connect() {}, queue: 'a', retryDelaysMs: [] }],
    ['retryDelaysMs must be a positive integer', { connect() {}, queue: 'a', retryDelaysMs: [0] }],
    ['name must be 1 to 64', { connect() {}, queue: 'a:b' }],
  ])('says %j', (message, options) => {
    expect(refusal(() => rabbitmqQueue(options as never)).message).toContain(message);
  });
});
