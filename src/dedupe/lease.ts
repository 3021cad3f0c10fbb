import type { ClaimRef, DedupeStore, Mutation } from '../stores/contract.js';
import { MAX_TIMER_MS, unrefTimeout } from '../timers.js';
import type { Delivery } from '../verify/verify.js';
import type { DedupeReports } from './notice.js';
import type { DedupeSettings } from './options.js';
import { callStore } from './store-call.js';

/** A handler that never ends must not hold its event without limit. */
const MAX_RENEWAL_MS = 600_000;
const RETRY_DELAYS_MS = [1_000, 5_000, 20_000, 60_000];

/** The claim of one delivery, renewed until it ends. The owner calls one of the three methods, once; none rejects. */
export interface Lease {
  readonly attempt: number;
  readonly fence: number;
  /**
   * Marks the event as done: its handler has returned, or no retry can help. Resolves after the first try to record it;
   * further tries follow in the background.
   */
  complete(as: 'handled' | 'not_handled'): Promise<void>;
  /** Releases the event, so that the next attempt may run at once. */
  release(): Promise<void>;
  /** Stops renewing the lease, which then expires: it is unknown how the work ended. */
  abandon(): void;
}

/** The lease of a receiver without dedupe. */
export const NO_LEASE: Lease = { attempt: 1, fence: 0, async complete() {}, async release() {}, abandon() {} };

/** What a lease is taken for. */
export interface LeaseOf {
  delivery: Delivery;
  store: DedupeStore;
  claim: ClaimRef;
  attempt: number;
  /** Calls of the store that may still take the key; none of them rejects. */
  unanswered: readonly Promise<unknown>[];
}

/** Starts to renew a claim that was acquired. */
export function startLease(
  { delivery, store, claim, attempt, unanswered }: LeaseOf,
  { leaseMs, retainMs }: Pick<DedupeSettings, 'leaseMs' | 'retainMs'>,
  { notify, background }: DedupeReports,
): Lease {
  let ended = false;
  const renewalMs = Math.min(leaseMs / 3, MAX_TIMER_MS);
  let renewals = MAX_RENEWAL_MS / renewalMs;
  const heartbeat = setInterval(async () => {
    renewals -= 1;
    if (renewals < 0 || (await change('extend')) === 'lost') clearInterval(heartbeat);
  }, renewalMs);
  heartbeat.unref?.();

  /** Resolves to undefined where the store failed. */
  async function change(operation: 'extend' | 'complete' | 'release'): Promise<Mutation | undefined> {
    try {
      const result = await callStore(store, () => store[operation](claim, { leaseMs, retainMs }));
      // A renewal that the end of the lease overtakes is not a loss.
      if (result === 'lost' && !(ended && operation === 'extend')) notify({ kind: 'lease_lost', delivery });
      return result;
    } catch (error) {
      notify({ kind: 'store_error', delivery, operation, error });
      return undefined;
    }
  }

  function end(): void {
    ended = true;
    clearInterval(heartbeat);
  }

  return {
    attempt,
    fence: claim.fence,
    async complete() {
      end();
      const recorded = async () => (await change('complete')) !== undefined;
      if (!(await recorded())) background(retryLater(recorded));
    },
    async release() {
      end();
      for (const call of unanswered) {
        const releaseAgain = async () => store.release(claim);
        background(call.then(releaseAgain));
      }
      await change('release');
    },
    abandon: end,
  };
}

/** Calls `succeeds` again after growing pauses, until it resolves to true or was called for the last time. */
export async function retryLater(
  succeeds: () => Promise<boolean>,
  delaysMs: Iterable<number> = RETRY_DELAYS_MS,
): Promise<void> {
  for (const delayMs of delaysMs) {
    await new Promise<void>((resolve) => unrefTimeout(resolve, delayMs));
    if (await succeeds()) return;
  }
}
