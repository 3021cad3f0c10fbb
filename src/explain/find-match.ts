import { isWebhookError } from '../errors.js';
import { verifySignature } from '../verify.js';
import type { Repair } from './causes.js';
import type { Claim } from './claims.js';

/** A signature that holds, and with what. */
export interface Match {
  claim: Claim;
  secret: Repair;
  body: Repair;
}

/** How much is hashed before the search ends: some seconds at most, whatever came. */
const MAX_HASHED_BYTES = 512 * 1024 * 1024;
/** What one signature costs beside its bytes, in bytes. */
const OVERHEAD = 32 * 1024;

/**
 * Looks for a signature that holds: with everything as it is, then with one thing in another form, then with two.
 * `complete` says whether every form was tried on its own.
 */
export function findMatch(
  claims: readonly Claim[],
  secrets: readonly Repair[],
  bodies: () => Iterable<Repair>,
): { match: Match | undefined; complete: boolean } {
  let left = MAX_HASHED_BYTES;

  function search(pairs: Iterable<Omit<Match, 'claim'>>): Match | undefined {
    for (const { secret, body } of pairs) {
      for (const claim of claims) {
        left -= body.bytes.length + OVERHEAD;
        if (left < 0) return undefined;
        if (holds(claim, secret.bytes, body.bytes)) return { claim, secret, body };
      }
    }
    return undefined;
  }

  const given = secrets.filter(({ findings }) => findings.length === 0);
  const others = secrets.filter(({ findings }) => findings.length > 0);
  const match = search(pairsOf(bodies(), given)) ?? search(pairsOf(first(bodies()), others));
  const complete = left >= 0;
  return { match: match ?? search(pairsOf(bodies(), others)), complete };
}

/** The bodies in their order, each with every secret. */
function* pairsOf(bodies: Iterable<Repair>, secrets: readonly Repair[]): Generator<Omit<Match, 'claim'>> {
  for (const body of bodies) for (const secret of secrets) yield { secret, body };
}

function* first<T>(values: Iterable<T>): Generator<T> {
  for (const value of values) return yield value;
}

/**
 * Any claim, as the legacy signature of all that it covers: that form has no time and no grammar in it, and the
 * comparison is the library's own.
 */
function holds({ prefix, mac }: Claim, secret: Uint8Array, body: Uint8Array): boolean {
  const content = Buffer.concat([Buffer.from(prefix), body]);
  try {
    verifySignature({ headers: { 'x-service-signature': `sha256=${mac}` }, body: content, secret, legacy: 'accept' });
    return true;
  } catch (error) {
    if (isWebhookError(error) && error.code === 'signature_mismatch') return false;
    throw error;
  }
}
