import { signDelivery } from '../../../testing/sign-delivery.js';
import type { Secret } from '../../../verify/secret.js';
import { answerCode } from '../../../wire/answer-code.js';
import { type DeliverOptions, deliver, type SendResult } from '../../../wire/deliver.js';
import { asSpecified } from '../../../wire/header-spelling.js';

/** `unknown`: the answer is not one of this library's receivers, which tell the signature from the event. */
export type Acceptance = 'accepted' | 'refused' | 'unknown';

/**
 * Asks an app whether it accepts a secret, and runs no handler: the body is signed and is no event, so that a receiver
 * that accepts the signature refuses the event.
 */
export async function acceptsSecret(
  secret: Secret,
  { url, headerPrefix, at }: { url: URL; headerPrefix: string; at: number },
  options: DeliverOptions,
): Promise<{ acceptance: Acceptance; sent: SendResult }> {
  const { headers, ...request } = signDelivery({ secret, body: '{}', headerPrefix, at });
  const sent = await deliver({ ...request, headers: asSpecified(headers), url }, options);
  return { acceptance: acceptanceIn(sent), sent };
}

function acceptanceIn(sent: SendResult): Acceptance {
  if (sent.status === undefined) return 'unknown';
  if (answerCode(sent.body) === 'invalid_envelope') return 'accepted';
  return sent.status === 401 || sent.status === 403 ? 'refused' : 'unknown';
}
