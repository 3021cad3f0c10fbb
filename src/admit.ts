import { bodyTooLarge } from './body.js';
import { WebhookError } from './errors.js';
import { type HeaderSource, header } from './http.js';
import { readSignature, type Signature, type SignaturePolicy } from './signature.js';

/**
 * Everything the headers decide, before one byte of the body is read.
 *
 * @throws WebhookError `method_not_allowed`, `unsupported_content_encoding`, `body_too_large`, and what
 *   {@link readSignature} throws
 */
export function admit(method: string, headers: HeaderSource, policy: SignaturePolicy, maxBodyBytes: number): Signature {
  if (method !== 'POST') throw new WebhookError('method_not_allowed', 405, 'Does a proxy change it?');
  if (!/^(identity)?$/i.test(String(header(headers, 'content-encoding') ?? ''))) {
    throw new WebhookError('unsupported_content_encoding', 415, 'Does a proxy change it?');
  }
  if (Number(header(headers, 'content-length')) > maxBodyBytes) throw bodyTooLarge(maxBodyBytes);
  return readSignature(headers, policy);
}
