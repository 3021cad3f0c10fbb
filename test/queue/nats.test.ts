import { jetstream } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { PermanentError } from 'service-webhooks';
import { type NatsQueueOptions, natsQueue } from 'service-webhooks/queue/nats';
import { queueSuite } from 'service-webhooks-suites';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { deliveryStream } from '../../src/queue/nats/delivery-stream.js';
import { later, never, refusal } from '../support/deliveries.js';
import { canStartNats, findNats, openNats, startNats } from '../support/nats.js';
import { PATIENTLY } from '../support/patiently.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';
import { aQueued } from './queued.js';

const shared = await findNats();
/** For the tests that kill it. */
const own = canStartNats() ? await startNats() : undefined;
const closing: (() => Promise<unknown>)[] = [];
const closeAll = async () => {
  for (const close of closing.splice(0).reverse()) await close();
};
afterEach(closeAll);
afterAll(async () => {
  await own?.stop();
  await shared?.stop();
});

const NANOS_PER_MS = 1_000_000;
let names = 0;

async function connectionTo(url = shared?.url ?? ''): Promise<NatsConnection> {
  const connection = await openNats(url);
  closing.push(() => connection.close());
  return connection;
}

/** A stream of its own, deleted after the test, on a connection of its own. */
async function open(stream = newName(), options: Partial<NatsQueueOptions> = {}, url = shared?.url) {
  const connection = await connectionTo(url);
  const client = jetstream(connection);
  const queue = natsQueue({
    jetstream: client,
    stream,
    backoffMs: 2,
    maxBackoffMs: 10,
    ackWaitMs: 2_000,
    ...options,
  });
  const { streams, consumers } = await client.jetstreamManager(false);
  closing.push(() => streams.delete(stream).catch(() => {}));
  return { stream, queue, connection, client, streams, consumers };
}

function newName(): string {
  names += 1;
  return `service-webhooks-test-${process.pid}-${names}`;
}

type Opened = Awaited<ReturnType<typeof open>>;

function startWorker({ queue }: Opened, on: Parameters<Opened['queue']['work']>[0]['on'], concurrency = 1) {
  const worker = queue.work({ on, concurrency, logger: false });
  closing.push(() => worker.stop({ timeoutMs: 0 }));
  return worker;
}

describe.runIf(shared && own)('natsQueue', () => {
  describe('passes the suite:', () => {
    const cases = queueSuite({
      async make({ attempts }) {
        const one = await open(undefined, { attempts }, own?.url);
        const proxies: TcpProxy[] = [];
        return {
          ...one,
          proxies,
          queue2: (await open(one.stream, { attempts }, own?.url)).queue,
          async work(options) {
            const proxy = await startTcpProxy({ host: '127.0.0.1', port: own?.port ?? 0 });
            proxies.push(proxy);
            closing.push(() => proxy.stop());
            const { queue, connection } = await open(one.stream, { attempts }, `nats://127.0.0.1:${proxy.port}`);
            const worker = queue.work(options);
            closing.push(() => worker.stop({ timeoutMs: 0 }));
            return {
              stop: () => worker.stop(),
              async kill() {
                await connection.close();
                await worker.stop({ timeoutMs: 0 });
              },
            };
          },
          close: closeAll,
        };
      },
      inject: async ({ client, stream }, job) => void (await client.publish(`${stream}.jobs`, JSON.stringify(job))),
      restart: async () => own?.crash(),
      disconnect({ proxies }) {
        for (const proxy of proxies) proxy.cut();
      },
      // Silent for longer than JetStream waits, and then heard again.
      async lapse({ proxies: [proxy], consumers, stream }) {
        proxy?.pause();
        const isRedelivered = async () => (await consumers.info(stream, 'workers')).delivered.consumer_seq > 1;
        await vi.waitUntil(isRedelivered, PATIENTLY);
        proxy?.resume();
      },
      async unreachable() {
        const proxy = await startTcpProxy({ host: '127.0.0.1', port: own?.port ?? 0 });
        const connection = await connectionTo(`nats://127.0.0.1:${proxy.port}`);
        await proxy.stop();
        return natsQueue({ jetstream: jetstream(connection), stream: 'away' });
      },
    });
    for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 60_000);
  });

  describe('its stream', () => {
    it('is created with room for the keys of twelve hours, on disk, and without an age at which jobs end', async () => {
      const { queue, streams, stream } = await open();
      await queue.init();
      await queue.init();
      expect((await streams.info(stream)).config).toMatchObject({
        retention: 'limits',
        storage: 'file',
        discard: 'new',
        max_age: 0,
        duplicate_window: 12 * 3_600_000 * NANOS_PER_MS,
      });
    });

    const SIX_HOURS = 6 * 3_600_000 * NANOS_PER_MS;
    it.each<[string, string, object]>([
      ['a window of two minutes', '--dupe-window=12h', { duplicate_window: 120_000 * NANOS_PER_MS }],
      ['a window a second short of six hours', '--dupe-window=12h', { duplicate_window: SIX_HOURS - 1e9 }],
      ['the retention of a work queue', 'Delete the stream', { retention: 'workqueue' }],
      ['its messages in memory', 'Delete the stream', { storage: 'memory' }],
      ['an age at which jobs are dropped', '--max-age=0', { max_age: 2 * SIX_HOURS }],
      ['a size at which the oldest jobs are dropped', '--discard=new', { max_bytes: 1_000_000 }],
      ['other subjects', '.jobs', { subjects: [`other-${process.pid}`] }],
    ])('is refused with %s, and the error says what to set', async (_, fix, settings) => {
      const { queue, streams, stream } = await open();
      const subjects = [`${stream}.*`];
      await streams.add({ name: stream, subjects, duplicate_window: SIX_HOURS, ...settings } as never);
      const error = await queue.init().catch((reason: Error) => reason);
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect(String(error)).toContain(`The stream '${stream}'`);
      expect(String(error)).toContain(fix);
    });

    it('is accepted with the settings of an operator under which no job is lost', async () => {
      const { queue, streams, stream } = await open();
      const limits = { discard: 'new', max_bytes: 10_000_000 };
      await streams.add({ name: stream, subjects: [`${stream}.>`], duplicate_window: SIX_HOURS, ...limits } as never);
      await queue.init();
      expect(await queue.put(aQueued())).toBe('queued');
    });

    it('that is full refuses a put, and keeps what it has', async () => {
      const { queue, streams, stream } = await open();
      const limits = { discard: 'new', max_msgs: 1, duplicate_window: SIX_HOURS };
      await streams.add({ name: stream, subjects: [`${stream}.>`], ...limits } as never);
      await queue.init();
      await queue.put(aQueued());
      await expect(queue.put(aQueued())).rejects.toThrow('maximum messages exceeded');
      expect(await queue.stats()).toMatchObject({ depth: 1 });
    });

    it('that was deleted makes a put reject', async () => {
      const { queue, streams, stream } = await open();
      await queue.init();
      await streams.delete(stream);
      await expect(queue.put(aQueued())).rejects.toThrow(`no stream for '${stream}.jobs'`);
    });
  });

  it('a key whose job is done is known after NATS was killed and started again', async () => {
    const one = await open(undefined, {}, own?.url);
    await one.queue.init();
    const queued = aQueued();
    await one.queue.put(queued);
    const worker = startWorker(one, { '*': () => {} });
    await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    await worker.stop();
    await own?.crash();
    await vi.waitFor(async () => expect(await one.queue.put(queued)).toBe('known'), PATIENTLY);
  });

  it('a put to a server that has stopped answering rejects within its limit', async () => {
    const { queue } = await open(undefined, {}, own?.url);
    await queue.init();
    own?.freeze();
    closing.push(async () => own?.thaw());
    // A signal takes effect a moment after it was sent.
    await vi.waitFor(() => expect(queue.put(aQueued())).rejects.toThrow(), PATIENTLY);
  });

  it('a job that is larger than NATS takes is refused when it is put, also where only its dead letter would be', async () => {
    const { queue } = await open();
    await queue.init();
    const largest = 1_048_576;
    const rest = JSON.stringify(aQueued()).length;
    const queued = { ...aQueued(), body: 'A'.repeat(largest - rest) };
    await expect(queue.put(queued)).rejects.toThrow('max_payload');
  });

  it('the largest job that is taken becomes a dead letter with a long reason', async () => {
    const one = await open();
    await one.queue.init();
    // NATS counts the headers too: as many bytes as fit, less what a put adds to a large job.
    const largest = 1_048_576 - 8_192 - 300;
    const event = atob(aQueued().body);
    const queued = { ...aQueued(), body: btoa(event.padEnd(700_000)) };
    queued.unsigned = { webhookId: 'x'.repeat(largest - JSON.stringify(queued).length) };
    expect(await one.queue.put(queued)).toBe('queued');
    startWorker(one, {
      '*': () => {
        throw new PermanentError('\u0000'.repeat(2_000));
      },
    });
    const [letter] = await vi.waitUntil(async () => {
      const letters = await one.queue.deadLetters();
      return letters.length > 0 && letters;
    }, PATIENTLY);
    expect(letter?.delivery?.body).toBe(queued.body);
    expect(letter?.reason).toHaveLength(1_000);
  });

  it('a handler that runs longer than ackWaitMs keeps its job', async () => {
    const one = await open(undefined, { ackWaitMs: 1_500 });
    await one.queue.init();
    const end = later();
    const handler = vi.fn(() => end.promise);
    startWorker(one, { '*': handler });
    startWorker(await open(one.stream, { ackWaitMs: 1_500 }), { '*': handler });
    await one.queue.put(aQueued());
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1), PATIENTLY);
    // Three times as long as JetStream waits for a worker that is silent.
    await vi.waitUntil(async () => Number((await one.queue.stats()).oldestMs) > 4_500, PATIENTLY);
    end.resolve();
    await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0 }), PATIENTLY);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('a job whose worker lost its connection is run by another one, with a larger fence, and its signal is aborted', async () => {
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: own?.port ?? 0 });
    const lost = await open(undefined, { ackWaitMs: 1_500 }, own?.url);
    await lost.queue.init();
    const cut = await open(lost.stream, { ackWaitMs: 1_500 }, `nats://127.0.0.1:${proxy.port}`);
    const runs: { attempt: number; fence: number; signal: AbortSignal }[] = [];
    startWorker(cut, {
      '*': (_, context) => {
        runs.push(context);
        return never();
      },
    });
    await lost.queue.put(aQueued());
    await vi.waitFor(() => expect(runs).toHaveLength(1), PATIENTLY);
    await proxy.stop();
    startWorker(lost, { '*': (_, context) => void runs.push(context) });
    await vi.waitFor(() => expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]), PATIENTLY);
    expect(runs[1]?.fence).toBeGreaterThan(runs[0]?.fence ?? Number.POSITIVE_INFINITY);
    await vi.waitFor(() => expect(runs[0]?.signal.aborted).toBe(true), PATIENTLY);
  });

  it('workers that stop one after the other leave every job its only attempt', async () => {
    const one = await open(undefined, { attempts: 1, ackWaitMs: 1_000 });
    await one.queue.init();
    const jobs = 100;
    for (let i = 0; i < jobs; i += 1) await one.queue.put(aQueued());
    const runs = new Map<string, number>();
    const on = { '*': ({ id }: { id: string }) => void runs.set(id, (runs.get(id) ?? 0) + 1) };
    while (runs.size < jobs) {
      const before = runs.size;
      const worker = startWorker(one, on, 10);
      await vi.waitUntil(() => runs.size > before, { ...PATIENTLY, interval: 1 });
      await worker.stop();
    }
    expect([...runs.values()]).toEqual(Array.from({ length: jobs }, () => 1));
    expect(await one.queue.stats()).toMatchObject({ depth: 0, dead: 0 });
  });

  it('a delivery that reached no handler is no attempt of a job, and one that did is', async () => {
    const one = await open(undefined, { attempts: 1, ackWaitMs: 1_000 });
    await one.queue.init();
    await one.queue.put(aQueued());
    // As a worker whose connection is lost, or which is paused, before it has the message.
    const consumer = await one.client.consumers.get(one.stream, 'workers');
    await consumer.fetch({ max_messages: 1, expires: 1_000 }).then(async (pull) => {
      for await (const _ of pull) break;
    });
    const attempts: number[] = [];
    const first = startWorker(one, {
      '*': (_, { attempt }) => {
        attempts.push(attempt);
        return never();
      },
    });
    await vi.waitFor(() => expect(attempts).toEqual([1]), PATIENTLY);
    await first.stop({ timeoutMs: 0 });
    startWorker(one, { '*': expect.fail });
    await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
    expect(await one.queue.deadLetters()).toMatchObject([{ reason: 'The worker died during the last attempt.' }]);
  });

  it.each([
    ['a PermanentError', new PermanentError('too late')],
    ['an error', new Error('too late')],
  ])(
    'a handler that throws %s while its connection is silent changes nothing when the connection works again',
    async (_, error) => {
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: own?.port ?? 0 });
      closing.push(() => proxy.stop());
      const one = await open(undefined, {}, own?.url);
      await one.queue.init();
      const silent = await open(one.stream, {}, `nats://127.0.0.1:${proxy.port}`);
      const runs: number[] = [];
      const end = later();
      const another = later();
      const handledLater = vi.fn();
      const handler = async ({ id }: { id: string }, { attempt }: { attempt: number }) => {
        if (id === 'evt_later') return handledLater();
        runs.push(attempt);
        if (attempt > 1) return another.promise;
        await end.promise;
        throw error;
      };
      await one.queue.put(aQueued());
      startWorker(silent, { '*': handler });
      await vi.waitFor(() => expect(runs).toEqual([1]), PATIENTLY);
      proxy.pause();
      end.resolve();
      startWorker(one, { '*': handler });
      await vi.waitFor(() => expect(runs).toEqual([1, 2]), PATIENTLY);
      proxy.resume();
      // The first worker is free, and would run what it has put back before this.
      await one.queue.put(aQueued({ eventId: 'evt_later' }));
      await vi.waitFor(() => expect(handledLater).toHaveBeenCalledTimes(1), PATIENTLY);
      another.resolve();
      await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
      expect(runs).toEqual([1, 2]);
    },
  );

  describe('where the connection of a worker is cut', () => {
    async function behindProxy(options: Partial<NatsQueueOptions>) {
      const proxy = await startTcpProxy({ host: '127.0.0.1', port: own?.port ?? 0 });
      closing.push(() => proxy.stop());
      const one = await open(undefined, options, own?.url);
      await one.queue.init();
      return { proxy, one, worker: await open(one.stream, options, `nats://127.0.0.1:${proxy.port}`) };
    }

    it('the last attempt is run although the answer to its record was lost', async () => {
      const { proxy, one, worker } = await behindProxy({ attempts: 1 });
      const publish = worker.client.publish.bind(worker.client);
      vi.spyOn(worker.client, 'publish').mockImplementation((subject, ...rest) => {
        if (subject === `${one.stream}.starts` && proxy.lost() === 0) proxy.loseNextReply();
        return publish(subject, ...rest);
      });
      const handler = vi.fn();
      startWorker(worker, { '*': handler });
      await one.queue.put(aQueued());
      await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
      expect(handler).toHaveBeenCalledTimes(1);
      expect(proxy.lost()).toBe(1);
    });

    it('a dead letter whose confirmation was lost is reported, and its job does not run again', async () => {
      const { proxy, one, worker } = await behindProxy({});
      const publish = worker.client.publish.bind(worker.client);
      vi.spyOn(worker.client, 'publish').mockImplementation((subject, ...rest) => {
        if (subject === `${one.stream}.dead` && proxy.lost() === 0) proxy.loseNextReply();
        return publish(subject, ...rest);
      });
      const observe = vi.fn();
      const handler = vi.fn(() => {
        throw new PermanentError('the clip is gone');
      });
      const running = worker.queue.work({ on: { '*': handler }, observe, logger: false });
      closing.push(() => running.stop({ timeoutMs: 0 }));
      await one.queue.put(aQueued());
      await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0, dead: 1 }), PATIENTLY);
      await vi.waitFor(() => expect(observe.mock.lastCall?.[0]).toMatchObject({ kind: 'dead_letter' }), PATIENTLY);
      expect(handler).toHaveBeenCalledTimes(1);
    });

    it('a success in the last attempt is recorded when the connection works again', async () => {
      const { proxy, one, worker } = await behindProxy({ attempts: 1 });
      const handler = vi.fn(() => proxy.cut());
      startWorker(worker, { '*': handler });
      await one.queue.put(aQueued());
      await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(1), PATIENTLY);
      await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 0, dead: 0 }), PATIENTLY);
      expect(handler).toHaveBeenCalledTimes(1);
    });
  });

  it('a dead letter that another program has written has no attempts and no reason', async () => {
    const one = await open();
    await one.queue.init();
    const letter = { job: aQueued(), attempts: 'many', reason: { why: 1 } };
    await one.client.publish(`${one.stream}.dead`, JSON.stringify(letter));
    const [found] = await one.queue.deadLetters();
    expect(found).toMatchObject({ attempts: undefined, reason: undefined, delivery: { v: 1 } });
    expect(await one.queue.discard(String(found?.id))).toBe(true);
  });

  it('a dead letter that is no JSON is put back as it is', async () => {
    const one = await open();
    await one.queue.init();
    await one.client.publish(`${one.stream}.dead`, 'no JSON');
    const [found] = await one.queue.deadLetters();
    expect(await one.queue.retry(String(found?.id))).toBe(true);
    const stored = await one.streams.getMessage(one.stream, { last_by_subj: `${one.stream}.jobs` });
    expect(stored?.string()).toBe('no JSON');
  });

  it('eight clients that initialise one queue at once all succeed', async () => {
    const stream = newName();
    const clients = await Promise.all(Array.from({ length: 8 }, () => open(stream)));
    await Promise.all(clients.map(({ queue }) => queue.init()));
    expect(await clients[0]?.queue.put(aQueued())).toBe('queued');
  });

  it('a worker that is stopped with a handler that does not end gives its job back at once', async () => {
    const one = await open(undefined, { ackWaitMs: 600_000 });
    await one.queue.init();
    const attempts: number[] = [];
    const first = startWorker(one, {
      '*': (_, { attempt }) => {
        attempts.push(attempt);
        return never();
      },
    });
    await one.queue.put(aQueued());
    await vi.waitFor(() => expect(attempts).toEqual([1]), PATIENTLY);
    await first.stop({ timeoutMs: 0 });
    startWorker(one, { '*': (_, { attempt }) => void attempts.push(attempt) });
    await vi.waitFor(() => expect(attempts).toEqual([1, 2]), PATIENTLY);
  });

  it('a job that the worker could not read is run with attempt 1 once a worker can', async () => {
    const { stream, client, queue, streams } = await open();
    await queue.init();
    const job = JSON.stringify(aQueued());
    await client.publish(`${stream}.unreadable`, job); // as a worker of an older version left it
    const attempts: number[] = [];
    const worker = queue.work({ on: { '*': (_, { attempt }) => void attempts.push(attempt) }, logger: false });
    closing.push(() => worker.stop({ timeoutMs: 0 }));
    await vi.waitFor(() => expect(attempts).toEqual([1]), PATIENTLY);
    await vi.waitFor(async () => {
      expect(await queue.stats()).toMatchObject({ depth: 0 });
      expect((await streams.info(stream, { subjects_filter: '>' })).state.subjects).toEqual({ [`${stream}.jobs`]: 1 });
    }, PATIENTLY);
  });

  it('runs as many handlers at once as its concurrency', async () => {
    const one = await open();
    await one.queue.init();
    for (let i = 0; i < 5; i += 1) await one.queue.put(aQueued());
    const end = later();
    const handler = vi.fn(() => end.promise);
    startWorker(one, { '*': handler }, 3);
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(3), PATIENTLY);
    expect(await one.queue.stats()).toMatchObject({ depth: 5 });
    end.resolve();
    await vi.waitFor(() => expect(handler).toHaveBeenCalledTimes(5), PATIENTLY);
  });

  it.each<[string, object]>([
    ['jetstream must be', {}],
    ["Did you mean 'jetstream'?", { connection: {} }],
    ['it has no method publish()', { jetstream: {} }],
    ['stream must be 1 to 64', { stream: 'a.b' }],
    ['name must be 1 to 64', { name: 'a:b' }],
    ['ackWaitMs must be a positive integer', { ackWaitMs: 0 }],
  ])('says %j', (message, options) => {
    const client = { publish() {}, jetstreamManager() {} };
    const given = message.startsWith('jetstream') ? {} : { jetstream: client };
    const make = () => natsQueue({ stream: 'webhooks', ...given, ...options } as never);
    expect(refusal(make).message).toContain(message);
  });

  it('a purge removes finished jobs older than the window, and nothing that waits or came after what waits', async () => {
    const one = await open();
    await one.queue.init();
    const target = deliveryStream(one.client, one.stream, 2_000);
    await target.declare();
    const jobs = async () => (await target.count(target.jobs)) as number;
    const handler = vi.fn((event: { jobId: string | null }) => (event.jobId === 'waits' ? never() : undefined));
    startWorker(one, { '*': handler }, 2);
    for (const jobId of [null, 'waits', null]) await one.queue.put(aQueued({ jobId }));
    await vi.waitFor(async () => expect(await one.queue.stats()).toMatchObject({ depth: 1 }), PATIENTLY);
    await target.purge(Date.now());
    expect(await jobs()).toBe(3);
    await target.purge(Date.now() + 13 * 3_600_000);
    expect(await jobs()).toBe(2);
    expect(await one.queue.stats()).toMatchObject({ depth: 1 });
    expect(handler).toHaveBeenCalledTimes(3);
  });
});
