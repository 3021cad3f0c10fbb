import type { ClaimRef, ClaimRequest, ClaimResult, DedupeStore, Mutation } from 'service-webhooks';
import { type AtEnd, must, type TrialCase } from '../define-suite.js';
import { sleep } from '../waiting.js';
import type { StoreSuiteOptions, StoreUnderTest } from './store-under-test.js';

/** The rules of `docs/add-a-store.md`, as a failing case quotes them. */
export const STORE_RULES = {
  R1: 'claim is one atomic operation and its answer carries the state',
  R2: 'the same token again is the same claim: acquired, same fence, lease renewed',
  R3: 'another token takes a key only when it is released, its lease is over or its row has expired',
  R4: 'complete works after the lease when no other token has the key, and creates a lost row again',
  R5: 'a token that is not the owner gets "lost" and changes nothing; complete twice is ok; a completed row stays completed',
  R6: 'release keeps the row: its fence, its attempt and what was seen first',
  R7: 'keys and tokens are compared byte for byte',
  R8: 'what was seen first is kept and returned as it came',
  R9: 'a row whose retention is over is absent and can be claimed, purged or not',
  R10: 'durations are positive integers, checked before anything is sent',
  R11: 'durations and what is left of them are milliseconds',
  R12: 'a fence is a positive safe integer that grows with every owner, also after the row was forgotten, purged or lost',
  R13: 'a report is kept as it came until its time is over, one for each receiver of a name, the newest 1,000 of them',
  R14: 'a record of a job is written only in place of the version it replaces, and a write sent again succeeds again',
  R15: 'a record of a job is kept as it came: an open one until it is removed, any other one for keepMs',
  R16: 'open records are listed by dueAt and then by key, and are overdue by the clock of the store',
  R17: 'a watcher is called when any client writes a record that is not open, and not after its end',
} as const;

export type StoreRule = keyof typeof STORE_RULES;

/** A case before it is bound to a store. */
export type StoreTrialCase = TrialCase<StoreRule, StoreSuiteOptions, StoreTrial>;

/** The tools of a case: two clients of one backend, new keys, and time that passes. */
export interface StoreTrial {
  store: DedupeStore;
  store2: DedupeStore;
  made: StoreUnderTest;
  options: StoreSuiteOptions;
  rounds: number;
  /** Returns a request for a new key. */
  request(changes?: Partial<ClaimRequest>): ClaimRequest;
  /** Claims a key and expects to acquire it. */
  acquire(request: ClaimRequest, store?: DedupeStore): Promise<Owned>;
  /** Lets time pass by the clock of the store. */
  elapse(ms: number): Promise<void>;
  /** Returns the stored row without values that time changes; undefined where it cannot be read. */
  snapshot(key: string): Promise<string | undefined>;
}

export type Acquired = Extract<ClaimResult, { status: 'acquired' }>;
export type Owned = { result: Acquired; ref: ClaimRef };

/** Long enough that no case reaches its end. */
export const LONG = 60_000;
/** Short enough to end within a case. */
export const SHORT = 40;
/** Timers may fire early by a part of a millisecond, and the store's clock may count in whole ones. */
const GRAIN = 10;

/** Makes a store for one case. */
export async function storeTrial(options: StoreSuiteOptions, atEnd: AtEnd): Promise<StoreTrial> {
  const made = await options.make();
  atEnd(() => made.close?.());
  const { store, store2 = store } = made;
  if (store.scope !== 'process' && store2 === store) {
    throw new Error(`a store of scope '${store.scope}' needs a store2 with a client of its own`);
  }
  await store.init?.();
  await store2.init?.();
  return {
    store,
    store2,
    made,
    options,
    rounds: options.rounds ?? 200,

    request: (changes) => ({
      key: `suite:${crypto.randomUUID()}`,
      token: crypto.randomUUID(),
      fingerprint: 'first-body',
      alias: 'first-alias',
      leaseMs: LONG,
      retainMs: LONG * 60,
      ...changes,
    }),

    async acquire(request, by = store) {
      const result = await by.claim(request);
      must(result.status === 'acquired', 'a free key must be acquired', result);
      return { result, ref: refOf(request, result) };
    },

    async elapse(ms) {
      if (options.advance) await options.advance(made, ms);
      else await sleep(ms + GRAIN);
    },

    async snapshot(key) {
      if (options.raw) return JSON.stringify(await options.raw(made, key));
      if (store.inspect === undefined || options.without?.includes('inspect')) return undefined;
      const { leaseMsLeft: _, retainMsLeft: __, ...record } = (await store.inspect(key)) ?? {};
      return JSON.stringify(record);
    },
  };
}

/**
 * Finds a time within which a step can be made on this machine: the step is made with `SHORT`, and again with more where it
 * was not made and that time had passed. Returns the time within which it was made.
 */
export async function inTime(step: string, make: (ms: number) => Promise<boolean>): Promise<number> {
  for (let ms = SHORT; ; ms *= 4) {
    const start = performance.now();
    const isMade = await make(ms);
    const isLate = performance.now() - start >= ms - GRAIN;
    must(isMade || isLate, step, isMade);
    if (isMade) return ms;
  }
}

/** Returns the same request by another owner. */
export function rivalOf(request: ClaimRequest, changes?: Partial<ClaimRequest>): ClaimRequest {
  return { ...request, token: crypto.randomUUID(), ...changes };
}

export function rivalsOf(request: ClaimRequest, count: number): ClaimRequest[] {
  return Array.from({ length: count }, () => rivalOf(request));
}

export function refOf({ key, token, fingerprint, alias }: ClaimRequest, { fence }: { fence: number }): ClaimRef {
  return { key, token, fingerprint, alias, fence };
}

/** Returns how many of the answers have a status. */
export function count(answers: readonly ClaimResult[], status: ClaimResult['status']): number {
  return answers.filter((answer) => answer.status === status).length;
}

/** Checks that exactly one of several claims has acquired its key. */
export function oneAcquires(answers: readonly ClaimResult[]): void {
  const statuses = answers.map(({ status }) => status);
  must(count(answers, 'acquired') === 1, 'exactly one acquires', statuses);
}

/** Claims over both clients at once, and returns the answers. */
export function claimAll({ store, store2 }: StoreTrial, requests: readonly ClaimRequest[]): Promise<ClaimResult[]> {
  return Promise.all(requests.map((request, i) => (i % 2 === 0 ? store : store2).claim(request)));
}

/** Checks that exactly one of 32 simultaneous claims acquires a key, and that the others are answered in progress. */
export async function oneOf32Acquires(trial: StoreTrial, request: ClaimRequest): Promise<void> {
  const answers = await claimAll(trial, rivalsOf(request, 32));
  oneAcquires(answers);
  must(count(answers, 'in_progress') === 31, 'in_progress for the others', answers);
}

/** Checks the answers to calls of a token that does not own the key. */
export function mustBeLost(calls: string, answers: readonly Mutation[]): void {
  const areLost = answers.every((answer) => answer === 'lost');
  must(areLost, `${calls}: lost`, answers);
}

/** Checks that a token that does not own the key is answered lost to every call, and that nothing is written. */
export async function mustChangeNothing(
  { snapshot }: StoreTrial,
  store: DedupeStore,
  ref: ClaimRef,
  calls: string,
): Promise<void> {
  const before = await snapshot(ref.key);
  const answers = [
    await store.extend(ref, { leaseMs: LONG * 2 }),
    await store.release(ref),
    await store.complete(ref, { retainMs: LONG * 60 }),
  ];
  mustBeLost(calls, answers);
  const after = await snapshot(ref.key);
  must(after === before, `the row stays ${before}`, after);
}

/** Returns whether a claim was refused with a wait within the lease. */
export function isHeld(
  result: ClaimResult,
  leaseMs: number,
): result is Extract<ClaimResult, { status: 'in_progress' }> {
  return result.status === 'in_progress' && result.retryAfterMs > 0 && result.retryAfterMs <= leaseMs;
}

export function isFence(fence: unknown): boolean {
  return Number.isSafeInteger(fence) && (fence as number) > 0;
}

type OptionalMember = NonNullable<StoreSuiteOptions['without']>[number];

/** Returns the `skip` of a case about an optional member. */
export function needsMethod(method: OptionalMember) {
  return ({ without }: StoreSuiteOptions) => (without?.includes(method) ? `has no ${method}` : undefined);
}
