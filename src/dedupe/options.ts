import { checkEndpointName, checkRetention, type IdentityKey, RETAIN_MS } from '../endpoint.js';
import { WebhookError } from '../errors.js';
import { check, checkChoice, checkKnownOptions, checkObject, integers } from '../option-checks.js';
import type { DedupeStore } from '../stores/contract.js';
import { memoryStore } from '../stores/memory.js';

/** Options of dedupe, which recognises retries of an event. */
export interface DedupeOptions {
  /** Where handled events are remembered. Default: a private memory store. */
  store?: DedupeStore | undefined;
  /**
   * The name of this endpoint, part of every key; required for a store that other processes share. The service gives an
   * event the same id at every endpoint, so two endpoints with one name would treat each other's events as duplicates.
   * At most 64 visible ASCII characters without a colon. Default for a memory store that one receiver uses:
   * `'default'`.
   */
  name?: string | undefined;
  /**
   * The identity of an event. Default: `'event-id'`, which the signature covers. No signature covers
   * `'idempotency-key'`: an attacker who captured a delivery can, within the tolerance, run it again under a new key,
   * or send it under the key of another event, which is then treated as a duplicate and lost. A delivery without that
   * header has the event id as its key.
   */
  key?: IdentityKey | undefined;
  /**
   * How long a claim lasts if its receiver stops responding, in milliseconds. Default: 25 000. Renewed every third of
   * it.
   */
  leaseMs?: number | undefined;
  /** How long a handled event is remembered, in milliseconds, at least 6 h: retries span 5 h 15 min. Default: 72 h. */
  retainMs?: number | undefined;
  /**
   * What to do when the store does not answer. Default: `'refuse'` answers 503, and the service retries. `'process'`
   * runs the handler with the memory of this process as the only dedupe: for handlers that may run twice.
   */
  onStoreError?: 'refuse' | 'process' | undefined;
}

/** {@link DedupeOptions} that were checked, with their defaults. */
export type DedupeSettings = { readonly [Name in keyof DedupeOptions]-?: NonNullable<DedupeOptions[Name]> };

/** The names of the options in `dedupe`. */
export const DEDUPE_OPTIONS = [
  'store',
  'name',
  'key',
  'leaseMs',
  'retainMs',
  'onStoreError',
] as const satisfies readonly (keyof DedupeOptions)[];

/** @throws WebhookError `invalid_option` */
export function dedupeSettings(options: DedupeOptions): DedupeSettings {
  checkObject('dedupe', options);
  checkKnownOptions('dedupe', options, DEDUPE_OPTIONS);
  const { store = memoryStore(), key = 'event-id', onStoreError = 'refuse' } = options;
  for (const method of ['claim', 'extend', 'complete', 'release'] as const) {
    check(typeof store?.[method] === 'function', `dedupe.store has no method ${method}()`);
  }
  const { name = store.scope === 'process' ? DEFAULT_NAME : undefined } = options;
  if (name === undefined) throw nameIsMissing();
  checkEndpointName(name, 'dedupe.name must be');
  if (typeof key !== 'function') checkChoice('dedupe.key', key, ['event-id', 'idempotency-key']);
  checkChoice('dedupe.onStoreError', onStoreError, ['refuse', 'process']);
  const { leaseMs, retainMs } = integers(options, { leaseMs: 25_000, retainMs: RETAIN_MS });
  check(leaseMs <= retainMs, 'dedupe.leaseMs must not be above retainMs');
  checkRetention('dedupe.retainMs', retainMs);
  if (name === DEFAULT_NAME) takeDefaultName(store, options.name);
  return { store, name, key, leaseMs, retainMs, onStoreError };
}

const DEFAULT_NAME = 'default';
/** Stores that are in use under the default name, and whether their receivers were given it. */
const usedAsDefault = new WeakMap<DedupeStore, 'given' | 'implied'>();

/** @throws WebhookError `invalid_option` where another receiver uses the store, unless both were given this name */
function takeDefaultName(store: DedupeStore, given: string | undefined): void {
  const user = given === undefined ? 'implied' : 'given';
  const other = usedAsDefault.get(store);
  if (other === 'implied' || (other === 'given' && user === 'implied')) throw nameIsMissing();
  usedAsDefault.set(store, user);
}

function nameIsMissing(): WebhookError {
  return new WebhookError('invalid_option', {
    message:
      "dedupe.name is missing, here or in another receiver on this store: two endpoints on one store would take each other's events for duplicates.",
    hint: "Give each endpoint a name of its own, such as dedupe: { store, name: 'billing' }, and each receiver of one endpoint the same name.",
  });
}
