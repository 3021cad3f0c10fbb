import type { Socket } from 'node:net';
import type { ChannelModel, Options } from 'amqplib';
import { type RabbitmqQueueOptions, rabbitmqQueue } from 'service-webhooks/queue/rabbitmq';
import { describe, expect, it, vi } from 'vitest';
import { later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { findRabbitmq, openRabbitmq } from '../support/rabbitmq.js';
import { freePort } from '../support/server-process.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { aQueued } from './queued.js';
import { failingForGood, putAll, recorded, untilStats } from './runs.js';

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
    for (const suffix of ['', '.dead', '.unreadable', '.retry.1', '.retry.2']) {
      await channel.deleteQueue(queueName + suffix);
    }
    await connection.close();
  });
  return queueName;
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
      make({ attempts }) {
        const opened = open(undefined, { attempts });
        const { queueName } = opened;
        const cuts: (() => Promise<void>)[] = [];
        return {
          ...opened,
          cuts,
          another: () => open(queueName, { attempts }).queue,
          async work(options) {
            const { queue: own, die } = open(queueName, { attempts });
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
      without: ['known', 'oldest'],
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
});
