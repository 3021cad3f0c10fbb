import { type ClaimResult, type DedupeStore, memoryStore } from 'service-webhooks';
import { expect, it } from 'vitest';
import type { Operation } from './history.js';
import { checkHistory, describeViolation } from './history-checker.js';
import { simulate } from './simulation.js';

type Bug = (store: DedupeStore, now: () => number) => Partial<DedupeStore>;

/** Stores that are wrong in one way, and what a history of them has to show. */
const BUGS: Record<string, [shows: string, bug: Bug]> = {
  'gives what is held to any client': [
    'two owners at once',
    (store) => ({
      async claim(request) {
        const result = await store.claim(request);
        return result.status === 'in_progress' ? { ...result, status: 'acquired', attempt: 1 } : result;
      },
    }),
  ],
  'forgets what is completed': [
    'completed, and acquired again',
    (store) => ({
      async complete(claim, options) {
        const result = await store.complete(claim, options);
        await store.forget?.(claim.key);
        return result;
      },
    }),
  ],
  'never takes a claim from an owner who has gone silent': [
    'refused, though no client has it',
    (store) => ({ claim: (request) => store.claim({ ...request, leaseMs: request.leaseMs * 1_000 }) }),
  ],
  'counts owners for a fence, and again when a row has expired': [
    'a fence that does not grow',
    (store) => {
      const attempts = new Map<string, number>();
      return {
        async claim(request): Promise<ClaimResult> {
          const result = await store.claim(request);
          if (result.status === 'acquired') attempts.set(request.key, result.attempt);
          return { ...result, fence: attempts.get(request.key) ?? 1 };
        },
      };
    },
  ],
  'begins its fences again with every owner': [
    'a fence that does not grow',
    (store) => ({
      async claim(request): Promise<ClaimResult> {
        return { ...(await store.claim(request)), fence: 1 };
      },
    }),
  ],
  'completes for any client': [
    'answers in no order',
    (store) => ({
      async complete(claim, options) {
        const result = await store.complete(claim, options);
        return result === 'lost' ? 'ok' : result;
      },
    }),
  ],
  'answers a release and does nothing': ['answers in no order', () => ({ release: async () => 'ok' })],
  'says ok to an extend of a lease that is over and taken': [
    'answers in no order',
    (store) => ({
      async extend(claim, options) {
        await store.extend(claim, options);
        return 'ok';
      },
    }),
  ],
};

const historyOf = (bug: Bug = () => ({})) =>
  simulate(
    (now) => {
      const store = memoryStore({ now });
      return { ...store, ...bug(store, now) };
    },
    { seed: 1, operations: 2_000 },
  );

it('the checker of store histories finds no fault in the history of a correct store', async () => {
  expect(checkHistory(await historyOf())).toEqual([]);
});

it('the checker of store histories accepts a lease counted from after its row was read', () => {
  const call = { key: 'k', seen: { fingerprint: 'f' }, leaseMs: 30, retainMs: 3_600_000 };
  const [owner, rival] = [
    { ...call, client: 'a', token: 'a' },
    { ...call, client: 'b', token: 'b' },
  ];
  const known = { fence: 1, seen: call.seen };
  const history: Operation[] = [
    {
      ...rival,
      kind: 'claim',
      invoked: 0,
      answered: 25,
      answer: { ...known, status: 'in_progress', retryAfterMs: 8 },
    },
    { ...owner, kind: 'claim', invoked: 1, answered: 2, answer: { ...known, status: 'acquired', attempt: 1 } },
    { ...owner, kind: 'complete', invoked: 3, answered: 4, answer: 'ok' },
    { ...owner, kind: 'claim', invoked: 5, answered: 6, answer: { ...known, status: 'completed' } },
  ];
  expect(checkHistory(history).map(describeViolation)).toEqual([]);
});

it('the checker of store histories accepts a claim without an answer that takes a row once it is released', () => {
  const call = { key: 'k', seen: { fingerprint: 'f' }, leaseMs: 1, retainMs: 3_600_000, kind: 'claim' } as const;
  const known = { seen: call.seen, status: 'acquired' } as const;
  const owner = { ...call, client: 'a', token: 'a', leaseMs: 300 };
  const history: Operation[] = [
    { ...owner, invoked: 0, answered: 2, answer: { ...known, fence: 1, attempt: 1 } },
    { ...call, client: 'b', token: 'b', invoked: 3, answered: 20 },
    { ...owner, kind: 'release', invoked: 4, answered: 6, answer: 'ok' },
    { ...call, client: 'c', token: 'c', invoked: 5, answered: 30, answer: { ...known, fence: 3, attempt: 3 } },
  ];
  expect(checkHistory(history).map(describeViolation)).toEqual([]);
});

it('the checker of store histories accepts a claim that has read its clock before the row expired', () => {
  const call = { key: 'k', seen: { fingerprint: 'f' }, leaseMs: 10, retainMs: 40, kind: 'claim' } as const;
  const known = { seen: call.seen, status: 'acquired' } as const;
  const owner = { ...call, client: 'a', token: 'a' };
  const history: Operation[] = [
    { ...owner, invoked: 0, answered: 2, answer: { ...known, fence: 1, attempt: 1 } },
    { ...call, client: 'b', token: 'b', invoked: 30, answered: 60, answer: { ...known, fence: 2, attempt: 2 } },
    { ...call, client: 'c', token: 'c', kind: 'release', invoked: 35, answered: 50, answer: 'ok' },
  ];
  expect(checkHistory(history).map(describeViolation)).toEqual([]);
});

it.each(Object.entries(BUGS))('the checker of store histories finds a store that %s', async (_, [shows, bug]) => {
  const found = checkHistory(await historyOf(bug)).map(describeViolation);
  expect(found.filter((violation) => violation.startsWith(shows))).not.toEqual([]);
});
