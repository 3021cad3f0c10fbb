import { type QueueUnderTest, queueSuite } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { type MemoryQueue, memoryQueue } from '../../../../test/support/memory-queue.js';
import { PLANTED_BUGS, type Plant } from './planted-bugs.js';

type Made = QueueUnderTest & { queue: MemoryQueue };

/** The suite on the memory queue, with a bug or without. */
function suiteOn(plant: Plant = () => ({}), patienceMs?: number) {
  return queueSuite<Made>({
    make({ attempts }) {
      const queue = memoryQueue({ attempts });
      const broken = { ...queue, ...plant(queue) };
      const workers: Awaited<ReturnType<MemoryQueue['work']>>[] = [];
      return {
        queue: broken,
        async work(options) {
          const worker = await broken.work(options);
          workers.push(worker);
          return worker;
        },
        async close() {
          for (const worker of workers) await worker.kill?.();
        },
      };
    },
    inject: ({ queue }, job) => queue.inject(job),
    restart() {},
    disconnect: ({ queue }) => queue.lapse(),
    lapse: ({ queue }) => queue.lapse(),
    unreachable: () => ({
      ...memoryQueue(),
      put: plant(memoryQueue()).put ?? (async () => Promise.reject(new Error('away'))),
    }),
    patienceMs,
  });
}

describe('the queue suite', () => {
  for (const { name, skip, run } of suiteOn()) it.skipIf(skip)(`a correct queue passes: ${name}`, run);

  it.each(Object.entries(PLANTED_BUGS))('a queue fails its cases that %s', async (_, { plant, caughtBy }) => {
    const caught: string[] = [];
    for (const { name, run } of suiteOn(plant, 300)) {
      if (!caughtBy.includes(name)) continue;
      await run().catch((error: Error) => caught.push(`${name}: ${/\(Q\d+: /.test(error.message)}`));
    }
    expect(caught).toEqual(caughtBy.map((name) => `${name}: true`));
  });

  it('every case fails for some planted bug', () => {
    const caught = new Set(Object.values(PLANTED_BUGS).flatMap(({ caughtBy }) => caughtBy));
    expect(suiteOn().filter(({ name }) => !caught.has(name))).toEqual([]);
  });

  it('a case is skipped without its hook or the ability of the queue', () => {
    const all = queueSuite({ make: () => ({ queue: memoryQueue(), work: memoryQueue().work }), without: ['known'] });
    const skipped = all.filter(({ skip }) => skip).map(({ skip }) => skip);
    expect(new Set(skipped)).toEqual(
      new Set([
        "the engine is without 'known'",
        'needs inject',
        'needs restart',
        'needs unreachable',
        'needs disconnect',
        'needs lapse',
      ]),
    );
  });
});
