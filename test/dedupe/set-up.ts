import { type DedupeOptions, type Handler, memoryStore } from 'service-webhooks';
import { vi } from 'vitest';
import {
  aReceiver,
  aRequest,
  aStore,
  type DeliveryParts,
  inShort,
  later,
  type RecordedStore,
} from '../support/deliveries.js';

export const elapse = (ms: number) => vi.advanceTimersByTimeAsync(ms);
export const tick = () => elapse(0);
export const refuse = () => Promise.reject(new Error('ECONNREFUSED'));
export const throwing = (): never => {
  throw new Error('no client');
};

/** How a call of a store fails at once. */
export const FAILURES: [how: string, call: () => Promise<never>][] = [
  ['rejects', refuse],
  ['rejects with undefined', () => Promise.reject()],
  ['throws', throwing],
];

export const withKey = (idempotencyKey: string) => ({ headers: { 'idempotency-key': idempotencyKey } });

/** A receiver over a store, with a handler that can be counted. */
export function setUp(
  store: RecordedStore = aStore(),
  dedupe: Partial<DedupeOptions> = {},
  options: Parameters<typeof aReceiver>[0] = {},
) {
  const handler = vi.fn<Handler>();
  const watched = aReceiver({ on: { '*': handler }, dedupe: { store, ...dedupe }, ...options });
  const deliver = async (parts?: DeliveryParts) => inShort(await watched.receiver(aRequest(parts)));
  const keys = () => store.claims.map(({ key }) => key);
  return { store, handler, deliver, keys, ...watched };
}

/** {@link setUp} with a delivery that is claimed and whose handler runs until `work` is settled. */
export async function heldClaim(store?: RecordedStore, dedupe?: Partial<DedupeOptions>, parts?: DeliveryParts) {
  const set = setUp(store, dedupe);
  const work = later();
  set.handler.mockImplementationOnce(() => work.promise);
  const answer = set.deliver(parts);
  await tick();
  return { ...set, work, answer };
}

/** {@link setUp} over a store whose first claims reach it when `land` is called; `second` answers the second one. */
export function lateClaims({
  count = Number.POSITIVE_INFINITY,
  second = undefined as (() => Promise<never>) | undefined,
}) {
  const inner = memoryStore();
  const gate = later();
  let claims = 0;
  const claim: typeof inner.claim = async (request) => {
    claims += 1;
    if (claims === 2 && second) return second();
    if (claims <= count) await gate.promise;
    return inner.claim(request);
  };
  const land = async () => {
    gate.resolve();
    await tick();
  };
  const state = async () => (await inner.inspect?.('default:evt_1'))?.state;
  return { inner, land, state, ...setUp(aStore({ claim }, inner)) };
}
