import type { ClaimRequest } from '../../stores/contract.js';
import { must } from '../must.js';
import { count, LONG, type Owned, refOf, rivalOf, rivalsOf, SHORT, type Trial, type TrialCase } from './trial.js';

/** What holds when calls meet, over two clients at once. */
export const races: readonly TrialCase[] = [
  {
    name: 'gives a new key to exactly one of 32 simultaneous claims',
    rules: ['R1'],
    async run(trial) {
      await everyRound(trial, async () => {
        const answers = await claimAll(trial, rivalsOf(trial.request(), 32));
        must(
          count(answers, 'acquired') === 1,
          'exactly one acquires',
          answers.map(({ status }) => status),
        );
        must(count(answers, 'in_progress') === 31, 'the others hear in_progress', answers);
      });
    },
  },
  {
    name: 'gives simultaneous claims of the same token the same claim',
    rules: ['R2'],
    async run(trial) {
      await everyRound(trial, async () => {
        const answers = await claimAll(trial, Array(8).fill(trial.request()));
        const same = answers.every((a) => a.status === 'acquired' && a.fence === 1 && a.attempt === 1);
        must(same, 'all acquired, with fence 1 and attempt 1', answers);
      });
    },
  },
  {
    name: 'gives an expired lease to exactly one of 32 simultaneous claims, with the next fence',
    rules: ['R3'],
    async run(trial) {
      const owned = await abandon(trial);
      for (const { request } of owned) {
        const answers = await claimAll(trial, rivalsOf({ ...request, leaseMs: LONG }, 32));
        must(
          count(answers, 'acquired') === 1,
          'exactly one acquires',
          answers.map(({ status }) => status),
        );
        must(
          answers.every(({ fence }) => fence === 2),
          'fence 2 for the new owner and all others',
          answers,
        );
      }
    },
  },
  {
    name: 'gives a released key to exactly one of 32 simultaneous claims',
    rules: ['R3', 'R6'],
    async run(trial) {
      await everyRound(trial, async () => {
        const { request, ref } = await own(trial);
        await trial.store.release(ref);
        const answers = await claimAll(trial, rivalsOf(request, 32));
        must(
          count(answers, 'acquired') === 1,
          'exactly one acquires',
          answers.map(({ status }) => status),
        );
        must(
          answers.every(({ fence }) => fence === 2),
          'fence 2 for the new owner and all others',
          answers,
        );
      });
    },
  },
  {
    name: 'never gives a key away while its owner completes it',
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
        must(after.status === 'completed', 'completed for who comes later', after);
      });
    },
  },
  {
    name: 'answers a claim during a release with acquired or in_progress, and loses neither',
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
        must(again.status === 'acquired' && again.fence === 2, 'then the key is there for the rival', again);
      });
    },
  },
  {
    name: 'lets either the late complete or the takeover win, never both',
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
    name: 'never undoes a complete, whoever releases and claims beside it',
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
    name: 'lets either the late extend or the takeover win, never both',
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
    name: 'tells those who lost against a completed winner that it is completed',
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

async function own({ request, acquire }: Trial, changes?: Partial<ClaimRequest>): Promise<OwnedRequest> {
  const mine = request(changes);
  return { request: mine, ...(await acquire(mine)) };
}

/** Claims whose owners went silent and whose leases are over. */
async function abandon(trial: Trial): Promise<OwnedRequest[]> {
  const owned = await Promise.all(Array.from({ length: trial.rounds }, () => own(trial, { leaseMs: SHORT })));
  await trial.elapse(SHORT);
  return owned;
}

function claimAll({ store, store2 }: Trial, requests: readonly ClaimRequest[]) {
  return Promise.all(requests.map((request, i) => (i % 2 === 0 ? store : store2).claim(request)));
}

async function everyRound({ rounds }: Trial, round: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < rounds; index += 1) await round(index);
}

/** Both at once; every other time the second is sent first. */
async function meet<A, B>(round: number, a: () => Promise<A>, b: () => Promise<B>): Promise<[A, B]> {
  if (round % 2 === 0) return Promise.all([a(), b()]);
  const [second, first] = await Promise.all([b(), a()]);
  return [first, second];
}
