import { must } from '../../define-suite.js';
import { LONG, needsMethod, rivalOf, SHORT, type StoreTrialCase } from '../trial.js';

/** Cases about the operator's methods. */
export const operator: readonly StoreTrialCase[] = [
  {
    name: 'the operator sees a row in each state',
    rules: ['R8', 'R11'],
    skip: needsMethod('inspect'),
    async run({ store, store2, request, acquire }) {
      const first = request();
      must((await store2.inspect?.(first.key)) === undefined, 'an absent row is undefined');
      const { ref } = await acquire(first);
      const held = await store2.inspect?.(first.key);
      must(held?.state === 'in_progress' && held.fence === ref.fence && held.attempt === 1, 'a row in progress', held);
      must(held.fingerprint === 'first-body' && held.alias === 'first-alias', 'what was seen first', held);
      must(isLeft(held.leaseMsLeft, LONG), 'what is left of the lease', held);
      must(isLeft(held.retainMsLeft, LONG * 60), 'what is left of the retention', held);
      await store.release(ref);
      const released = await store2.inspect?.(first.key);
      must(released?.state === 'released' && released.fence === ref.fence, 'a released row', released);
      const { ref: ref2 } = await acquire(rivalOf(first));
      await store.complete(ref2, { retainMs: LONG });
      const completed = await store2.inspect?.(first.key);
      must(completed?.state === 'completed' && completed.attempt === 2, 'a completed row', completed);
      must(completed.leaseMsLeft === undefined, 'no lease', completed);
      must(isLeft(completed.retainMsLeft, LONG), 'what is left of the retention', completed);
    },
  },
  {
    name: 'the operator sees no expired row',
    rules: ['R9'],
    skip: needsMethod('inspect'),
    async run({ store, request, acquire, elapse }) {
      const first = request({ retainMs: SHORT });
      await acquire(first);
      await elapse(SHORT);
      const found = await store.inspect?.(first.key);
      must(found === undefined, 'an expired row is undefined', found);
    },
  },
  {
    name: 'a purge removes expired rows, no more than the limit, and nothing else',
    rules: ['R9'],
    skip: needsMethod('purgeExpired'),
    async run({ store, store2, request, acquire, elapse, options }) {
      const [silent, released, completed] = [request({ leaseMs: SHORT }), request(), request()];
      await acquire(silent);
      await store.release((await acquire(released)).ref);
      await store.complete((await acquire(completed)).ref, completed);
      for (let i = 0; i < 5; i += 1) await acquire(request({ retainMs: SHORT }));
      await elapse(SHORT);
      let total = 0;
      for (let purged = 1; purged > 0; total += purged) {
        const [one = 0, two = 0] = await Promise.all([
          store.purgeExpired?.({ limit: 2 }),
          store2.purgeExpired?.({ limit: 2 }),
        ]);
        must(one <= 2 && two <= 2, 'at most as many as the limit says', [one, two]);
        purged = one + two;
      }
      must(total >= 5 || options.expiresByItself === true, 'all that are expired', total);
      for (const kept of [silent, released]) {
        const { result } = await acquire(rivalOf(kept));
        must(result.attempt === 2, 'a row that lives keeps its attempts', result);
      }
      const result = await store.claim(rivalOf(completed));
      must(result.status === 'completed', 'a completed row that lives stays completed', result);
    },
  },
];

function isLeft(ms: number | undefined, atMost: number): boolean {
  return ms !== undefined && ms > atMost / 2 && ms <= atMost;
}
