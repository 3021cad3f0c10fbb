import { isWebhookError } from '../errors.js';
import { explain } from '../explain/index.js';
import type { HeaderSource } from '../verify/headers.js';
import type { SignatureOptions } from '../verify/policy.js';
import type { Secret } from '../verify/secret.js';
import { verify } from '../verify/verify.js';
import type { Verdict } from './page-source.js';

/** Explaining larger ones takes seconds and blocks everything else. */
const MAX_EXPLAINED_BYTES = 64 * 1024;

export interface Judged {
  headers: HeaderSource;
  body: Uint8Array;
  /** The secrets; undefined verifies nothing. */
  secret: Secret | readonly Secret[] | undefined;
  /** When it was sent, in milliseconds since the epoch: it is verified as of then. */
  at: number;
}

/** Returns whether the signature is valid, and the causes if not. */
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
