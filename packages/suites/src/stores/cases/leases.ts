import { must, needs } from '../../define-suite.js';
import {
  isHeld,
  LONG,
  mustBeLost,
  mustChangeNothing,
  needsMethod,
  rivalOf,
  SHORT,
  type StoreTrialCase,
} from '../trial.js';

/** Cases about owners that stop responding, are late, or lose their row. */
export const leases: readonly StoreTrialCase[] = [
  {
    name: 'a silent owner keeps its key until the lease is over, and no longer',
    rules: ['R3', 'R11'],
    async run({ store2, request, acquire, elapse, options }) {
      const lease = SHORT * 5;
      const first = request({ leaseMs: lease });
      const second = rivalOf(first);
      const start = performance.now();
      let moved = 0;
      const { ref } = await acquire(first);
      let result = await store2.claim(second);
      for (let tries = 0; result.status === 'in_progress' && tries < 50; tries += 1) {
        must(isHeld(result, lease), '0 < retryAfterMs <= leaseMs', result);
        await elapse(result.retryAfterMs);
        if (options.advance) moved += result.retryAfterMs;
        result = await store2.claim(second);
      }
      const passed = moved + performance.now() - start; // the clock of some stores also runs by itself
      must(result.status === 'acquired', 'acquired once the lease is over', result);
      // A tenth of slack, because the two clocks differ.
      must(passed >= lease * 0.9, `not before ${lease} ms`, passed);
      must(result.fence > ref.fence && result.attempt === 2, 'a higher fence and attempt 2 after a takeover', result);
    },
  },
  {
    name: 'a stale owner is answered lost after a takeover, and the new owner keeps the key',
    rules: ['R5'],
    async run(trial) {
      const { store, store2, request, acquire, elapse } = trial;
      const first = request({ leaseMs: SHORT });
      const second = rivalOf(first, { leaseMs: LONG });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const { ref: ref2 } = await acquire(second, store2);
      await mustChangeNothing(trial, store, ref, 'extend, release and complete');
      const stale = await store.claim(first);
      must(isHeld(stale, LONG) && stale.fence === ref2.fence, 'in_progress for the stale owner', stale);
      const completed = await store2.complete(ref2, second);
      must(completed === 'ok', 'the new owner completes', completed);
    },
  },
  {
    name: 'a key stays completed when a stale owner fails after the new one has completed',
    rules: ['R5'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const second = rivalOf(first, { leaseMs: LONG });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const { ref: ref2 } = await acquire(second, store2);
      await store2.complete(ref2, second);
      const answers = [await store.release(ref), await store.complete(ref, first), await store.extend(ref, first)];
      mustBeLost('release, complete and extend', answers);
      const third = await store.claim(rivalOf(first));
      must(third.status === 'completed' && third.fence === ref2.fence, 'still completed by the second owner', third);
    },
  },
  {
    name: 'an owner completes after its lease when no other token has taken the key',
    rules: ['R4'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const completed = await store.complete(ref, first);
      must(completed === 'ok', 'a late complete is ok', completed);
      const result = await store.claim(rivalOf(first));
      must(result.status === 'completed' && result.fence === ref.fence, 'completed', result);
    },
  },
  {
    name: 'an owner releases after its lease when no other token has taken the key',
    rules: ['R6'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const released = await store.release(ref);
      must(released === 'ok', 'a late release is ok', released);
      const { result } = await acquire(rivalOf(first));
      must(result.fence > ref.fence && result.attempt === 2, 'a higher fence and attempt 2 after a release', result);
    },
  },
  {
    name: 'an owner that extends keeps its key, also after the lease, until another token takes it',
    rules: ['R3', 'R5'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const late = await store.extend(ref, { leaseMs: LONG });
      must(late === 'ok', 'extend after the lease is ok without a takeover', late);
      const held = await store2.claim(second);
      must(held.status === 'in_progress' && held.retryAfterMs > LONG / 2, 'the lease was extended', held);
      await store.extend(ref, { leaseMs: SHORT });
      await elapse(SHORT);
      await acquire({ ...second, leaseMs: LONG }, store2);
      const lost = await store.extend(ref, { leaseMs: LONG });
      must(lost === 'lost', 'extend after a takeover is lost', lost);
    },
  },
  {
    name: 'a row keeps its fence, its attempts and what was seen first when the lease is over',
    rules: ['R3', 'R8'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      let { fence } = (await acquire(first)).ref;
      for (const attempt of [2, 3, 4]) {
        await elapse(SHORT);
        const { result } = await acquire(rivalOf(first, { fingerprint: 'other-body' }));
        must(result.fence > fence && result.attempt === attempt, `a higher fence and attempt ${attempt}`, result);
        fence = result.fence;
        must(result.seen?.fingerprint === 'first-body', 'what was seen first', result);
      }
      const held = await store.claim(rivalOf(first));
      must(isHeld(held, SHORT) || held.status === 'acquired', 'in progress or over', held);
    },
  },
  {
    name: 'a row that was lost before complete is created again as completed',
    rules: ['R4'],
    skip: needs('evict'),
    async run({ store, store2, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await options.evict?.(made, first.key);
      const completed = await store.complete(ref, first);
      must(completed === 'ok', 'complete of a row that was lost: ok', completed);
      const result = await store2.claim(rivalOf(first, { fingerprint: 'other-body' }));
      must(
        result.status === 'completed' && result.fence === ref.fence,
        'completed, with the fence of its owner',
        result,
      );
      must(result.seen.fingerprint === 'first-body', 'with the fingerprint of its owner', result);
      must(result.seen.alias === 'first-alias', 'with the alias of its owner', result);
    },
  },
  {
    name: 'an owner whose row was lost is answered lost once another token has the key',
    rules: ['R5'],
    skip: needs('evict'),
    async run({ store, store2, request, acquire, made, options }) {
      const first = request();
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      await options.evict?.(made, first.key);
      const { ref: ref2 } = await acquire(second, store2);
      const answers = [
        await store.extend(ref, first),
        await store.release(ref),
        await store.complete(ref, first),
        await store2.complete(ref2, second),
      ];
      must(answers.join() === 'lost,lost,lost,ok', 'lost for the stale owner and ok for the new one', answers);
    },
  },
  {
    name: 'an extend of a row that was lost is answered lost',
    rules: ['R5'],
    skip: needs('evict'),
    async run({ store, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await options.evict?.(made, first.key);
      const extended = await store.extend(ref, first);
      must(extended === 'lost', 'there is nothing to extend', extended);
      const { result } = await acquire(rivalOf(first));
      must(result.attempt === 1, 'and no row was created', result);
    },
  },
  {
    name: 'a key in progress is still in progress after the death of its owner',
    rules: ['R3'],
    skip: needs('restart'),
    async run({ request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      const later = await options.restart?.(made);
      const result = await later?.claim(rivalOf(first));
      must(result !== undefined && isHeld(result, LONG) && result.fence === ref.fence, 'still in progress', result);
    },
  },
  {
    name: 'a completed key is still completed after a death right after the answer',
    rules: ['R5'],
    skip: needs('restart'),
    async run({ store, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await store.complete(ref, first);
      const later = await options.restart?.(made);
      const result = await later?.claim(rivalOf(first));
      must(result?.status === 'completed', 'still completed', result);
    },
  },
  {
    name: 'a forgotten key is a new one',
    rules: ['R3'],
    skip: needsMethod('forget'),
    async run({ store, store2, request, acquire }) {
      const first = request();
      const { ref } = await acquire(first);
      await store.complete(ref, first);
      await store2.forget?.(first.key);
      await store2.forget?.(first.key);
      const { result } = await acquire(rivalOf(first));
      must(result.attempt === 1, 'attempt 1', result);
    },
  },
];
