import { must } from '../must.js';
import { isHeld, LONG, needs, needsMethod, refOf, rivalOf, SHORT, type TrialCase } from './trial.js';

/** Owners that go silent, come late, or lose their row. */
export const leases: readonly TrialCase[] = [
  {
    name: 'holds the key of a silent owner until the lease is over, and not longer',
    rules: ['R3', 'R11'],
    async run({ store2, request, acquire, elapse, options }) {
      const lease = SHORT * 5;
      const first = request({ leaseMs: lease });
      const second = rivalOf(first);
      const start = performance.now();
      let moved = 0;
      await acquire(first);
      let result = await store2.claim(second);
      for (let tries = 0; result.status === 'in_progress' && tries < 50; tries += 1) {
        must(isHeld(result, lease), '0 < retryAfterMs <= leaseMs', result);
        await elapse(result.retryAfterMs);
        if (options.advance) moved += result.retryAfterMs;
        result = await store2.claim(second);
      }
      const passed = moved + performance.now() - start; // the clock of some stores goes on while it is moved
      must(result.status === 'acquired', 'acquired once the lease is over', result);
      // A tenth of slack: here the time is this machine's, and the lease was the store's.
      must(passed >= lease * 0.9, `not before ${lease} ms`, passed);
      must(result.fence === 2 && result.attempt === 2, 'fence 2 and attempt 2 after a takeover', result);
    },
  },
  {
    name: 'answers lost to a stale owner after a takeover, and leaves the new owner alone',
    rules: ['R5'],
    async run({ store, store2, request, acquire, elapse, snapshot }) {
      const first = request({ leaseMs: SHORT });
      const second = rivalOf(first, { leaseMs: LONG });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const { ref: ref2 } = await acquire(second, store2);
      const before = await snapshot(first.key);
      const answers = [
        await store.extend(ref, { leaseMs: LONG * 2 }),
        await store.release(ref),
        await store.complete(ref, first),
      ];
      must(
        answers.every((answer) => answer === 'lost'),
        'extend, release and complete: lost',
        answers,
      );
      const after = await snapshot(first.key);
      must(after === before, `the row stays ${before}`, after);
      const stale = await store.claim(first);
      must(isHeld(stale, LONG) && stale.fence === 2, 'the stale owner hears in_progress', stale);
      const completed = await store2.complete(ref2, second);
      must(completed === 'ok', 'the new owner completes', completed);
    },
  },
  {
    name: 'stays completed when a stale owner fails after the new one has completed',
    rules: ['R5'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const second = rivalOf(first, { leaseMs: LONG });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const { ref: ref2 } = await acquire(second, store2);
      await store2.complete(ref2, second);
      const answers = [await store.release(ref), await store.complete(ref, first), await store.extend(ref, first)];
      must(
        answers.every((answer) => answer === 'lost'),
        'release, complete and extend: lost',
        answers,
      );
      const third = await store.claim(rivalOf(first));
      must(third.status === 'completed' && third.fence === 2, 'still completed by the second owner', third);
    },
  },
  {
    name: 'lets its owner complete after the lease when nobody took over',
    rules: ['R4'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const completed = await store.complete(ref, first);
      must(completed === 'ok', 'a late complete is ok', completed);
      const result = await store.claim(rivalOf(first));
      must(result.status === 'completed' && result.fence === 1, 'completed', result);
    },
  },
  {
    name: 'lets its owner release after the lease when nobody took over',
    rules: ['R6'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const released = await store.release(ref);
      must(released === 'ok', 'a late release is ok', released);
      const { result } = await acquire(rivalOf(first));
      must(result.fence === 2 && result.attempt === 2, 'fence 2 and attempt 2 after a release', result);
    },
  },
  {
    name: 'keeps the key of an owner that extends, also after the lease, until somebody takes over',
    rules: ['R3', 'R5'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const second = rivalOf(first);
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const late = await store.extend(ref, { leaseMs: LONG });
      must(late === 'ok', 'extend after the lease is ok when nobody took over', late);
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
    name: 'keeps the row when the lease is over: fence, attempt and what was seen first',
    rules: ['R3', 'R8'],
    async run({ store, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      await acquire(first);
      for (const fence of [2, 3, 4]) {
        await elapse(SHORT);
        const { result } = await acquire(rivalOf(first, { fingerprint: 'other-body' }));
        must(result.fence === fence && result.attempt === fence, `fence and attempt ${fence}`, result);
        must(result.seen?.fingerprint === 'first-body', 'what was seen first', result);
      }
      const held = await store.claim(rivalOf(first));
      must(isHeld(held, SHORT) || held.status === 'acquired', 'in progress or over', held);
    },
  },
  {
    name: 'makes a row again as completed when it is gone before complete',
    rules: ['R4'],
    skip: needs('evict'),
    async run({ store, store2, request, acquire, made, options }) {
      const first = request();
      await acquire(first);
      await options.evict?.(made, first.key);
      const completed = await store.complete(refOf(first, { fence: 7 }), first);
      must(completed === 'ok', 'complete of a row that is gone: ok', completed);
      const result = await store2.claim(rivalOf(first, { fingerprint: 'other-body' }));
      must(result.status === 'completed' && result.fence === 7, 'completed, with the fence of its owner', result);
      must(result.seen.fingerprint === 'first-body', 'with the fingerprint of its owner', result);
      must(result.seen.alias === 'first-alias', 'with the alias of its owner', result);
    },
  },
  {
    name: 'tells two owners of the same fence apart after a row was lost',
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
      must(answers.join() === 'lost,lost,lost,ok', 'the token decides, not the fence', answers);
    },
  },
  {
    name: 'answers lost to an extend of a row that is gone',
    rules: ['R5'],
    skip: needs('evict'),
    async run({ store, request, acquire, made, options }) {
      const first = request();
      const { ref } = await acquire(first);
      await options.evict?.(made, first.key);
      const extended = await store.extend(ref, first);
      must(extended === 'lost', 'there is nothing to extend', extended);
      const { result } = await acquire(rivalOf(first));
      must(result.fence === 1 && result.attempt === 1, 'and nothing was made', result);
    },
  },
  {
    name: 'keeps what is in progress over a death of its owner',
    rules: ['R3'],
    skip: needs('restart'),
    async run({ request, acquire, made, options }) {
      const first = request();
      await acquire(first);
      const later = await options.restart?.(made);
      const result = await later?.claim(rivalOf(first));
      must(result !== undefined && isHeld(result, LONG) && result.fence === 1, 'still in progress', result);
    },
  },
  {
    name: 'keeps what is completed over a death right after the answer',
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
    name: 'takes a forgotten key for a new one',
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
