import { must } from '../../define-suite.js';
import { isHeld, LONG, rivalOf, SHORT, type StoreTrialCase } from '../trial.js';
import { withClock } from '../with-clock.js';

const TEN_MINUTES = 600_000;

/** Cases about the clock of the store. */
export const clocks: readonly StoreTrialCase[] = [
  {
    name: 'a receiver whose clock is ahead does not acquire a key early',
    rules: ['R3'],
    skip: ({ advance }) => (advance ? 'its clock is moved by advance' : undefined),
    async run({ store, store2, request, acquire, options }) {
      const skew = options.clockSkewMs ?? TEN_MINUTES;
      for (const offset of [skew, -skew]) {
        const first = request();
        const { ref } = await withClock(-offset, () => acquire(first));
        const held = await withClock(offset, () => store2.claim(rivalOf(first)));
        must(held.status === 'in_progress', `in_progress for a clock ${offset} ms apart`, held);
        const extended = await withClock(-offset, () => store.extend(ref, first));
        must(extended === 'ok', 'the owner still has it', extended);
      }
    },
  },
  {
    name: 'a receiver whose clock is behind acquires a key whose lease is over',
    rules: ['R3'],
    skip: ({ advance, clockSkewMs }) =>
      advance
        ? 'its clock is moved by advance'
        : clockSkewMs === undefined
          ? undefined
          : 'goes by the clocks of clients',
    async run({ store2, request, acquire, elapse }) {
      const first = request({ leaseMs: SHORT });
      const { ref } = await acquire(first);
      await elapse(SHORT);
      const result = await withClock(-TEN_MINUTES, () => store2.claim(rivalOf(first)));
      must(result.status === 'acquired' && result.fence > ref.fence, 'acquired, with a higher fence', result);
    },
  },
  {
    name: 'a claim is completed although the clock of the receiver was set meanwhile',
    rules: ['R4'],
    async run({ store, store2, request, acquire }) {
      for (const step of [TEN_MINUTES, -TEN_MINUTES]) {
        const first = request();
        const { ref } = await acquire(first);
        const completed = await withClock(step, () => store.complete(ref, { retainMs: LONG * 60 }));
        must(completed === 'ok', `complete after a step of ${step} ms`, completed);
        const result = await store2.claim(rivalOf(first));
        must(result.status === 'completed', 'completed', result);
      }
    },
  },
  {
    name: 'a store counts leases and retention in milliseconds',
    rules: ['R11'],
    async run({ store, store2, request, acquire, elapse }) {
      const first = request({ leaseMs: 2_500, retainMs: 2_600 });
      await acquire(first);
      const held = await store2.claim(rivalOf(first));
      must(isHeld(held, 2_500) && held.retryAfterMs > 1_000, 'a lease of 2,500 ms', held);
      const brief = request({ leaseMs: 1 });
      await acquire(brief);
      await elapse(1);
      const { result } = await acquire(rivalOf(brief), store);
      must(result.attempt === 2, 'a lease of 1 ms', result);
    },
  },
];
