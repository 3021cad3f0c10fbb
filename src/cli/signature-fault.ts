import { isWebhookError, type WebhookError } from '../errors.js';
import type { HttpMessage } from '../http/http-message.js';
import type { SignatureOptions } from '../verify/policy.js';
import type { Secret } from '../verify/secret.js';
import { verifySignature } from '../verify/verify.js';

/** The age of a signature says nothing about who signed. */
const ANY_AGE_SECONDS = Number.MAX_SAFE_INTEGER;

/**
 * Returns why a request is not signed with any of the secrets; undefined where it is, however long ago. A request with a
 * fault may come from any sender, and a new signature would make it genuine.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`
 */
export function signatureFault(
  { headers, body }: Pick<HttpMessage, 'headers' | 'body'>,
  secret: readonly Secret[],
  checks: Pick<SignatureOptions, 'headerPrefix' | 'legacy'>,
): WebhookError | undefined {
  const { headerPrefix, legacy } = checks;
  try {
    verifySignature({ headerPrefix, legacy, toleranceSeconds: ANY_AGE_SECONDS, headers, body, secret });
    return undefined;
  } catch (error) {
    if (isWebhookError(error) && error.status === 401) return error;
    throw error;
  }
}
