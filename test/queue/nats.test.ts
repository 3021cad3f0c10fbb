import { jetstream } from '@nats-io/jetstream';
import { type NatsConnection, headers as natsHeaders } from '@nats-io/transport-node';
import { PermanentError } from 'service-webhooks';
import { type NatsQueueOptions, natsQueue } from 'service-webhooks/queue/nats';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { deliveryStream } from '../../src/queue/nats/delivery-stream.js';
import { later, never, rejection } from '../support/deliveries.js';
import { canStartNats, findNats, openNats, startNats } from '../support/nats.js';
import { PATIENTLY } from '../support/patiently.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { closeAfterEach, testEngine } from './engine-tests.js';
import { anOverflow } from './overflows.js';
import { aQueued } from './queued.js';
import { failing, failingForGood, putAll, recorded, untilDeadLetter, untilStats } from './runs.js';

const shared = await findNats();
/** For the tests that kill it. */
const own = canStartNats() ? await startNats() : undefined;
const { atEnd, proxied, proxies, disconnect } = closeAfterEach();
afterAll(async () => {
  await own?.stop();
  await shared?.stop();
});

const HOUR_NANOS = 3_600_000_000_000;
let names = 0;

async function connectionTo(url = shared?.url ?? ''): Promise<NatsConnection> {
  const connection = await openNats(url);
  atEnd(() => connection.close());
  return connection;
}

/** A stream of its own, deleted after the test, on a connection of its own. */
async function open(stream = newName(), options: Partial<NatsQueueOptions> = {}, url = shared?.url) {
  const connection = await connectionTo(url);
  const client = jetstream(connection);
  const settings = { backoffMs: 2, maxBackoffMs: 10, ackWaitMs: 2_000, ...options };
  const queue = natsQueue({ jetstream: client, stream, ...settings });
  const { streams, consumers } = await client.jetstreamManager(false);
  atEnd(() => streams.delete(stream).catch(() => {}));
  const work: typeof queue.work = (workerOptions) => {
    const worker = queue.work({ logger: false, ...workerOptions });
    atEnd(() => worker.stop({ timeoutMs: 0 }));
    return worker;
  };
  return { stream, queue, connection, client, streams, consumers, work };
}

async function opened(...parts: Parameters<typeof open>) {
  const one = await open(...parts);
  await one.queue.init();
  return one;
}

function newName(): string {
  names += 1;
  return `service-webhooks-test-${process.pid}-${names}`;
}

/** A queue on our own server, and a worker's client of it behind a proxy. */
async function behindProxy(options: Partial<NatsQueueOptions> = {}) {
  const one = await opened(undefined, options, own?.url);
  const { proxy, url } = await proxied(own?.url ?? '');
  return { proxy, one, behind: await open(one.stream, options, url) };
}

/** Loses the answer to the first message that a client publishes on a subject. */
function loseAnswerTo(subject: string, { client }: Awaited<ReturnType<typeof open>>, proxy: TcpProxy): void {
  const publish = client.publish.bind(client);
  vi.spyOn(client, 'publish').mockImplementation((to, ...rest) => {
    if (to === subject && proxy.lost() === 0) proxy.loseNextReply();
    return publish(to, ...rest);
  });
}

describe.runIf(shared && own)('natsQueue', () => {
  testEngine(
    {
      async make({ attempts, options: given = {} }) {
        const one = await open(undefined, { attempts, ...given }, own?.url);
        return {
          ...one,
          another: async () => (await open(one.stream, { attempts, ...given }, own?.url)).queue,
          async work(options) {
            const { url } = await proxied(own?.url ?? '');
            const { work, connection } = await open(one.stream, { attempts, ...given }, url);
            const worker = work(options);
            return {
              stop: () => worker.stop(),
              async kill() {
                await connection.close();
                await worker.stop({ timeoutMs: 0 });
              },
            };
          },
        };
      },
      inject: async ({ client, stream }, job) => void (await client.publish(`${stream}.jobs`, JSON.stringify(job))),
      restart: async () => own?.crash(),
      disconnect,
      // Silent for longer than JetStream waits, and then heard again.
      async lapse({ consumers, stream }) {
        const [proxy] = proxies;
        proxy?.pause();
        const isRedelivered = async () => (await consumers.info(stream, 'workers')).delivered.consumer_seq > 1;
        await vi.waitUntil(isRedelivered, PATIENTLY);
        proxy?.resume();
      },
      async unreachable() {
        const { proxy, url } = await proxied(own?.url ?? '');
        const connection = await connectionTo(url);
        await proxy.stop();
        return natsQueue({ jetstream: jetstream(connection), stream: 'away' });
      },
    },
    { missing: 'no stream for', hasWorkers: true },
  );

  describe('the stream of a queue', () => {
    it('a new stream keeps jobs on disk without an age, and keys for twelve hours', async () => {
      const { queue, streams, stream } = await opened();
      await queue.init();
      expect((await streams.info(stream)).config).toMatchObject({
        retention: 'limits',
        storage: 'file',
        discard: 'new',
        max_age: 0,
        duplicate_window: 12 * HOUR_NANOS,
      });
    });

    /** A stream that an operator has created before the queue. */
    async function withStream(settings: object) {
      const one = await open();
      const [subjects, duplicate_window] = [[`${one.stream}.>`], 6 * HOUR_NANOS];
      await one.streams.add({ name: one.stream, subjects, duplicate_window, ...settings } as never);
      return one;
    }

    it.each<[string, string, object]>([
      ['a window of two minutes', '--dupe-window=12h', { duplicate_window: HOUR_NANOS / 30 }],
      ['a window a second short of six hours', '--dupe-window=12h', { duplicate_window: 6 * HOUR_NANOS - 1e9 }],
      ['the retention of a work queue', 'Delete the stream', { retention: 'workqueue' }],
      ['its messages in memory', 'Delete the stream', { storage: 'memory' }],
      ['an age at which jobs are dropped', '--max-age=0', { max_age: 12 * HOUR_NANOS }],
      ['a size at which the oldest jobs are dropped', '--discard=new', { max_bytes: 1_000_000 }],
      ['other subjects', '.jobs', { subjects: [`other-${process.pid}`] }],
    ])('the error about %s says what to set', async (_, fix, settings) => {
      const { queue, stream } = await withStream(settings);
      const error = await rejection(queue.init());
      expect(error).toMatchObject({ code: 'invalid_option' });
      expect(error.message).toContain(`The stream '${stream}'`);
      expect(error.message).toContain(fix);
    });

    it('the queue accepts settings of an operator under which no job is lost', async () => {
      const { queue } = await withStream({ discard: 'new', max_bytes: 10_000_000 });
      await queue.init();
      expect(await queue.put(aQueued())).toBe('queued');
    });

    it('a full stream refuses a put, and keeps its jobs', async () => {
      const { queue } = await withStream({ discard: 'new', max_msgs: 1 });
      await queue.init();
      await putAll(queue, {});
      await expect(queue.put(aQueued())).rejects.toThrow('maximum messages exceeded');
      expect(await queue.stats()).toMatchObject({ depth: 1 });
    });

    it('a purge removes old finished jobs up to the first job that waits', async () => {
      const one = await opened();
      const target = deliveryStream(one.client, one.stream, 2_000);
      await target.declare();
      const jobs = async () => (await target.count(target.jobs)) as number;
      const handler = recorded(({ id }) => id === 'evt_waits' && never());
      one.work({ on: handler.on, concurrency: 2 });
      await putAll(one.queue, {}, { eventId: 'evt_waits' }, {});
      await untilStats(one.queue, { depth: 1 });
      await target.purge(Date.now());
      expect(await jobs()).toBe(3);
      await target.purge(Date.now() + 13 * 3_600_000);
      expect(await jobs()).toBe(2);
      expect(await one.queue.stats()).toMatchObject({ depth: 1 });
      expect(handler.runs).toHaveLength(3);
    });
  });

  describe('the server of a queue', () => {
    it('the key of a finished job is known after the server was killed and started again', async () => {
      const { queue, work } = await opened(undefined, {}, own?.url);
      const queued = aQueued();
      await queue.put(queued);
      const worker = work({ on: { '*': () => {} } });
      await untilStats(queue);
      await worker.stop();
      await own?.crash();
      await vi.waitFor(async () => expect(await queue.put(queued)).toBe('known'), PATIENTLY);
    });

    it('a put to a server that has stopped answering rejects within its limit', async () => {
      const { queue } = await opened(undefined, {}, own?.url);
      own?.freeze();
      atEnd(() => own?.thaw());
      // A signal takes effect a moment after it was sent.
      await vi.waitFor(() => expect(queue.put(aQueued())).rejects.toThrow(), PATIENTLY);
    });
  });

  it('a large body stays where the answer to its put was lost, and its job is looked for much later', async () => {
    const overflow = anOverflow();
    const { stream, queue, client, consumers, work } = await opened(undefined, { overflow });
    const large = () => aQueued({ data: { text: 'x'.repeat(300_000) } });
    const publish = client.publish.bind(client);
    vi.spyOn(client, 'publish').mockImplementationOnce(async (...message) => {
      await publish(...message);
      throw new Error('the answer was lost');
    });
    const get = vi.spyOn(client.consumers, 'get').mockRejectedValueOnce(new Error('the server is away'));
    await expect(queue.put(large())).rejects.toThrow('the answer was lost');
    const [now, elapsed] = [Date.now.bind(Date), performance.now.bind(performance)];
    vi.spyOn(Date, 'now').mockImplementation(() => now() + 600_000);
    vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + 600_000);
    expect(await queue.put(large())).toBe('queued');
    await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2), PATIENTLY);
    const ofSearch = String(get.mock.calls[1]?.[1]);
    await vi.waitFor(() => expect(consumers.info(stream, ofSearch)).rejects.toThrow('consumer not found'), PATIENTLY);
    expect(overflow.bodies.size).toBe(2);
    const handler = recorded();
    work({ on: handler.on, overflow });
    await handler.haveRun(1, 1);
  });

  describe('a limit on the size of messages', () => {
    const LARGEST = 1_048_576;

    it('a put rejects where only the dead letter of the job would be too large', async () => {
      const { queue } = await opened();
      const body = 'A'.repeat(LARGEST - JSON.stringify(aQueued()).length);
      await expect(queue.put({ ...aQueued(), body })).rejects.toThrow('max_payload');
    });

    it('the largest job can become a dead letter with a long reason', async () => {
      const { queue, work } = await opened();
      const event = atob(aQueued().body);
      const queued = { ...aQueued(), body: btoa(event.padEnd(700_000)) };
      // NATS counts the headers too: as many bytes as fit, less what a put adds to a large job.
      const room = LARGEST - 8_192 - 300 - JSON.stringify(queued).length;
      queued.unsigned = { webhookId: 'x'.repeat(room) };
      expect(await queue.put(queued)).toBe('queued');
      work({ on: { '*': () => Promise.reject(new PermanentError('\u0000'.repeat(2_000))) } });
      const letter = await untilDeadLetter(queue);
      expect(letter.delivery?.body).toBe(queued.body);
      expect(letter.reason).toHaveLength(1_000);
    });

    it('the largest job can become a dead letter with as much of a long stack as there is room for', async () => {
      const { queue, work } = await opened();
      const event = atob(aQueued().body);
      const queued = { ...aQueued(), body: btoa(event.padEnd(700_000)) };
      const room = LARGEST - 8_192 - 300 - JSON.stringify(queued).length;
      queued.unsigned = { webhookId: 'x'.repeat(room) };
      await queue.put(queued);
      const cause = new Error('\u{20ac}'.repeat(4_000));
      work({ on: { '*': () => Promise.reject(new PermanentError('\u{20ac}'.repeat(1_000), { cause })) } });
      const { stack } = await untilDeadLetter(queue);
      expect(stack?.length).toBeGreaterThan(500);
      expect(stack?.length).toBeLessThan(4_000);
    });
  });

  it('a handler that runs longer than ackWaitMs keeps its job', async () => {
    const one = await opened(undefined, { ackWaitMs: 1_500 });
    const other = await open(one.stream, { ackWaitMs: 1_500 });
    const end = later();
    const handler = recorded(() => end.promise);
    for (const { work } of [one, other]) work({ on: handler.on });
    await putAll(one.queue, {});
    await handler.haveRun(1);
    // Three times as long as JetStream waits for a worker that is silent.
    await vi.waitUntil(async () => Number((await one.queue.stats()).oldestMs) > 4_500, PATIENTLY);
    end.resolve();
    await untilStats(one.queue);
    expect(handler.attempts()).toEqual([1]);
  });

  it('a handler is no attempt of a job unless it started', async () => {
    const one = await opened(undefined, { attempts: 1, ackWaitMs: 1_000 });
    await putAll(one.queue, {});
    // As a worker whose connection is lost, or which is paused, before it has the message.
    const consumer = await one.client.consumers.get(one.stream, 'workers');
    for await (const _ of await consumer.fetch({ max_messages: 1, expires: 1_000 })) break;
    const handler = recorded(never);
    const first = one.work({ on: handler.on });
    await handler.haveRun(1);
    await first.stop({ timeoutMs: 0 });
    one.work({ on: { '*': expect.fail } });
    await untilStats(one.queue, { depth: 0, dead: 1 });
    expect(await one.queue.deadLetters()).toMatchObject([{ reason: 'The worker died during the last attempt.' }]);
  });

  it('a stopped worker gives a job back at once whose handler does not end', async () => {
    const one = await opened(undefined, { ackWaitMs: 600_000 });
    const handler = recorded(({ attempt }) => attempt === 1 && never());
    const first = one.work({ on: handler.on });
    await putAll(one.queue, {});
    await handler.haveRun(1);
    await first.stop({ timeoutMs: 0 });
    one.work({ on: handler.on });
    await handler.haveRun(1, 2);
  });

  it('a job that a worker could not read runs with attempt 1 once a worker can', async () => {
    const { stream, client, queue, streams, work } = await opened();
    await client.publish(`${stream}.unreadable`, JSON.stringify(aQueued())); // as a worker of an older version left it
    const handler = recorded();
    work({ on: handler.on });
    await handler.haveRun(1);
    await untilStats(queue);
    const subjects = async () => (await streams.info(stream, { subjects_filter: '>' })).state.subjects;
    await vi.waitFor(async () => expect(await subjects()).toEqual({ [`${stream}.jobs`]: 1 }), PATIENTLY);
  });

  describe('a worker that loses its connection', () => {
    it('another worker runs the job with a larger fence, and the first signal is aborted', async () => {
      const { proxy, one, behind } = await behindProxy({ ackWaitMs: 1_500 });
      const handler = recorded(({ attempt }) => attempt === 1 && never());
      behind.work({ on: handler.on });
      await putAll(one.queue, {});
      await handler.haveRun(1);
      await proxy.stop();
      one.work({ on: handler.on });
      await handler.haveRun(1, 2);
      const [first, second] = handler.runs;
      expect(second?.fence).toBeGreaterThan(first?.fence ?? Number.POSITIVE_INFINITY);
      await vi.waitFor(() => expect(first?.signal.aborted).toBe(true), PATIENTLY);
    });

    it.each([
      ['a PermanentError', failingForGood],
      ['an error', failing],
    ])('%s from a silent connection changes nothing of the next run', async (_, fail) => {
      const { proxy, one, behind } = await behindProxy();
      const [end, another] = [later(), later()];
      const handler = recorded(async ({ id, attempt }) => {
        if (id === 'evt_later') return undefined;
        if (attempt > 1) return another.promise;
        await end.promise;
        return fail();
      });
      await putAll(one.queue, {});
      behind.work({ on: handler.on });
      await handler.haveRun(1);
      proxy.pause();
      end.resolve();
      one.work({ on: handler.on });
      await handler.haveRun(1, 2);
      proxy.resume();
      // The first worker is free, and would run what it has put back before this.
      await putAll(one.queue, { eventId: 'evt_later' });
      await handler.haveRun(1, 2, 1);
      another.resolve();
      await untilStats(one.queue);
      expect(handler.runs).toHaveLength(3);
    });

    it('the last attempt runs although the answer to its record was lost', async () => {
      const { proxy, one, behind } = await behindProxy({ attempts: 1 });
      loseAnswerTo(`${one.stream}.starts`, behind, proxy);
      const handler = recorded();
      behind.work({ on: handler.on });
      await putAll(one.queue, {});
      await untilStats(one.queue);
      expect(handler.runs).toHaveLength(1);
      expect(proxy.lost()).toBe(1);
    });

    it('a dead letter whose confirmation was lost is reported, and does not run again', async () => {
      const { proxy, one, behind } = await behindProxy();
      loseAnswerTo(`${one.stream}.dead`, behind, proxy);
      const observe = vi.fn();
      const handler = recorded(failingForGood);
      behind.work({ on: handler.on, observe });
      await putAll(one.queue, {});
      await untilStats(one.queue, { depth: 0, dead: 1 });
      await vi.waitFor(() => expect(observe.mock.lastCall?.[0]).toMatchObject({ kind: 'dead_letter' }), PATIENTLY);
      expect(handler.runs).toHaveLength(1);
    });

    it('a success in the last attempt is recorded when the connection works again', async () => {
      const { proxy, one, behind } = await behindProxy({ attempts: 1 });
      const handler = recorded(() => proxy.cut());
      behind.work({ on: handler.on });
      await putAll(one.queue, {});
      await handler.haveRun(1);
      await untilStats(one.queue);
      expect(handler.runs).toHaveLength(1);
    });
  });

  describe('a dead letter of another program', () => {
    it('attempts and a reason of a wrong type are left out', async () => {
      const { client, queue, stream } = await opened();
      const letter = { job: aQueued(), attempts: 'many', reason: { why: 1 } };
      await client.publish(`${stream}.dead`, JSON.stringify(letter));
      const [found] = await queue.deadLetters();
      expect(found).toMatchObject({ attempts: undefined, reason: undefined, delivery: { v: 1 } });
      expect(await queue.discard(String(found?.id))).toBe(true);
    });

    it('text that is no JSON is put back as it was', async () => {
      const { client, queue, stream, streams } = await opened();
      await client.publish(`${stream}.dead`, 'no JSON');
      const [found] = await queue.deadLetters();
      expect(await queue.retry(String(found?.id))).toBe(true);
      const stored = await streams.getMessage(stream, { last_by_subj: `${stream}.jobs` });
      expect(stored?.string()).toBe('no JSON');
    });
  });

  it('a dead letter has the stack of its last error and of its cause', async () => {
    const { queue, work } = await opened(undefined, { attempts: 1 });
    await putAll(queue, {});
    work({ on: { '*': () => Promise.reject(new Error('no clip', { cause: new Error('no disk') })) } });
    const { stack } = await untilDeadLetter(queue);
    expect(stack).toMatch(/^Error: no clip\n +at [\s\S]*\nCaused by: Error: no disk\n +at /);
  });

  describe('a job that an operator follows', () => {
    it('several jobs are followed, each to its own end', async () => {
      const { queue, work } = await opened();
      const handler = recorded(({ id }) => (handler.attempts(id).length === 1 || id === 'evt_bad') && failingForGood());
      work({ on: handler.on });
      await putAll(queue, { eventId: 'evt_bad' }, { eventId: 'evt_1' }, { eventId: 'evt_2' });
      await untilStats(queue, { depth: 0, dead: 3 });
      const letters = await queue.deadLetters();
      const jobs = await Promise.all(letters.map(({ id }) => queue.retryAndFollow?.(id)));
      const states = () => Promise.all(jobs.map((job) => job?.state()));
      await vi.waitFor(async () => expect((await states()).toSorted()).toEqual(['dead', 'done', 'done']), PATIENTLY);
      const stillDead = await queue.deadLetters();
      expect((await states()).indexOf('dead')).toBe(
        letters.findIndex(({ delivery }) => delivery?.body === stillDead[0]?.delivery?.body),
      );
    });

    it('a job that a worker cannot read is moved with what it is followed by', async () => {
      const { queue, client, stream, streams, work } = await opened();
      const job = JSON.stringify({ ...aQueued(), v: 2 });
      await client.publish(`${stream}.dead`, `{"job":${job},"attempts":1,"reason":"no clip"}`);
      const { id } = await untilDeadLetter(queue);
      await queue.retryAndFollow?.(id);
      const { seq } = (await streams.getMessage(stream, { last_by_subj: `${stream}.jobs` })) ?? {};
      work({ on: recorded().on });
      const moved = async () => streams.getMessage(stream, { last_by_subj: `${stream}.unreadable` });
      await vi.waitUntil(moved, PATIENTLY);
      expect((await moved())?.header.get('Nats-Msg-Id')).toBe(`unreadable ${seq} for ${seq}`);
    });

    it('a job that a worker could not read is followed to its end', async () => {
      const { queue, client, stream, streams, work } = await opened();
      await client.publish(`${stream}.dead`, JSON.stringify({ job: aQueued(), attempts: 1, reason: 'no clip' }));
      const job = await queue.retryAndFollow?.((await untilDeadLetter(queue)).id);
      const retried = await streams.getMessage(stream, { last_by_subj: `${stream}.jobs` });
      const headers = natsHeaders();
      headers.set('Nats-Msg-Id', `unreadable ${retried?.seq} for ${retried?.seq}`);
      await client.publish(`${stream}.unreadable`, retried?.data, { headers });
      await streams.deleteMessage(stream, retried?.seq ?? 0);
      work({ on: recorded().on });
      await vi.waitFor(async () => expect(await job?.state()).toBe('done'), PATIENTLY);
    });

    it('the records of another program are left out', async () => {
      const { queue, client, stream, work } = await opened();
      const handler = recorded(() => (handler.runs.length === 1 ? failingForGood() : never()));
      work({ on: handler.on });
      await putAll(queue, {});
      const { id } = await untilDeadLetter(queue);
      const job = await queue.retryAndFollow?.(id);
      await handler.haveRun(1, 1);
      for (const record of ['ended', 'ended 1 done', 'ended 99999999999999999999 done', `ended ${id} lost`])
        await client.publish(`${stream}.starts`, record);
      expect(await job?.state()).toBe('pending');
    });
  });

  it('the stats stay the same while another client lists the dead letters', async () => {
    const one = await opened(undefined, { attempts: 1 });
    const { queue: other } = await open(one.stream);
    const worker = one.work({ on: { '*': failing } });
    await putAll(one.queue, {}, {}, {});
    await untilStats(one.queue, { depth: 0, dead: 3 });
    await worker.stop();
    await putAll(one.queue, {});
    let hasEnded = false;
    const listing = (async () => {
      while (!hasEnded) expect(await other.deadLetters()).toHaveLength(3);
    })();
    let age = 0;
    for (let i = 0; i < 50; i += 1) {
      const { oldestMs, ...counts } = await one.queue.stats();
      expect(counts).toEqual({ depth: 1, dead: 3 });
      expect(oldestMs).toBeGreaterThanOrEqual(age);
      age = Number(oldestMs);
    }
    hasEnded = true;
    await listing;
  });
});
