import { asSpecified } from '../../../wire/header-spelling.js';
import type { HttpMessage } from '../../../wire/http-message.js';
import { Failure } from '../../failure.js';
import type { ListedLetter } from './listed-letter.js';

/**
 * Returns a dead letter as the request that brought it, without its signature, which the queue does not keep. Headers
 * that cannot be sent, as a hostile writer may have put them into the queue, are left out.
 *
 * @throws Failure for a job that is no delivery of this version
 */
export function letterMessage({ id, delivery, body }: ListedLetter, headerPrefix: string): HttpMessage {
  if (delivery === undefined || body === undefined)
    throw new Failure('usage', `dead letter ${id} is no delivery that this version can read: it cannot be sent.`);
  const { idempotencyKey, webhookId, attempt } = Object(delivery.unsigned);
  const prefix = headerPrefix.toLowerCase();
  const headers = Object.entries({
    'content-type': 'application/json',
    [`${prefix}-webhook-id`]: webhookId,
    [`${prefix}-attempt`]: attempt,
    'idempotency-key': idempotencyKey,
  }).flatMap(([name, value]) => (/^[!-~]{1,1024}$/.test(String(value ?? '')) ? [[name, String(value)]] : []));
  return { method: 'POST', path: '/', headers: asSpecified(Object.fromEntries(headers)), body };
}
