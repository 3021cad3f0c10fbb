import { WebhookError } from '../errors.js';
import { type HeaderSource, header } from '../verify/headers.js';
import type { SignaturePolicy } from '../verify/policy.js';
import { readSignature, type Signature } from '../verify/signature.js';
import { bodyTooLarge } from './body.js';

/**
 * Decides everything that the headers decide, before one byte of the body is read.
 *
 * @throws WebhookError `method_not_allowed`, `unsupported_content_encoding`, `body_too_large`, and what
 *   {@link readSignature} throws
 */
export function admit(method: string, headers: HeaderSource, policy: SignaturePolicy, maxBodyBytes: number): Signature {
  if (method !== 'POST') throw new WebhookError('method_not_allowed');
  const encoding = String(header(headers, 'content-encoding') ?? '').toLowerCase();
  if (encoding !== '' && encoding !== 'identity') throw new WebhookError('unsupported_content_encoding');
  if (Number(header(headers, 'content-length')) > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
  return readSignature(headers, policy);
}
