import { concat, lastIndexOf } from '../bytes.js';
import { deliveryKey, idempotencyKey } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { initOnce } from '../init-once.js';
import type { ClaimRequest, DedupeStore, Seen } from '../stores/contract.js';
import { memoryStore } from '../stores/memory.js';
import { fingerprint } from '../verify/hmac.js';
import type { Delivery } from '../verify/verify.js';
import { type ClaimAttempt, claimKey, type TimeLimit } from './claim.js';
import { type Lease, NO_LEASE, startLease } from './lease.js';
import type { DedupeReports } from './notice.js';
import { type DedupeOptions, type DedupeSettings, dedupeSettings } from './options.js';
import { STORE_TIMEOUT_MS } from './store-call.js';
import { newToken } from './token.js';

/** A delivery is acquired for this receiver, was handled before, or is in progress in another receiver. */
export type Claim =
  | { status: 'acquired'; lease: Lease }
  | { status: 'completed' }
  | { status: 'in_progress'; retryAfterMs: number };

/** Recognises retries. */
export interface Dedupe {
  /**
   * Claims a delivery. Rejects with `store_unavailable` at the limit, or when both calls of the store took too long.
   */
  claim(delivery: Delivery, limit: TimeLimit): Promise<Claim>;
  /** Undefined where dedupe is switched off. */
  readonly settings: DedupeSettings | undefined;
}

/** @throws WebhookError `invalid_option` */
export function createDedupe(options: DedupeOptions | false, reports: DedupeReports): Dedupe {
  if (options === false) {
    return { claim: async () => ({ status: 'acquired', lease: NO_LEASE }), settings: undefined };
  }
  const settings = dedupeSettings(options);
  const { notify, background } = reports;
  const { store, leaseMs, retainMs, onStoreError } = settings;
  const initialise = initOnce(() => store.init?.());
  let fallback: DedupeStore | undefined;

  async function claimRequest(delivery: Delivery): Promise<ClaimRequest> {
    const alias = idempotencyKey(delivery);
    const [key, hash] = [deliveryKey(delivery, settings), payloadFingerprint(delivery)]; // promises only on WebCrypto
    return {
      key: typeof key === 'string' ? key : await key,
      token: newToken(),
      fingerprint: typeof hash === 'string' ? hash : await hash,
      alias,
      leaseMs,
      retainMs,
    };
  }

  function toClaim(delivery: Delivery, owner: DedupeStore, request: ClaimRequest, attempt: ClaimAttempt): Claim {
    const { result, unanswered } = attempt;
    if (result.seen) compareWithFirst(delivery, request, result.seen);
    if (result.status !== 'acquired') return result;
    const claim = { ...request, fence: result.fence };
    const lease = startLease({ delivery, store: owner, claim, attempt: result.attempt, unanswered }, settings, reports);
    return { status: 'acquired', lease };
  }

  function compareWithFirst(delivery: Delivery, request: ClaimRequest, seen: Seen): void {
    if (seen.fingerprint !== request.fingerprint) notify({ kind: 'payload_mismatch', delivery });
    if (seen.alias && request.alias && seen.alias !== request.alias) {
      notify({ kind: 'idempotency_key_mismatch', delivery });
    }
  }

  async function claim(delivery: Delivery, limit: TimeLimit): Promise<Claim> {
    const request = await claimRequest(delivery);
    try {
      // Every request waits with a limit of its own: Workers cancel what was started for a request that has ended.
      if (store.init) await initialise(Math.min(STORE_TIMEOUT_MS, limit.remaining()));
      return toClaim(delivery, store, request, await claimKey(store, request, limit, background));
    } catch (cause) {
      notify({ kind: 'store_error', delivery, operation: 'claim', error: cause });
      if (onStoreError === 'refuse') throw new WebhookError('store_unavailable', { cause });
      fallback ??= memoryStore();
      return toClaim(delivery, fallback, request, { result: await fallback.claim(request), unanswered: [] });
    }
  }

  return { claim, settings };
}

/** Returns a hash of the body without its timestamp, which is the time of sending and may differ between attempts. */
function payloadFingerprint({ event, body }: Delivery): string | Promise<string> {
  const { timestamp } = event;
  const start = lastIndexOf(body, timestamp); // the last one, because `data` may contain the same text before it
  return fingerprint(start < 0 ? body : concat([body.subarray(0, start), body.subarray(start + timestamp.length)]));
}
