import { AsyncLocalStorage } from 'node:async_hooks';
import type { Socket } from 'node:net';
import type { ChannelModel, ConfirmChannel, Options } from 'amqplib';
import { type Handler, PermanentError } from 'service-webhooks';
import { type RabbitmqQueue, type RabbitmqQueueOptions, rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { describe, expect, it, vi } from 'vitest';
import { later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { findRabbitmq, openRabbitmq } from '../support/rabbitmq.js';
import { freePort } from '../support/server-process.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failing, failingForGood, putAll, recorded, untilDeadLetter, untilStats } from './runs.js';

const url = await findRabbitmq();
const { atEnd } = closeAfterEach();

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
  atEnd(() => queue.close());
  /** As the end of the process does. */
  const die = async () => {
    for (const connection of connections.splice(0)) {
      (connection as unknown as { connection: { stream: Socket } }).connection.stream.destroy(new Error('killed'));
    }
  };
  return { queueName, queue, die, connections };
}

async function initialised() {
  const opened = open();
  await opened.queue.init?.();
  return opened;
}

function newName(): string {
  names += 1;
  const queueName = `service-webhooks-test-${process.pid}-${names}`;
  atEnd(async () => {
    const connection = await openRabbitmq(url ?? '');
    const channel = await connection.createChannel();
    for (const suffix of ['', '.dead', '.unreadable', '.marks', '.operator', '.operator.2', '.retry.1', '.retry.2']) {
      await channel.deleteQueue(queueName + suffix);
    }
    await connection.close();
  });
  return queueName;
}

/** A channel of another program. */
async function channelOf() {
  const connection = await openRabbitmq(url ?? '');
  atEnd(() => connection.close().catch(() => {}));
  return connection.createChannel();
}

function work(queue: RabbitmqQueue, handler: Handler) {
  const worker = queue.work({ logger: false, on: { '*': handler } });
  atEnd(() => worker.stop({ timeoutMs: 0 }));
  return worker;
}

/** Opens connections with other channels, and with none any more once `isLost` returns true. */
function connectingWith(change: (channel: ConfirmChannel) => void, isLost = () => false) {
  return async () => {
    const connection = await openRabbitmq(url ?? '');
    const create = connection.createConfirmChannel.bind(connection);
    connection.createConfirmChannel = async () => {
      if (isLost()) throw new Error('The connection is lost');
      const channel = await create();
      change(channel);
      return channel;
    };
    return connection;
  };
}

/** Sends a message as another program would. */
async function send(queueName: string, job: unknown, properties: Options.Publish = {}): Promise<void> {
  const connection = await openRabbitmq(url ?? '');
  const channel = await connection.createConfirmChannel();
  channel.sendToQueue(queueName, Buffer.from(JSON.stringify(job)), { persistent: true, ...properties });
  await channel.waitForConfirms();
  await connection.close();
}

const sendWith = ({ queueName }: { queueName: string }, job: unknown, headers: object) =>
  send(queueName, job, { headers });

describe.runIf(url)('rabbitmqQueue', () => {
  testEngine(
    {
      make({ attempts, options: given = {} }) {
        const opened = open(undefined, { attempts, ...given });
        const { queueName } = opened;
        const cuts: (() => Promise<void>)[] = [];
        return {
          ...opened,
          cuts,
          another: () => open(queueName, { attempts, ...given }).queue,
          async work(options) {
            const { queue: own, die } = open(queueName, { attempts, ...given });
            const worker = own.work(options);
            cuts.push(die);
            atEnd(() => worker.stop({ timeoutMs: 0 }));
            return {
              stop: () => worker.stop(),
              async kill() {
                const stopped = worker.stop({ timeoutMs: 0 });
                await die();
                await stopped;
              },
            };
          },
        };
      },
      inject: ({ queueName }, job) => send(queueName, job),
      async disconnect({ cuts }) {
        for (const cut of cuts) await cut();
      },
      // RabbitMQ has no lock but the channel.
      lapse: ({ cuts: [cut] }) => cut?.(),
      async unreachable() {
        const port = await freePort();
        return rabbitmqQueue({ queue: 'away', connect: () => openRabbitmq(`amqp://127.0.0.1:${port}`) });
      },
      without: ['known'],
    },
    {
      missing: 'RabbitMQ has no queue',
      hasWorkers: true,
      changed: {
        'text in the headers': (made, job) =>
          sendWith(made, job, { 'x-failures': 'many', 'x-delivery-count': 'often' }),
        'odd numbers in the headers': (made, job) => sendWith(made, job, { 'x-failures': -5, 'x-delivery-count': 0.5 }),
        'an object in the headers': (made, job) => sendWith(made, job, { 'x-failures': { a: 1 } }),
      },
    },
  );

  it('a stop waits for a result that the worker has begun to record', async () => {
    const { queue } = await initialised();
    await queue.put(aQueued());
    const observe = vi.fn();
    const end = later();
    const handler = recorded(() => end.promise.then(failingForGood));
    const worker = queue.work({ logger: false, observe, on: handler.on });
    await handler.haveRun(1);
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

  it('a put opens another connection after one was lost', async () => {
    const { queue, die, connections } = await initialised();
    await queue.put(aQueued());
    await die();
    await vi.waitFor(async () => expect(await queue.put(aQueued())).toBe('queued'), PATIENTLY);
    expect(connections).toHaveLength(1);
    await untilStats(queue, { depth: 2 });
  });

  it('a job runs outside of the context of the request that has opened the connection', async () => {
    const { queue } = open();
    const request = new AsyncLocalStorage<string>();
    const contexts: unknown[] = [];
    await request.run('of a request', async () => {
      await queue.init?.();
      await queue.put(aQueued());
    });
    work(queue, () => void contexts.push(request.getStore()));
    await expect.poll(() => contexts).toEqual([undefined]);
  });

  it('the next call opens another connection after one that never opened', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
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
  });

  it('a put rejects when the connection is lost before its answer', async () => {
    const { queue, die } = await initialised();
    await queue.put(aQueued());
    const puts = Array.from({ length: 20 }, () => queue.put(aQueued()).then(String, () => 'rejected'));
    await die();
    expect(await Promise.all(puts)).toContain('rejected');
  });

  it('a worker that lost its connection runs its job again with the next attempt', async () => {
    const { queue, die, queueName } = await initialised();
    const handler = recorded(({ attempt }) => attempt === 1 && never());
    const worker = queue.work({ logger: false, on: handler.on });
    atEnd(() => worker.stop({ timeoutMs: 0 }));
    await putAll(open(queueName).queue, {});
    await handler.haveRun(1);
    await die();
    await handler.haveRun(1, 2);
    expect(handler.runs[0]?.signal.aborted).toBe(true);
  });

  it('a dead letter with the headers of another program has no attempts, reason or time', async () => {
    const { queue, queueName } = await initialised();
    const headers = { 'x-failures': 'many', 'x-reason': 7, 'x-died-at': 'yesterday', 'x-dead-id': 1 };
    await send(`${queueName}.dead`, aQueued(), { messageId: 'test:evt_1', headers });
    const letters = await queue.deadLetters();
    expect(letters).toMatchObject([{ id: 'test:evt_1', attempts: undefined, reason: undefined, diedAt: undefined }]);
    expect(await queue.discard('test:evt_1')).toBe(true);
  });

  it('a dead letter has the stack of its last error and of its cause', async () => {
    const { queue } = await initialised();
    await putAll(queue, {});
    const cause = new Error('no disk');
    work(queue, () => Promise.reject(new PermanentError('no clip', { cause })));
    const { stack } = await untilDeadLetter(queue);
    expect(stack).toMatch(/no clip[\s\S]*\n +at [\s\S]*\nCaused by: Error: no disk\n +at /);
  });

  describe('a job that an operator follows', () => {
    it('a job whose operator has left is done as any other', async () => {
      const end = later();
      const { queue, queueName, die } = await initialised();
      const ends = [failingForGood, () => end.promise.then(failing)];
      const handler = recorded(() => ends[handler.runs.length - 1]?.());
      work(open(queueName).queue, handler.on['*']);
      await putAll(queue, {});
      const job = await queue.retryAndFollow?.((await untilDeadLetter(queue)).id);
      await die();
      await vi.waitFor(() => expect(job?.state()).rejects.toThrow('The connection to RabbitMQ was lost'), PATIENTLY);
      end.resolve();
      await handler.haveRun(1, 1, 2);
      await untilStats(open(queueName).queue);
    });

    it('no answer goes to a queue that is not of an operator of this queue', async () => {
      const { queue, queueName } = await initialised();
      const headers = { 'x-followed-id': 'a' };
      for (const replyTo of [queueName, `${queueName}.dead`, 'elsewhere', `${queueName}.answers.gone`])
        await send(queueName, aQueued(), { replyTo, headers });
      await send(queueName, aQueued(), { replyTo: `${queueName}.answers.`, headers: { 'x-followed-id': { a: 1 } } });
      const handler = recorded();
      work(open(queueName).queue, handler.on['*']);
      await untilStats(queue);
      expect(handler.runs).toHaveLength(5);
    });
  });

  describe('the age of the oldest job', () => {
    const START = Date.UTC(2030, 0);
    const HOUR = 3_600_000;

    /** A queue whose clock stands still. */
    async function atStart() {
      vi.setSystemTime(START);
      const one = await initialised();
      const marks = `${one.queueName}.marks`;
      const channel = await channelOf();
      const untilMarks = (count: number) =>
        vi.waitFor(async () => expect((await channel.checkQueue(marks)).messageCount).toBe(count), PATIENTLY);
      return { ...one, marks, channel, untilMarks };
    }

    const putAt = async ({ queue }: { queue: RabbitmqQueue }, time: number) => {
      vi.setSystemTime(time);
      await putAll(queue, {});
    };

    it('it is that of the first job that no worker has taken', async () => {
      const one = await atStart();
      await putAt(one, START);
      await putAt(one, START + HOUR);
      await untilStats(one.queue, { depth: 2, oldestMs: HOUR });
      work(open(one.queueName).queue, never);
      await untilStats(one.queue, { depth: 1, oldestMs: 0 });
      vi.setSystemTime(START + 3 * HOUR);
      await untilStats(one.queue, { depth: 1, oldestMs: 2 * HOUR });
    });

    it('of the puts of a second, the first and the last have a mark', async () => {
      const one = await atStart();
      for (const ms of [0, 300, 600, 900]) await putAt(one, START + ms);
      await one.untilMarks(2);
      work(open(one.queueName).queue, never);
      await one.untilMarks(1);
      expect(await one.queue.stats()).toMatchObject({ depth: 3, oldestMs: 0 });
    });

    it('a closed queue has marked its last put', async () => {
      const one = await atStart();
      await putAt(one, START);
      await putAt(one, START + 1);
      await one.queue.close();
      await one.untilMarks(2);
    });

    it('a closed queue that is used again marks its puts', async () => {
      const one = await atStart();
      await putAt(one, START);
      await one.queue.close();
      await putAt(one, START + 1);
      await one.untilMarks(2);
    });

    it('a delivery that waits for its next attempt has no age', async () => {
      const one = await atStart();
      const { queue } = open(one.queueName, { retryDelaysMs: [600_000] });
      await queue.init?.();
      atEnd(async () => void (await one.channel.deleteQueue(`${one.queueName}.retry.600000`)));
      work(queue, failing);
      await putAt(one, START);
      const stats = async () => expect(await queue.stats()).toEqual({ depth: 1, oldestMs: undefined, dead: 0 });
      await vi.waitFor(stats, PATIENTLY);
    });

    it('a worker that has done all jobs leaves no mark', async () => {
      const one = await atStart();
      await putAt(one, START);
      await putAt(one, START + HOUR);
      await one.untilMarks(2);
      work(open(one.queueName).queue, () => {});
      await one.untilMarks(0);
    });

    it('a worker that was killed leaves marks, which the stats of an empty queue remove', async () => {
      const one = await atStart();
      await putAt(one, START);
      const channel = await channelOf();
      await channel.get(one.queueName, { noAck: true });
      await untilStats(one.queue, { depth: 0, oldestMs: 0 });
      vi.setSystemTime(START + HOUR);
      await untilStats(one.queue, { depth: 0, oldestMs: 0 });
      await putAt(one, START + HOUR);
      await untilStats(one.queue, { depth: 1, oldestMs: 0 });
    });

    it('a dead letter that is retried is as old as its retry', async () => {
      const one = await atStart();
      await putAt(one, START);
      const worker = work(open(one.queueName).queue, failingForGood);
      const { id } = await untilDeadLetter(one.queue);
      await worker.stop();
      vi.setSystemTime(START + HOUR);
      await one.queue.retry(id);
      await untilStats(one.queue, { depth: 1, oldestMs: 0 });
      vi.setSystemTime(START + 2 * HOUR);
      expect(await one.queue.stats()).toMatchObject({ oldestMs: HOUR });
    });

    it('a mark of another program is left out', async () => {
      const one = await atStart();
      for (const mark of ['soon', -1, 1e300, null, { at: 1 }, START + HOUR]) await send(one.marks, mark);
      await send(one.queueName, aQueued());
      expect(await one.queue.stats()).toMatchObject({ depth: 1, oldestMs: undefined });
      await putAt(one, START);
      await untilStats(one.queue, { depth: 2, oldestMs: 0 });
    });

    it('it is not known of a queue of an older version, and nothing else changes', async () => {
      const one = await atStart();
      await one.channel.deleteQueue(one.marks);
      expect(await one.queue.stats()).toEqual({ depth: 0, oldestMs: 0, dead: 0 });
      await putAt(one, START);
      await untilStats(one.queue, { depth: 1, oldestMs: undefined, dead: 0 });
      expect(await one.queue.deadLetters()).toEqual([]);
    });
  });

  describe('the lock of the operators', () => {
    it('the stats stay the same while another client lists the dead letters', async () => {
      const { queue, queueName } = await initialised();
      const other = open(queueName).queue;
      for (let i = 0; i < 20; i += 1) await send(`${queueName}.dead`, aQueued(), { messageId: `letter ${i}` });
      let hasEnded = false;
      const listing = (async () => {
        while (!hasEnded) expect(await other.deadLetters()).toHaveLength(20);
      })();
      for (let i = 0; i < 30; i += 1) expect(await queue.stats()).toEqual({ depth: 0, oldestMs: 0, dead: 20 });
      hasEnded = true;
      await listing;
    });

    it('every dead letter is found while another client lists them', async () => {
      const { queue, queueName } = await initialised();
      const other = open(queueName).queue;
      const ids = Array.from({ length: 20 }, (_, i) => `letter ${i}`);
      for (const messageId of ids) await send(`${queueName}.dead`, aQueued(), { messageId });
      let hasEnded = false;
      const listing = (async () => {
        while (!hasEnded) await other.deadLetters();
      })();
      for (const id of ids) expect(await queue.discard(id)).toBe(true);
      hasEnded = true;
      await listing;
      expect(await queue.stats()).toMatchObject({ dead: 0 });
    });

    /** Another operator, who holds the lock until its connection ends. */
    async function holding() {
      const { queue, queueName } = await initialised();
      await queue.stats(); // declares it
      const connection = await openRabbitmq(url ?? '');
      const channel = await connection.createChannel();
      const locked = later();
      await channel.prefetch(1);
      await channel.consume(`${queueName}.operator`, () => locked.resolve());
      await locked.promise;
      return { queue, queueName, channel, release: () => connection.close() };
    }

    it('the operators take the next queue while the node of the first is down', async () => {
      const { queueName } = await initialised();
      const connect = connectingWith((channel) => {
        const assertQueue = channel.assertQueue.bind(channel);
        channel.assertQueue = (name, settings) =>
          // With 404, as for a queue whose node is down.
          name === `${queueName}.operator` ? channel.checkQueue(`${queueName}.none`) : assertQueue(name, settings);
      });
      const { queue } = open(queueName, { connect });
      expect(await queue.stats()).toEqual({ depth: 0, oldestMs: 0, dead: 0 });
      expect(await queue.deadLetters()).toEqual([]);
    });

    it('a discard has succeeded where the connection is lost right after it', async () => {
      const { queue, queueName } = await initialised();
      for (const messageId of ['first', 'second']) await send(`${queueName}.dead`, aQueued(), { messageId });
      let isLost = false;
      const connect = connectingWith(
        (channel) => {
          const ack = channel.ack.bind(channel);
          channel.ack = (message) => {
            isLost = true;
            ack(message);
          };
        },
        () => isLost,
      );
      expect(await open(queueName, { connect }).queue.discard('second')).toBe(true);
      expect(await queue.deadLetters()).toMatchObject([{ id: 'first' }]);
    });

    it('a call waits until the connection of another operator has ended', async () => {
      const { queue, queueName, channel, release } = await holding();
      const ended = vi.fn();
      const stats = queue.stats().finally(ended);
      const waits = async () => (await channel.checkQueue(`${queueName}.operator`)).messageCount === 1;
      await vi.waitUntil(waits, PATIENTLY);
      expect(ended).not.toHaveBeenCalled();
      await release();
      expect(await stats).toMatchObject({ dead: 0 });
    });

    it('the calls reject after ten seconds of another operator, and work after it', async () => {
      const { queue, release } = await holding();
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const ends = [queue.stats(), queue.deadLetters()].map((call) => call.catch((error: Error) => error.message));
      await vi.advanceTimersByTimeAsync(10_000);
      for (const message of await Promise.all(ends))
        expect(message).toContain('Another operator reads the dead letters');
      vi.useRealTimers();
      await release();
      expect(await queue.stats()).toMatchObject({ dead: 0 });
    });
  });
});
