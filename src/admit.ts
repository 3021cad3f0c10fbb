import { bodyTooLarge } from './body.js';
import { WebhookError } from './errors.js';
import { header, type WebhookRequest } from './http.js';
import { readSignature, type Signature, type SignaturePolicy } from './signature.js';

/**
 * Everything the headers decide, before one byte of the body is read.
 *
 * @throws WebhookError `method_not_allowed`, `unsupported_content_encoding`, `body_too_large`, and what
 *   {@link readSignature} throws
 */
export function admit({ method, headers }: WebhookRequest, policy: SignaturePolicy, maxBodyBytes: number): Signature {
  if (method !== 'POST') {
    throw new WebhookError('method_not_allowed', 'Does a redirect make it a GET?');
  }
  const encoding = String(header(headers, 'content-encoding') ?? 'identity').toLowerCase();
  if (encoding !== 'identity' && encoding !== '') {
    throw new WebhookError('unsupported_content_encoding', 'Does a proxy compress it?');
  }
  const declared = header(headers, 'content-length');
  if (typeof declared === 'string' && /^\d+$/.test(declared) && Number(declared) > maxBodyBytes) {
    throw bodyTooLarge(maxBodyBytes);
  }
  return readSignature(headers, policy);
}
