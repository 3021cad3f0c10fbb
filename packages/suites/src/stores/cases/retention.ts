import { must, needs } from '../../define-suite.js';
import { inTime, LONG, oneOf32Acquires, rivalOf, SHORT, type StoreTrialCase } from '../trial.js';

/** Cases about the time that a row is kept. */
export const retention: readonly StoreTrialCase[] = [
  {
    name: 'a completed key is forgotten after the retention that complete asked for',
    rules: ['R9', 'R11'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ retainMs: LONG });
      const { ref } = await acquire(first);
      await store.complete(ref, { retainMs: SHORT });
      await elapse(SHORT);
      const { result } = await acquire(rivalOf(first, { fingerprint: 'other-body' }), store2);
      must(result.attempt === 1, 'a new row: attempt 1', result);
      must((result.seen?.fingerprint ?? 'other-body') === 'other-body', 'a new row: seen for the first time', result);
    },
  },
  {
    name: 'a completed key is kept for the retention that complete asked for',
    rules: ['R9'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT, retainMs: SHORT });
      const { ref } = await acquire(first);
      const completed = await store.complete(ref, { retainMs: LONG });
      must(completed === 'ok', 'the owner completes', completed);
      await elapse(SHORT);
      const result = await store2.claim(rivalOf(first));
      must(result.status === 'completed', 'still completed', result);
    },
  },
  {
    name: 'exactly one of 32 simultaneous claims acquires an expired row in any state',
    rules: ['R9'],
    async run(trial) {
      const { store, request, acquire, elapse } = trial;
      const brief = () => request({ retainMs: SHORT });
      const [completed, released, silent] = [brief(), brief(), brief()];
      await store.complete((await acquire(completed)).ref, completed);
      await store.release((await acquire(released)).ref);
      await acquire(silent);
      await elapse(SHORT);
      for (const expired of [completed, released, silent]) {
        await oneOf32Acquires(trial, { ...expired, retainMs: LONG });
      }
    },
  },
  {
    name: 'a row is kept for as long as the lease that extend gave it',
    rules: ['R9', 'R4'],
    async run({ store, store2, request, acquire, elapse }) {
      let first = request();
      const soon = await inTime('the owner extends', async (ms) => {
        first = request({ leaseMs: ms, retainMs: ms });
        const { ref } = await acquire(first);
        return (await store.extend(ref, { leaseMs: LONG })) === 'ok';
      });
      await elapse(soon);
      const result = await store2.claim(rivalOf(first));
      must(result.status === 'in_progress', 'still in progress', result);
    },
  },
  {
    name: 'a claim of an expired row is a new one, also with the token of its last owner',
    rules: ['R9'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT, retainMs: SHORT });
      const { ref } = await acquire(first);
      await store.complete(ref, { retainMs: SHORT });
      await elapse(SHORT);
      const result = await store.claim({ ...first, leaseMs: LONG, retainMs: LONG });
      must(result.status === 'acquired' && result.attempt === 1, 'a new row: attempt 1', result);
    },
  },
  {
    name: 'an expired row is absent for complete, release and extend',
    rules: ['R9', 'R4'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ retainMs: SHORT });
      const stranger = rivalOf(first);
      const { ref, result } = await acquire(first);
      await elapse(SHORT);
      const extended = await store.extend(ref, { leaseMs: LONG });
      must(extended === 'lost', 'extend of an expired row: lost', extended);
      const released = await store.release({ ...ref, token: stranger.token });
      must(released === 'ok', 'release of an expired row: ok', released);
      const completed = await store.complete({ ...ref, token: stranger.token }, { retainMs: LONG });
      must(completed === 'ok', 'complete of an expired row creates it again: ok', completed);
      const after = await store2.claim(rivalOf(first));
      must(after.status === 'completed' && after.fence === result.fence, 'completed', after);
    },
  },
  {
    name: 'a row that complete has created again is forgotten after its retention',
    rules: ['R9', 'R4'],
    skip: needs('evict'),
    async run({ store, store2, request, acquire, elapse, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await options.evict?.(made, first.key);
      const completed = await store.complete(ref, { retainMs: SHORT });
      must(completed === 'ok', 'complete of a row that was lost: ok', completed);
      await elapse(SHORT);
      const { result } = await acquire(rivalOf(first), store2);
      must(result.attempt === 1, 'a new row: attempt 1', result);
    },
  },
  {
    name: 'a claim does not shorten the retention of a completed row',
    rules: ['R5', 'R9'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request();
      const { ref } = await acquire(first);
      await store.complete(ref, { retainMs: LONG });
      await store2.claim(rivalOf(first, { retainMs: SHORT, leaseMs: SHORT }));
      await elapse(SHORT);
      const result = await store.claim(rivalOf(first));
      must(result.status === 'completed', 'still completed', result);
    },
  },
  {
    name: 'each claim that acquires a row renews its retention',
    rules: ['R9'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ retainMs: SHORT * 2 });
      const { ref } = await acquire(first);
      await store.release(ref);
      const { result } = await acquire(rivalOf(first, { retainMs: LONG }));
      await elapse(SHORT * 2);
      const held = await store.claim(rivalOf(first));
      must(held.status === 'in_progress' && held.fence === result.fence, 'still in progress', held);
    },
  },
];
