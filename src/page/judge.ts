import { isWebhookError } from '../errors.js';
import { explain } from '../explain/index.js';
import type { HeaderSource } from '../http.js';
import type { Secret } from '../secret.js';
import type { SignatureOptions } from '../signature.js';
import { verify } from '../verify.js';
import type { Verdict } from './page-source.js';

/** Larger ones take seconds to explain, and everything else waits meanwhile. */
const MAX_EXPLAINED_BYTES = 64 * 1024;

export interface Judged {
  headers: HeaderSource;
  body: Uint8Array;
  /** None: nothing can be verified. */
  secret: Secret | readonly Secret[] | undefined;
  /** When it was made, in milliseconds since the epoch: it is verified as of then. */
  at: number;
}

/** Whether the signature holds, and if not, why. */
export function judge({ headers, body, secret, at }: Judged, options: SignatureOptions = {}): Verdict {
  if (secret === undefined) return { verdict: 'unverified', causes: [] };
  const input = { ...options, headers, body, secret, now: () => at };
  if (body.length <= MAX_EXPLAINED_BYTES) return explain(input);
  try {
    verify(input);
    return { verdict: 'accepted', causes: [] };
  } catch (error) {
    if (isWebhookError(error)) return { verdict: error.code, causes: [] };
    throw error;
  }
}
