import { WebhookError } from '../errors.js';
import { withTimeout } from '../timers.js';
import { type HeaderSource, oneValue } from '../verify/headers.js';
import type { HmacKey } from '../verify/hmac.js';
import type { SignaturePolicy } from '../verify/policy.js';
import { type Secret, toKeys } from '../verify/secret.js';
import type { Deadline } from './deadline.js';

/** One secret, several during a rotation, or a function that fetches them. */
export type SecretSource = Secret | readonly Secret[] | ((hint: { webhookId?: string }) => Promise<readonly Secret[]>);

/** Returns the keys to try on a delivery. */
export type KeySource = (headers: HeaderSource, deadline: Deadline) => readonly HmacKey[] | Promise<readonly HmacKey[]>;

/** @throws WebhookError `invalid_secret` */
export function keySource(secret: SecretSource, { names }: SignaturePolicy): KeySource {
  if (typeof secret !== 'function') {
    const keys = toKeys(secret);
    return () => keys;
  }
  return async (headers, deadline) => {
    const webhookId = oneValue(headers, names.webhookId);
    const hint = webhookId === undefined ? {} : { webhookId };
    const secrets: unknown = await withTimeout(deadline.remaining(), () => secret(hint)).catch((cause) => {
      throw new WebhookError('secret_unavailable', { cause });
    });
    // A sender can name an endpoint that does not exist: without a secret, no signature matches.
    if (secrets === undefined || secrets === null || (Array.isArray(secrets) && secrets.length === 0)) return [];
    return toKeys(secrets as readonly Secret[]);
  };
}
