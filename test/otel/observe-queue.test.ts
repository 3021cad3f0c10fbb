import { metrics } from '@opentelemetry/api';
import { PermanentError } from 'service-webhooks';
import { observeQueue } from 'service-webhooks/otel';
import type { QueueStats } from 'service-webhooks/queue';
import { sqliteQueue } from 'service-webhooks/queue/sqlite';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientOf } from '../integration/sqlite.js';
import { libraries, sqliteFiles } from '../integration/sqlite-libraries.js';
import { aQueued } from '../queue/queued.js';
import { later, refusal } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { collectedMetrics } from './collected-metrics.js';

const { newFile, open } = sqliteFiles();
const [library] = libraries;

/** The gauges as an SDK collects them, by the name of the queue, their own name and their unit. */
function collected() {
  const { meterProvider, points } = collectedMetrics();
  const values = async () =>
    Object.fromEntries(
      (await points()).map(({ name, unit, attributes, value }) => [
        `${attributes['webhook.queue.name']} ${name} ${unit}`,
        value,
      ]),
    );
  return { meterProvider, values };
}

const queueOf = (stats: () => Promise<QueueStats>) => ({ name: 'clips', stats });
const STATS: QueueStats = { depth: 3, oldestMs: 90_500, dead: 2 };

describe('observeQueue', () => {
  it.skipIf(!library)('three gauges have the depth, the oldest age and the dead letters of a queue', async () => {
    const [, driver] = library ?? expect.fail('no library');
    let clock = 1_000_000;
    const handle = open(driver, newFile(), 5_000);
    const queue = sqliteQueue(clientOf(driver, handle), { name: 'clips', now: () => clock, pollMs: 10 });
    const { meterProvider, values } = collected();
    observeQueue(queue, { meterProvider });
    expect(await values()).toEqual({
      'clips webhook.queue.depth {delivery}': 0,
      'clips webhook.queue.oldest_age s': 0,
      'clips webhook.queue.dead_letters {delivery}': 0,
    });
    await queue.put(aQueued());
    const dies = () => Promise.reject(new PermanentError('no clip'));
    const worker = queue.work({ on: { '*': dies }, logger: false });
    await vi.waitUntil(async () => (await queue.stats()).dead === 1, PATIENTLY);
    await worker.stop();
    await queue.put(aQueued());
    clock += 30_000;
    await queue.put(aQueued());
    expect(await values()).toEqual({
      'clips webhook.queue.depth {delivery}': 2,
      'clips webhook.queue.oldest_age s': 30,
      'clips webhook.queue.dead_letters {delivery}': 1,
    });
  });

  it('an unknown age is left out, and the name can be another one', async () => {
    const { meterProvider, values } = collected();
    observeQueue(
      queueOf(async () => ({ ...STATS, oldestMs: undefined })),
      { meterProvider, name: 'songs' },
    );
    expect(await values()).toEqual({
      'songs webhook.queue.depth {delivery}': 3,
      'songs webhook.queue.dead_letters {delivery}': 2,
    });
  });

  it('an engine that does not answer costs only its own gauges, until it answers', async () => {
    const { meterProvider, values } = collected();
    let isAway = true;
    observeQueue(
      queueOf(() => {
        if (isAway) throw new Error('away');
        return Promise.resolve(STATS);
      }),
      { meterProvider },
    );
    observeQueue({ name: 'songs', stats: async () => STATS }, { meterProvider });
    const found = await values().catch((error) => expect.fail(String(error)));
    expect(Object.keys(found).filter((name) => name.startsWith('clips'))).toEqual([]);
    expect(Object.keys(found).filter((name) => name.startsWith('songs'))).toHaveLength(3);
    isAway = false;
    expect(await values()).toMatchObject({ 'clips webhook.queue.depth {delivery}': 3 });
  });

  it('a slow engine is asked once at a time', async () => {
    const { meterProvider, values } = collected();
    const answer = later<QueueStats>();
    const stats = vi.fn(() => answer.promise);
    observeQueue(queueOf(stats), { meterProvider });
    const both = [values(), values()];
    await vi.waitUntil(() => stats.mock.calls.length > 0, PATIENTLY);
    answer.resolve(STATS);
    await Promise.all(both);
    expect(stats).toHaveBeenCalledTimes(1);
    await values();
    expect(stats).toHaveBeenCalledTimes(2);
  });

  it('a queue is not asked after the returned function was called', async () => {
    const { meterProvider, values } = collected();
    const stats = vi.fn(async () => STATS);
    observeQueue(queueOf(stats), { meterProvider })();
    expect(await values()).toEqual({});
    expect(stats).not.toHaveBeenCalled();
  });

  it('the registered SDK gets the gauges by default', async () => {
    const { meterProvider, values } = collected();
    metrics.setGlobalMeterProvider(meterProvider);
    onTestFinished(() => metrics.disable());
    observeQueue(queueOf(async () => STATS));
    expect(await values()).toMatchObject({ 'clips webhook.queue.dead_letters {delivery}': 2 });
  });

  it('an object that is no queue and an unknown option are refused', () => {
    expect(refusal(() => observeQueue({ name: 'clips' } as never)).message).toContain('it has no method stats()');
    const queue = queueOf(async () => STATS);
    expect(refusal(() => observeQueue(queue, { meterProviders: metrics } as never)).message).toContain(
      "'meterProvider'",
    );
  });
});
