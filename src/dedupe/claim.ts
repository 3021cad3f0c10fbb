import type { Background } from '../background.js';
import { check } from '../option-checks.js';
import type { ClaimRequest, ClaimResult, DedupeStore } from '../stores/contract.js';
import { callStore, STORE_TIMEOUT_MS } from './store-call.js';

/** The time limit of a claim. */
export interface TimeLimit {
  /** Returns the milliseconds that are left. */
  remaining(): number;
}

/** The store's answer, and the calls that had not answered by then. */
export interface ClaimAttempt {
  readonly result: ClaimResult;
  /** Calls that may still take the key for an owner that has released it. None of them rejects. */
  readonly unanswered: readonly Promise<unknown>[];
}

/**
 * Claims a key, with at most two calls that have the same token: a claim whose reply was lost is then recognised.
 * Rejects when both calls fail or take too long; the key is released as soon as a late call has taken it.
 */
export async function claimKey(
  store: DedupeStore,
  request: ClaimRequest,
  limit: TimeLimit,
  background: Background,
): Promise<ClaimAttempt> {
  const calls: Promise<unknown>[] = [];
  const claim = () => {
    const call = store.claim({ ...request });
    calls.push(call);
    return call.then(checkResult); // throws where a store returns no promise
  };
  const attempt = () => callStore(store, claim, Math.min(STORE_TIMEOUT_MS, limit.remaining()));
  try {
    return { result: await attempt(), unanswered: [] };
  } catch {}
  try {
    return { result: await attempt(), unanswered: calls.slice(0, 1).map(ended) };
  } catch (error) {
    // Each call may be applied although its reply was lost.
    const release = async () => store.release({ ...request, fence: 0 });
    for (const call of calls) background(ended(call).then(release));
    throw error;
  }
}

/** Resolves when a call has answered or failed. */
async function ended(call: unknown): Promise<void> {
  try {
    await call;
  } catch {}
}

function checkResult(result: ClaimResult): ClaimResult {
  const number = { acquired: 'attempt', in_progress: 'retryAfterMs', completed: 'fence' }[result.status] as 'fence';
  check(
    Number.isFinite(result.fence + result[number]),
    'dedupe.store.claim() resolved to a value that is not a ClaimResult',
  );
  return result;
}
