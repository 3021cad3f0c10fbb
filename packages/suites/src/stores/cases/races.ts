import type { ClaimRef, ClaimRequest, ClaimResult } from 'service-webhooks';
import { must } from '../../define-suite.js';
import {
  claimAll,
  count,
  LONG,
  type Owned,
  oneAcquires,
  oneOf32Acquires,
  refOf,
  rivalOf,
  rivalsOf,
  SHORT,
  type StoreTrial,
  type StoreTrialCase,
} from '../trial.js';

/** Cases about calls at the same time, over two clients. */
export const races: readonly StoreTrialCase[] = [
  {
    name: 'exactly one of 32 simultaneous claims acquires a new key',
    rules: ['R1'],
    async run(trial) {
      await everyRound(trial, async () => {
        await oneOf32Acquires(trial, trial.request());
      });
    },
  },
  {
    name: 'simultaneous claims of the same token are the same claim',
    rules: ['R2'],
    async run(trial) {
      await everyRound(trial, async () => {
        const answers = await claimAll(trial, Array(8).fill(trial.request()));
        const [{ fence }] = answers as [ClaimResult];
        const same = answers.every((a) => a.status === 'acquired' && a.fence === fence && a.attempt === 1);
        must(same, 'all acquired, with one fence and attempt 1', answers);
      });
    },
  },
  {
    name: 'exactly one of 32 simultaneous claims acquires a key whose lease is over, with a higher fence',
    rules: ['R3'],
    async run(trial) {
      const owned = await abandon(trial);
      for (const { request, ref } of owned) {
        await oneTakesOver(trial, { ...request, leaseMs: LONG }, ref);
      }
    },
  },
  {
    name: 'exactly one of 32 simultaneous claims acquires a released key',
    rules: ['R3', 'R6'],
    async run(trial) {
      await everyRound(trial, async () => {
        const { request, ref } = await own(trial);
        await trial.store.release(ref);
        await oneTakesOver(trial, request, ref);
      });
    },
  },
  {
    name: 'no claim acquires a key while its owner completes it',
    rules: ['R1', 'R5'],
    async run(trial) {
      const { store, store2 } = trial;
      await everyRound(trial, async (round) => {
        const { request, ref } = await own(trial);
        const claim = () => Promise.all(rivalsOf(request, 4).map((rival) => store2.claim(rival)));
        const [completed, claims] = await meet(round, () => store.complete(ref, request), claim);
        must(completed === 'ok', 'the owner completes', completed);
        must(count(claims, 'acquired') === 0, 'in_progress or completed, never acquired', claims);
        const after = await store2.claim(rivalOf(request));
        must(after.status === 'completed', 'completed for a later claim', after);
      });
    },
  },
  {
    name: 'a claim during a release is acquired or in_progress, and neither is lost',
    rules: ['R6', 'R3'],
    async run(trial) {
      const { store, store2 } = trial;
      await everyRound(trial, async (round) => {
        const { request, ref } = await own(trial);
        const rival = rivalOf(request);
        const [released, claimed] = await meet(
          round,
          () => store.release(ref),
          () => store2.claim(rival),
        );
        must(released === 'ok', 'the owner releases', released);
        must(claimed.status !== 'completed', 'acquired or in_progress', claimed);
        const again = await store.claim(rival);
        must(again.status === 'acquired' && again.fence > ref.fence, 'then the rival acquires the key', again);
      });
    },
  },
  {
    name: 'either the late complete or the takeover wins, never both',
    rules: ['R5', 'R4'],
    async run(trial) {
      const { store, store2 } = trial;
      for (const [round, { request, ref }] of (await abandon(trial)).entries()) {
        const rival = rivalOf(request, { leaseMs: LONG });
        const [completed, claimed] = await meet(
          round,
          () => store.complete(ref, request),
          () => store2.claim(rival),
        );
        const late = completed === 'ok' && claimed.status === 'completed';
        const takenOver = completed === 'lost' && claimed.status === 'acquired';
        must(late || takenOver, 'ok and completed, or lost and acquired', [completed, claimed]);
        const after = await store.claim(rivalOf(rival));
        must(after.status === (late ? 'completed' : 'in_progress'), 'the row agrees with the answers', after);
      }
    },
  },
  {
    name: 'a complete is never undone by a release or a claim at the same time',
    rules: ['R5'],
    async run(trial) {
      const { store, store2 } = trial;
      await everyRound(trial, async (round) => {
        const { request, ref } = await own(trial);
        const complete = () => Promise.all([store.complete(ref, request), store2.claim(rivalOf(request))]);
        const [released, [completed, claimed]] = await meet(round, () => store.release(ref), complete);
        const after = await store2.claim(rivalOf(request));
        const answers = [released, claimed, completed, after];
        if (completed === 'ok') {
          must(after.status === 'completed' && claimed.status !== 'acquired', 'completed stays completed', answers);
        } else {
          must(released === 'ok' && after.status !== 'completed', 'released, so not completed', answers);
        }
      });
    },
  },
  {
    name: 'either the late extend or the takeover wins, never both',
    rules: ['R3', 'R5'],
    async run(trial) {
      const { store, store2 } = trial;
      for (const [round, { request, ref }] of (await abandon(trial)).entries()) {
        const rival = rivalOf(request, { leaseMs: LONG });
        const [extended, claimed] = await meet(
          round,
          () => store.extend(ref, { leaseMs: LONG }),
          () => store2.claim(rival),
        );
        const kept = extended === 'ok' && claimed.status === 'in_progress';
        const takenOver = extended === 'lost' && claimed.status === 'acquired';
        must(kept || takenOver, 'ok and in_progress, or lost and acquired', [extended, claimed]);
      }
    },
  },
  {
    name: 'claims that lost against a completed winner are answered completed',
    rules: ['R1'],
    async run(trial) {
      const { store, store2 } = trial;
      await everyRound(trial, async () => {
        const rivals = rivalsOf(trial.request(), 8);
        const statuses = await Promise.all(
          rivals.map(async (rival, i) => {
            const client = i % 2 === 0 ? store : store2;
            const first = await client.claim(rival);
            if (first.status === 'acquired') await client.complete(refOf(rival, first), rival);
            return first.status;
          }),
        );
        must(statuses.filter((status) => status === 'acquired').length === 1, 'one winner, who completes', statuses);
        const after = await claimAll(trial, rivals);
        must(count(after, 'completed') === 8, 'completed for all of them', after);
      });
    },
  },
];

type OwnedRequest = Owned & { request: ClaimRequest };

async function own({ request, acquire }: StoreTrial, changes?: Partial<ClaimRequest>): Promise<OwnedRequest> {
  const mine = request(changes);
  return { request: mine, ...(await acquire(mine)) };
}

/** Returns claims whose leases have expired without an end. */
async function abandon(trial: StoreTrial): Promise<OwnedRequest[]> {
  const owned = await Promise.all(Array.from({ length: trial.rounds }, () => own(trial, { leaseMs: SHORT })));
  await trial.elapse(SHORT);
  return owned;
}

/** Checks that exactly one of 32 claims acquires a key after its last owner, and that all answers have its fence. */
async function oneTakesOver(trial: StoreTrial, request: ClaimRequest, last: ClaimRef): Promise<void> {
  const answers = await claimAll(trial, rivalsOf(request, 32));
  oneAcquires(answers);
  const isShared = answers.every(({ fence }) => fence === answers[0]?.fence && fence > last.fence);
  must(isShared, 'one higher fence for the new owner and all others', answers);
}

async function everyRound({ rounds }: StoreTrial, round: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < rounds; index += 1) await round(index);
}

/** Sends two calls at once, the second one first in every other round. */
async function meet<A, B>(round: number, a: () => Promise<A>, b: () => Promise<B>): Promise<[A, B]> {
  if (round % 2 === 0) return Promise.all([a(), b()]);
  const [second, first] = await Promise.all([b(), a()]);
  return [first, second];
}
