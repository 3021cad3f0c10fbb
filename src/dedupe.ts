import { check, checkChoice, checkObject, integers } from './check.js';
import { type Deadline, later, MAX_TIMER_MS, within } from './deadline.js';
import { failureOf, WebhookError } from './errors.js';
import { fingerprint } from './hmac.js';
import type { Answer, Notice } from './outcome.js';
import type { ClaimRef, ClaimRequest, ClaimResult, DedupeStore } from './stores/contract.js';
import { memoryStore } from './stores/memory.js';
import type { Delivery } from './verify.js';

/** How deliveries of the same event are told apart from new ones. */
export interface DedupeOptions {
  /** Where events are remembered. */
  store: DedupeStore;
  /**
   * This endpoint's name, part of every key; `'default'`. One event has the same id at every endpoint that receives
   * it, so two endpoints on one store need two names. At most 64 visible ASCII characters without a colon.
   */
  name?: string | undefined;
  /**
   * What makes two deliveries the same; `'event-id'`, which is signed. `'idempotency-key'` is a header that no
   * signature covers: whoever captured a delivery can, within the tolerance, run it again under a fresh key, or send
   * it under another event's key so that this other event is taken for a duplicate and lost. A missing header falls
   * back to the event id.
   */
  key?: 'event-id' | 'idempotency-key' | ((delivery: Delivery) => string) | undefined;
  /** How long a claim holds if its receiver dies, in milliseconds; 25 000. Kept alive every third of it. */
  leaseMs?: number | undefined;
  /** How long a handled event is remembered, in milliseconds; 72 h. Below 6 h is refused: retries span 5 h 15 m. */
  retainMs?: number | undefined;
  /**
   * When the store does not answer; `'refuse'`: 503, and the sender comes again. `'process'` runs the handler all the
   * same, with this process's own memory as the only dedupe: for handlers that may run twice.
   */
  onStoreError?: 'refuse' | 'process' | undefined;
}

/** A delivery that is ours to handle. */
export interface Claim {
  readonly attempt: number;
  readonly fence: number;
  /** Done, given back, or left to the lease. Once; never rejects. */
  end(how?: 'complete' | 'release'): Promise<unknown>;
}

/** Claims a delivery. Rejects with `store_unavailable`, at the deadline, or after 4 s. */
export type Dedupe = (
  delivery: Delivery,
  deadline: Deadline,
) => Promise<Claim | Extract<Answer, { kind: 'duplicate' | 'in_progress' }>>;

/** What nobody remembers. */

const STORE_TIMEOUT_MS = 2_000;

/** Undefined where it is switched off. @throws WebhookError `invalid_option` */
export function createDedupe(
  options: DedupeOptions | false = { store: memoryStore() },
  notify: (notice: Notice) => void,
): Dedupe | undefined {
  if (options === false) return;
  checkObject('dedupe', options);
  const { store, name = 'default', key = 'event-id', onStoreError = 'refuse' } = options;
  for (const method of ['claim', 'extend', 'complete', 'release'] as const) {
    check(typeof store?.[method] === 'function', `dedupe.store has no ${method}()`);
  }
  check(typeof name === 'string' && /^[!-9;-~]{1,64}$/.test(name), 'name must be ASCII, no colon');
  if (typeof key !== 'function') checkChoice('key', key, ['event-id', 'idempotency-key']);
  const { leaseMs, retainMs } = integers(options, { leaseMs: 25_000, retainMs: 72 * 3_600_000 });
  check(retainMs >= 6 * 3_600_000, 'retainMs must be >= 6 h');
  checkChoice('onStoreError', onStoreError, ['refuse', 'process']);
  if (store.scope === 'process') warnWhereProcessesAreMany();
  let ready: Promise<void> | undefined;
  let fallback: DedupeStore | undefined;

  return async (delivery, deadline) => {
    // One value of visible ASCII, without its quotes; of another form it is as good as none.
    const header = delivery.unsigned.idempotencyKey?.match(/^"?([!#-~]{1,255})"?$/)?.[1];
    let id =
      typeof key === 'function' ? key(delivery) : key === 'event-id' || !header ? delivery.event.id : `key:${header}`;
    check(typeof id === 'string' && id !== '', 'key() must return text');
    // Any id works on every store: what is long or holds more than visible ASCII is hashed; as JSON, which keeps apart
    // what UTF-8 has no bytes for.
    if (!/^[!-~]{1,120}$/.test(id)) id = `sha256:${await fingerprint(JSON.stringify(id))}`;
    const request: ClaimRequest = {
      key: `${name}:${id}`,
      // In one piece: as it comes it is a tree of twenty strings, which a store in memory would keep.
      token: crypto.randomUUID().toLowerCase(),
      fingerprint: await fingerprint(delivery.body),
      alias: header && (await fingerprint(header)),
      leaseMs,
      retainMs,
    };
    try {
      // Each waits for itself: Workers cancel what was begun for a request that is gone, and its timeout with it.
      if (store.init) await within(Math.min(STORE_TIMEOUT_MS, deadline.remaining()), () => (ready ??= store.init?.()));
      return toAnswer(delivery, store, request, await claim(store, request, deadline));
    } catch (cause) {
      ready = undefined;
      notify({ kind: 'store_error', delivery, operation: 'claim', error: cause });
      if (onStoreError === 'refuse') throw failureOf('store_unavailable', 503, cause);
      fallback ??= memoryStore();
      return toAnswer(delivery, fallback, request, await fallback.claim(request));
    }
  };

  function toAnswer(delivery: Delivery, owner: DedupeStore, request: ClaimRequest, result: ClaimResult) {
    const { status, seen } = result;
    if (seen && seen.fingerprint !== request.fingerprint) notify({ kind: 'payload_mismatch', delivery });
    if (seen?.alias && request.alias && seen.alias !== request.alias) {
      notify({ kind: 'idempotency_key_mismatch', delivery });
    }
    if (status === 'completed') return { kind: 'duplicate', delivery } as const;
    if (status === 'acquired') return own(delivery, owner, request, result);
    return {
      kind: 'in_progress',
      delivery,
      retryAfterMs: result.retryAfterMs,
      error: new WebhookError('delivery_in_progress', 409, 'Another has it.'),
    } as const;
  }

  function own(
    delivery: Delivery,
    owner: DedupeStore,
    request: ClaimRequest,
    { fence, attempt }: Extract<ClaimResult, { status: 'acquired' }>,
  ): Claim {
    const ref: ClaimRef = Object.assign(request, { fence }); // a spread with more behind it costs 4 us
    /** Undefined where the store failed. */
    const change = (operation: 'extend' | 'complete' | 'release') =>
      within(STORE_TIMEOUT_MS, () => owner[operation](ref, { leaseMs, retainMs })).then(
        (result) => {
          // A renewal that the end has overtaken is no loss.
          if (result === 'lost' && !(ended && operation === 'extend')) notify({ kind: 'lease_lost', delivery });
          return result;
        },
        (error) => notify({ kind: 'store_error', delivery, operation, error }),
      );
    let ended = false;
    const beatMs = Math.min(leaseMs / 3, MAX_TIMER_MS);
    let beats = 600_000 / beatMs; // ten minutes at the most
    const heartbeat = setInterval(async () => {
      if (--beats < 0 || (await change('extend')) === 'lost') clearInterval(heartbeat);
    }, beatMs);
    heartbeat.unref?.();
    // The work is done and is acknowledged whatever becomes of its record, so nobody waits for the later tries.
    const complete = (tries = 0): Promise<void> =>
      change('complete').then((result) => {
        const delay = [1_000, 5_000, 20_000, 60_000][tries];
        if (!result && delay) later(() => complete(tries + 1), delay);
      });
    return {
      attempt,
      fence,
      end(how) {
        ended = true;
        clearInterval(heartbeat);
        return how === 'complete' ? complete() : Promise.resolve(how && change(how));
      },
    };
  }
}

/** Twice at the most, with the same token, so that a claim whose reply was lost is found to be ours. */
function claim(store: DedupeStore, request: ClaimRequest, deadline: Deadline): Promise<ClaimResult> {
  const calls: Promise<ClaimResult>[] = [];
  const attempt = () =>
    within(Math.min(STORE_TIMEOUT_MS, deadline.remaining()), () => {
      const call = store.claim({ ...request });
      calls.push(call);
      return call.then(checkResult);
    });
  const giveUp = (error: unknown) => {
    // It may have been applied all the same, now or when the store comes back: then the sender's next attempt would
    // meet the claim of somebody who has given up.
    const free = async () => store.release({ ...request, fence: 0 });
    for (const call of calls) call.then(free, free).catch(() => {});
    throw error;
  };
  return attempt().catch(attempt).catch(giveUp);
}

function checkResult(result: ClaimResult): ClaimResult {
  const number = { acquired: 'attempt', in_progress: 'retryAfterMs', completed: 'fence' }[result.status] as 'fence';
  check(Number.isFinite(result.fence + result[number]), 'dedupe.store has no result');
  return result;
}

/** node:cluster, PM2 or Lambda: a store of one process does not see what the others handle. */
function warnWhereProcessesAreMany(): void {
  const env = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env;
  if (env?.['NODE_UNIQUE_ID'] ?? env?.['pm_id'] ?? env?.['AWS_LAMBDA_FUNCTION_NAME']) {
    console.warn('service-webhooks: processes need a shared store');
  }
}
