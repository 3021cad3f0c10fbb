import { must, needs } from '../../define-suite.js';
import { type Acquired, isFence, needsMethod, rivalOf, SHORT, type StoreTrial, type StoreTrialCase } from '../trial.js';

/**
 * Cases about fences, which only grow: a resource of the user compares them long after the store has forgotten the row.
 */
export const fences: readonly StoreTrialCase[] = [
  {
    name: 'the fence of a key grows with each of ten owners',
    rules: ['R12'],
    async run({ store, store2, request, acquire }) {
      const first = request();
      let { ref } = await acquire(first);
      for (let owner = 2; owner <= 10; owner += 1) {
        await store.release(ref);
        const next = await acquire(rivalOf(first), owner % 2 === 0 ? store2 : store);
        mustGrow(ref.fence, next.result);
        ref = next.ref;
      }
    },
  },
  {
    name: 'the fence of a forgotten key grows',
    rules: ['R12'],
    skip: needsMethod('forget'),
    async run(trial) {
      await mustGrowAfter(trial, ({ store }, key) => store.forget?.(key));
    },
  },
  {
    name: 'the fence of a key whose retention is over grows',
    rules: ['R12'],
    async run(trial) {
      await mustGrowAfter(trial);
    },
  },
  {
    name: 'the fence of a purged key grows',
    rules: ['R12'],
    skip: needsMethod('purgeExpired'),
    async run(trial) {
      await mustGrowAfter(trial, async ({ store, elapse }) => {
        await elapse(SHORT);
        while ((await store.purgeExpired?.({ limit: 100 })) === 100);
      });
    },
  },
  {
    name: 'the fence of a key whose row was lost grows',
    rules: ['R12'],
    skip: needs('evict'),
    async run(trial) {
      await mustGrowAfter(trial, ({ options, made }, key) => options.evict?.(made, key));
    },
  },
  {
    name: 'the fence of a key grows over a death of every client',
    rules: ['R12'],
    skip: needs('restart'),
    async run({ store, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await store.release(ref);
      const later = await options.restart?.(made);
      const { result } = await acquire(rivalOf(first), later);
      mustGrow(ref.fence, result);
    },
  },
];

/** Has several owners, so that the case notices a store that restarts its count of owners. */
async function mustGrowAfter(
  trial: StoreTrial,
  forgotten: (trial: StoreTrial, key: string) => unknown = () => {},
): Promise<void> {
  const { store, store2, request, acquire, elapse } = trial;
  const first = request({ retainMs: SHORT });
  let { ref } = await acquire(first);
  for (let owner = 2; owner <= 4; owner += 1) {
    await store.release(ref);
    ({ ref } = await acquire(rivalOf(first)));
  }
  await store.complete(ref, { retainMs: SHORT });
  await forgotten(trial, first.key);
  await elapse(SHORT);
  const { result } = await acquire(rivalOf(first), store2);
  must(result.attempt === 1, 'a new row: attempt 1', result);
  mustGrow(ref.fence, result);
}

function mustGrow(last: number, { fence }: Acquired): void {
  must(isFence(fence) && fence > last, 'a higher fence than before', { before: last, fence });
}
