import { WebhookError } from '../errors.js';
import type { ReadHeaders } from '../verify/headers.js';
import type { SignaturePolicy } from '../verify/policy.js';
import { readSignature, type Signature } from '../verify/signature.js';
import { bodyTooLarge } from './body.js';

/**
 * Decides everything that the headers decide, before one byte of the body is read.
 *
 * @throws WebhookError `unsupported_content_encoding`, `body_too_large`, and what {@link readSignature} throws
 */
export function admit(headers: ReadHeaders, policy: SignaturePolicy, maxBodyBytes: number): Signature {
  const encoding = String(headers.contentEncoding ?? '').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw new WebhookError('unsupported_content_encoding');
  if (Number(headers.contentLength) > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
  return readSignature(headers, policy);
}
