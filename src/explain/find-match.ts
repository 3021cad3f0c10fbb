import { bytesOfHex } from '../bytes.js';
import { equalMacs, type HmacKey, hmacSync } from '../verify/hmac.js';
import type { Repair } from './causes.js';
import type { Claim } from './claims.js';
import { type Budget, createBudget, FULL_EFFORT } from './effort.js';

/** A signature that is valid, with the secret and the body it is valid for. */
export interface Match {
  claim: Claim;
  secret: Repair;
  body: Repair;
}

/** A secret with its HMAC key, which is prepared once for all bodies. */
type KeyedSecret = Repair & { readonly key: HmacKey };

/**
 * Searches for a valid signature: first with everything unchanged, then with one value in another form, then with two.
 * `complete` says whether every form was tried on its own.
 *
 * @throws WebhookError `sync_crypto_unavailable`
 */
export function findMatch(
  claims: readonly Claim[],
  secrets: readonly Repair[],
  bodies: () => Iterable<Repair>,
  budget: Budget = createBudget(FULL_EFFORT),
): { match: Match | undefined; complete: boolean } {
  const candidates = claims.map((claim) => ({ claim, mac: bytesOfHex(claim.mac) }));

  function search(bodies: Iterable<Repair>, secrets: readonly KeyedSecret[]): Match | undefined {
    for (const body of bodies) {
      for (const { key, ...secret } of secrets) {
        for (const { claim, mac } of candidates) {
          if (!budget.take(body.bytes.length)) return undefined;
          if (equalMacs(mac, hmacSync(key, claim.prefix, body.bytes))) return { claim, secret, body };
        }
      }
    }
    return undefined;
  }

  const keyed = secrets.map((secret) => ({ ...secret, key: { bytes: new Uint8Array(secret.bytes) } }));
  const given = keyed.filter(({ findings }) => findings.length === 0);
  const others = keyed.filter(({ findings }) => findings.length > 0);
  const match = search(bodies(), given) ?? search(first(bodies()), others);
  const complete = !budget.spent;
  return { match: match ?? (complete ? search(bodies(), others) : undefined), complete };
}

function* first<T>(values: Iterable<T>): Generator<T> {
  for (const value of values) return yield value;
}
