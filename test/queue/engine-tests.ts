import { memoryStore, PermanentError, type QueuedDelivery } from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { withSchemas } from 'service-webhooks/standard-schema';
import { type QueueSuiteOptions, type QueueUnderTest, queueSuite, type WorkerUnderTest } from 'service-webhooks-suites';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod';
import { toBase64 } from '../../src/bytes.js';
import type { OperatedQueue } from '../../src/queue/dead-letters.js';
import type { DeadRetentionOptions } from '../../src/queue/dead-retention.js';
import type { PayloadOptions } from '../../src/queue/payloads.js';
import type { WorkerOptions } from '../../src/queue/processor.js';
import { later, never } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';

import { startProxyOf, type TcpProxy } from '../support/tcp-proxy.js';
import { aKey, anOverflow } from './overflows.js';
import { aQueued } from './queued.js';
import { failing, failingForGood, putAll, recorded, untilDeadLetter, untilStats } from './runs.js';

/** The options that every engine with dead letters has. */
export type QueueOptionsOfAll = PayloadOptions & DeadRetentionOptions;

export interface EngineUnderTest extends QueueUnderTest {
  /** Opens the same queue on another client. */
  another(): OperatedQueue | Promise<OperatedQueue>;
  work(options: WorkerOptions & { concurrency?: number }): Promise<WorkerUnderTest>;
}

/** The queue suite's options, of an engine that also takes the options of its queue. */
export type EngineOptions<Made extends EngineUnderTest> = Omit<QueueSuiteOptions<Made>, 'make'> & {
  make(setup: { attempts: number; options?: QueueOptionsOfAll }): Made | Promise<Made>;
};

/** What the tests of an engine know of it besides the hooks of the suite. */
export interface EngineTraits<Made> {
  /** The error of a put to a queue that was not created; undefined where a put creates it. */
  missing?: string;
  /** Whether the engine has workers of its own, which limit what runs at once. */
  hasWorkers?: boolean;
  /** Puts a delivery whose number of attempts another program has changed, by what that program wrote. */
  changed?: Record<string, (made: Made, queued: QueuedDelivery) => Promise<unknown>>;
}

/** The end of what a test opens, what was opened last first, and the proxies before its server. */
export function closeAfterEach() {
  const closing: (() => unknown)[] = [];
  const proxies: TcpProxy[] = [];
  const atEnd = (close: () => unknown) => void closing.push(close);
  afterEach(async () => {
    proxies.length = 0;
    for (const close of closing.splice(0).reverse()) await close();
  });
  return {
    atEnd,
    proxies,
    async proxied(url: string) {
      const one = await startProxyOf(url);
      proxies.push(one.proxy);
      atEnd(() => one.proxy.stop());
      return one;
    },
    disconnect() {
      for (const proxy of proxies) proxy.cut();
    },
  };
}

/** The queue suite, and what each engine promises on top of it. */
export function testEngine<Made extends EngineUnderTest>(
  engine: EngineOptions<Made>,
  { missing, hasWorkers = false, changed = {} }: EngineTraits<Made>,
): void {
  const options: QueueSuiteOptions<Made> = {
    ...engine,
    async make(setup) {
      const made = await engine.make(setup);
      return { ...made, queue2: await made.another() };
    },
  };

  async function initialised(attempts: number): Promise<Made> {
    const made = await options.make({ attempts });
    await made.queue.init?.();
    return made;
  }

  describe('the queue suite', () => {
    for (const { name, skip, run } of queueSuite(options)) it.skipIf(skip)(name, run);
  });

  it('eight clients can create one queue at once', async () => {
    const made = await options.make({ attempts: 3 });
    const clients = await Promise.all(Array.from({ length: 8 }, () => made.another()));
    await Promise.all(clients.map((client) => client.init?.()));
    expect(await made.queue.put(aQueued())).toBe('queued');
  });

  it.runIf(missing)('a put to a queue that does not exist rejects', async () => {
    const { queue } = await options.make({ attempts: 3 });
    await expect(queue.put(aQueued())).rejects.toThrow(missing);
  });

  it.each(Object.entries(changed))(
    'a job keeps its number of attempts where another program wrote %s',
    async (_, put) => {
      const made = await initialised(2);
      for (const eventId of ['evt_good', 'evt_bad']) await put(made, aQueued({ eventId, key: crypto.randomUUID() }));
      const handler = recorded(({ id }) => id === 'evt_bad' && failing());
      await made.work({ logger: false, on: handler.on });
      await untilStats(made.queue, { depth: 0, dead: 1 });
      expect(handler.attempts('evt_good')).toEqual([1]);
      expect(handler.attempts('evt_bad')).toEqual([1, 2]);
      expect(await made.queue.deadLetters()).toMatchObject([{ attempts: 2, reason: 'no disk' }]);
    },
  );

  it('a dead letter has the stack of its handler, and of the cause', async () => {
    const { queue, work } = await initialised(2);
    await queue.put(aQueued());
    const handler = recorded(({ attempt }) => {
      throw new Error(`failure ${attempt}`, { cause: new Error('no disk') });
    });
    await work({ logger: false, on: handler.on });
    const { reason, stack } = await untilDeadLetter(queue);
    expect(reason).toBe('failure 2');
    expect(stack).toMatch(/^Error: failure 2\n +at .*engine-tests\.ts[\s\S]*\nCaused by: Error: no disk\n +at /);
  });

  it('a dead letter whose worker died has no stack of an earlier failure', async () => {
    const { queue, work } = await initialised(2);
    const queued = aQueued();
    await queue.put(queued);
    const handler = recorded(({ attempt }) => (attempt === 1 ? failing() : never()));
    const victim = await work({ logger: false, on: handler.on });
    await handler.haveRun(1, 2);
    await victim.kill?.();
    await work({ logger: false, on: handler.on });
    const letter = await untilDeadLetter(queue);
    expect(letter).toMatchObject({ reason: 'The worker died during the last attempt.', stack: undefined });
  });

  it('a dead letter of the largest stack is stored, and can be followed after its retry', async () => {
    const { queue, work } = await initialised(1);
    await queue.put(aQueued());
    const text = '\u0000😀\n'.repeat(3_000);
    const handler = recorded(() => handler.runs.length === 1 && Promise.reject(new Error(text)));
    await work({ logger: false, on: handler.on });
    const { id, stack } = await untilDeadLetter(queue);
    expect(stack).toMatch(/^Error: \\u0000😀\n/);
    expect(stack?.length).toBeGreaterThanOrEqual(2_000); // NATS shortens one whose bytes do not fit
    expect(stack?.length).toBeLessThanOrEqual(4_000);
    const followed = await queue.retryAndFollow?.(id);
    await vi.waitFor(async () => expect(await followed?.state()).toBe('done'), PATIENTLY);
    await followed?.close();
  });

  it('a retried dead letter that is followed is dead where its handler throws a PermanentError again', async () => {
    const { queue, work } = await initialised(2);
    await queue.put(aQueued());
    await work({ logger: false, on: { '*': failingForGood } });
    const { id } = await untilDeadLetter(queue);
    const followed = await queue.retryAndFollow?.(id);
    await vi.waitFor(async () => expect(await followed?.state()).toBe('dead'), PATIENTLY);
    await followed?.close();
    expect(await queue.stats()).toMatchObject({ depth: 0, dead: 1 });
  });

  it('a worker runs the table of withSchemas, and data that does not match becomes a dead letter', async () => {
    const { queue, work } = await initialised(1);
    await putAll(queue, { type: 'stt.completed' }, { type: 'stt.failed' });
    const clips: string[] = [];
    const schemas = {
      'stt.completed': z.object({ clipId: z.string().toUpperCase() }),
      'stt.failed': z.object({ reason: z.string() }),
    };
    const on = withSchemas(schemas, {
      'stt.completed': ({ data }) => void clips.push(data.clipId),
      'stt.failed': ({ data }) => void clips.push(data.reason),
    });
    await work({ logger: false, on });
    const { reason } = await untilDeadLetter(queue);
    expect(reason).toMatch(/^The data of stt\.failed does not match its schema: data\.reason\. /);
    await untilStats(queue, { depth: 0, dead: 1 });
    expect(clips).toEqual(['CLIP_1']);
  });

  it('a worker ends the job of an event that it has handled', async () => {
    const { queue, work } = await initialised(1);
    const jobs = createJobs({ store: memoryStore() });
    await jobs.expect('clip_1', { within: '1h' });
    await jobs.expect('clip_2', { within: '1h' });
    await putAll(queue, { jobId: 'clip_2', type: 'stt.failed' }, { jobId: 'clip_1' });
    const on = { 'stt.completed': () => {}, 'stt.failed': () => Promise.reject(new PermanentError('no clip')) };
    await work({ logger: false, on, jobs });
    expect(await jobs.ended('clip_1')).toMatchObject({ type: 'stt.completed', jobId: 'clip_1' });
    await untilStats(queue, { depth: 0, dead: 1 });
    expect(await jobs.find('clip_2')).toMatchObject({ state: 'expected' });
  });

  describe('a queue whose large bodies are kept outside', () => {
    const large = () => aQueued({ data: { text: 'x'.repeat(300_000) } });

    async function opened(attempts = 1) {
      const overflow = anOverflow();
      const options = { overflow };
      const made = await engine.make({ attempts, options });
      await made.queue.init?.();
      const work = (on: WorkerOptions['on']) => made.work({ logger: false, on, overflow });
      return { ...made, work, overflow, queued: large() };
    }

    it('a worker gets the exact body, which is deleted with the job', async () => {
      const { queue, work, overflow, queued } = await opened();
      await queue.put(queued);
      await queue.put(aQueued());
      expect(overflow.bodies.size).toBe(1);
      const bodies: string[] = [];
      await work({ '*': (_, { delivery }) => void bodies.push(toBase64(delivery.body)) });
      await untilStats(queue);
      expect(bodies).toContain(queued.body);
      await overflow.isEmpty();
    });

    it('a dead letter has its body, runs again, and is discarded with it', async () => {
      const { queue, work, overflow, queued } = await opened();
      await queue.put(queued);
      const handler = recorded(failing);
      await work(handler.on);
      const letter = await untilDeadLetter(queue);
      expect(letter.delivery).toMatchObject({ v: 1, key: queued.key, body: queued.body });
      expect(await queue.retry(letter.id)).toBe(true);
      await handler.haveRun(1, 1);
      const { id } = await untilDeadLetter(queue);
      expect(await queue.discard(id)).toBe(true);
      expect(overflow.bodies.size).toBe(0);
      expect(await queue.discard(id)).toBe(false);
    });

    it('a dead letter whose body cannot be deleted stays', async () => {
      const { queue, work, overflow, queued, another } = await opened();
      await queue.put(queued);
      await work(recorded(failing).on);
      const { id } = await untilDeadLetter(queue);
      const other = await another();
      overflow.fails = 'delete';
      await expect(queue.discard(id)).rejects.toMatchObject({ code: 'body_unavailable' });
      overflow.fails = undefined;
      expect(await other.deadLetters()).toHaveLength(1);
      expect(await other.discard(id)).toBe(true);
      expect(overflow.bodies.size).toBe(0);
    });

    it('a redelivery of a finished job leaves no body', async () => {
      const { queue, work, overflow, queued } = await opened();
      await queue.put(queued);
      await work(recorded().on);
      await untilStats(queue);
      await overflow.isEmpty();
      await queue.put(queued);
      await overflow.isEmpty();
    });
  });

  describe('a queue that encrypts', () => {
    it('a job has no text of its body, and a worker with the key runs it', async () => {
      const encrypt = [aKey(), aKey()];
      const made = await engine.make({ attempts: 1, options: { encrypt } });
      await made.queue.init?.();
      const queued = aQueued();
      await made.queue.put(queued);
      const handler = recorded(failing);
      await made.work({ logger: false, on: handler.on, encrypt: [aKey(), ...encrypt] });
      const { delivery } = await untilDeadLetter(made.queue);
      expect(delivery).toMatchObject({ v: 1, body: queued.body });
    });
  });

  it('dead letters that are too old are discarded', async () => {
    const { queue, work } = await engine.make({ attempts: 1, options: { retainDead: 1 } });
    await queue.init?.();
    await putAll(queue, {}, {});
    await work({ logger: false, on: { '*': failing } });
    await untilStats(queue, { dead: 2 });
    await vi.waitFor(async () => {
      await queue.purgeDead?.();
      expect(await queue.stats()).toMatchObject({ dead: 0 });
    }, PATIENTLY);
  });

  describe.runIf(hasWorkers)('a worker with a concurrency', () => {
    it('as many handlers run at once as the concurrency says', async () => {
      const { queue, work } = await initialised(3);
      await putAll(queue, {}, {}, {}, {}, {});
      const end = later();
      let [running, peak] = [0, 0];
      const handler = recorded(async () => {
        running += 1;
        peak = Math.max(peak, running);
        await end.promise;
        running -= 1;
      });
      await work({ logger: false, on: handler.on, concurrency: 3 });
      await vi.waitFor(() => expect(peak).toBe(3), PATIENTLY);
      await queue.stats();
      end.resolve();
      await untilStats(queue);
      expect(handler.runs).toHaveLength(5);
      expect(peak).toBe(3);
    });

    it('jobs that a stopping worker does not run keep their attempts', async () => {
      const { queue, work } = await initialised(1);
      await putAll(queue, ...Array.from({ length: 100 }, () => ({})));
      const handler = recorded();
      while (handler.runs.length < 100) {
        const before = handler.runs.length;
        const worker = await work({ logger: false, on: handler.on, concurrency: 10 });
        await vi.waitUntil(() => handler.runs.length > before, { ...PATIENTLY, interval: 1 });
        await worker.stop();
      }
      expect(new Set(handler.ids()).size).toBe(100);
      expect(handler.runs).toHaveLength(100);
      await untilStats(queue);
    });
  });
}
