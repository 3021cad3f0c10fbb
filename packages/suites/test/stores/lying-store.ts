import {
  type ClaimRequest,
  type ClaimResult,
  type DedupeRecord,
  type DedupeStore,
  memoryStore,
} from 'service-webhooks';

type Lies<Answer, Request = unknown> = Readonly<Record<string, (answer: Answer, request: Request) => unknown>>;

const OF_CLAIM: Lies<ClaimResult, ClaimRequest> = {
  acquired: ({ fence, seen }) => ({ status: 'acquired', fence, attempt: 1, seen }),
  held: ({ fence, seen }, { leaseMs }) => ({ status: 'in_progress', fence, retryAfterMs: leaseMs, seen }),
  completed: ({ fence, seen }) => ({ status: 'completed', fence, seen }),
  fence: (answer) => ({ ...answer, fence: 0 }),
  attempt: (answer) => ({ ...answer, attempt: 70 }),
  fingerprint: (answer) => ({ ...answer, seen: { ...answer.seen, fingerprint: 'wrong' } }),
  alias: (answer) => ({ ...answer, seen: { ...answer.seen, alias: 'wrong' } }),
  now: (answer) => ({ ...answer, retryAfterMs: 0 }),
  soon: (answer) => ({ ...answer, retryAfterMs: 1_000 }),
  half: (answer, { leaseMs }) => ({ ...answer, retryAfterMs: leaseMs / 2 }),
  late: (answer, { leaseMs }) => ({ ...answer, retryAfterMs: leaseMs + 1 }),
};

const OF_MUTATION: Lies<unknown> = { ok: () => 'ok', lost: () => 'lost' };

const OF_INSPECT: Lies<DedupeRecord> = {
  nothing: () => undefined,
  something: () => ({ state: 'released', fence: 1, attempt: 1, fingerprint: 'first-body', retainMsLeft: 1 }),
  completed: (row) => ({ ...row, state: 'completed' }),
  released: (row) => ({ ...row, state: 'released' }),
  fence: (row) => ({ ...row, fence: 7 }),
  attempt: (row) => ({ ...row, attempt: 7 }),
  fingerprint: (row) => ({ ...row, fingerprint: 'wrong' }),
  alias: (row) => ({ ...row, alias: 'wrong' }),
  'no-lease': (row) => ({ ...row, leaseMsLeft: undefined }),
  'half-lease': (row) => ({ ...row, leaseMsLeft: 30_000 }),
  'long-lease': (row) => ({ ...row, leaseMsLeft: 60_001 }),
  'half-life': (row) => ({ ...row, retainMsLeft: row.retainMsLeft / 2 }),
  'long-life': (row) => ({ ...row, retainMsLeft: row.retainMsLeft + 1 }),
};

const OF_PURGE: Lies<number> = { more: (purged) => purged + 3, none: () => 0 };

const OF_REPORTS: Lies<string[]> = {
  none: () => [],
  more: (texts) => [...texts, '"more"'],
  changed: (texts) => texts.map((text) => `${text} `),
  oldest: ([_, ...texts]) => ['"oldest"', ...texts],
};

const LIES: Readonly<Record<string, Lies<never, never>>> = {
  claim: OF_CLAIM,
  extend: OF_MUTATION,
  complete: OF_MUTATION,
  release: OF_MUTATION,
  inspect: OF_INSPECT,
  purgeExpired: OF_PURGE,
  loadReports: OF_REPORTS,
};

/** A right store with one wrong answer: `claim 2 fence` is a wrong fence in the answer to its second claim. */
export function lyingStore(lies: string): DedupeStore {
  const calls: Record<string, number> = {};
  const lying = Object.entries(memoryStore()).map(([method, call]) => {
    if (typeof call !== 'function') return [method, call];
    const answered = async (...args: never[]) => {
      const nth = (calls[method] ?? 0) + 1;
      calls[method] = nth;
      const found = lies.split(' and ').find((lie) => lie.startsWith(`${method} ${nth} `));
      const lie = found && LIES[method]?.[found.split(' ')[2] ?? ''];
      const answer = (call as (...args: never[]) => Promise<never>)(...args);
      return lie ? lie(await answer.catch(() => 'lost' as never), args[0] as never) : answer;
    };
    return [method, answered];
  });
  return Object.fromEntries(lying);
}
