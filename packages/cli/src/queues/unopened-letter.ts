import type { UnopenedDelivery } from 'service-webhooks/queue';

/** The keys of queues: the name of the endpoint, the tenant where there is one, and the id of the event. */
const KEY = /^[^:]+:(?:tenant=([^:]+):)?(evt_.+)$/s;

/** Returns the id of the event from the key of its delivery; undefined where the key has a hash, or another identity. */
export function eventIdInKey(key: string | undefined): string | undefined {
  return KEY.exec(key ?? '')?.[2];
}

/** Returns the tenant from the key of a delivery; undefined where there is none, or a hash in its place. */
export function tenantInKey(key: string | undefined): string | undefined {
  return KEY.exec(key ?? '')?.[1];
}

/** What the option of the command line is, by what a queue lacks. */
const NOT_SHOWN: { readonly [needs in NonNullable<UnopenedDelivery['needs']>]: string } = {
  encrypt: 'The body is encrypted: pass --decrypt.',
  overflow: 'The body is kept outside of the queue: pass --overflow.',
  key: 'The body is encrypted with a key that --decrypt does not have: add that key to its source.',
};

export const NEEDS_OVERFLOW = NOT_SHOWN.overflow;

/** Returns why a body is not shown, and which option shows it. */
export function whyNotShown({ needs, why }: UnopenedDelivery): string {
  return needs === undefined ? why : NOT_SHOWN[needs];
}
