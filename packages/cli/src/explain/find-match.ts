import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
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
type KeyedSecret = Repair & { readonly key: KeyObject };

/**
 * Searches for a valid signature: first with everything unchanged, then with one value in another form, then with two.
 * `complete` says whether every form was tried on its own.
 */
export function findMatch(
  claims: readonly Claim[],
  secrets: readonly Repair[],
  bodies: () => Iterable<Repair>,
  budget: Budget = createBudget(FULL_EFFORT),
): { match: Match | undefined; complete: boolean } {
  const candidates = claims.map((claim) => ({ claim, mac: Buffer.from(claim.mac, 'hex') }));

  function search(bodies: Iterable<Repair>, secrets: readonly KeyedSecret[]): Match | undefined {
    for (const body of bodies) {
      for (const { key, ...secret } of secrets) {
        for (const { claim, mac } of candidates) {
          if (!budget.take(body.bytes.length)) return undefined;
          const signed = createHmac('sha256', key).update(claim.prefix).update(body.bytes).digest();
          if (timingSafeEqual(mac, signed)) return { claim, secret, body };
        }
      }
    }
    return undefined;
  }

  const keyed = secrets.map((secret) => ({ ...secret, key: createSecretKey(secret.bytes) }));
  const given = keyed.filter(({ findings }) => findings.length === 0);
  const others = keyed.filter(({ findings }) => findings.length > 0);
  const match = search(bodies(), given) ?? search(first(bodies()), others);
  const complete = !budget.spent;
  return { match: match ?? (complete ? search(bodies(), others) : undefined), complete };
}

function* first<T>(values: Iterable<T>): Generator<T> {
  for (const value of values) return yield value;
}
