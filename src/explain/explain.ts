import { checkFunction, checkObject } from '../check.js';
import { isWebhookError, type WebhookErrorCode } from '../errors.js';
import { readHeaders } from '../http.js';
import type { Secret } from '../secret.js';
import { type VerifyInput, verify } from '../verify.js';
import { type CauseName, type Certainty, FIXES, type Judged, judged } from './causes.js';
import { type Claim, claimsIn } from './claims.js';
import { findMatch, type Match } from './find-match.js';
import { givenBody, givenSecrets } from './given.js';
import { guesses, judgeBody } from './guesses.js';
import { readSignatureHeaders, type SignatureHeaders } from './signature-headers.js';
import { timeFindings } from './time-findings.js';

/** A delivery as `verify` was given it, right or wrong. */
export interface ExplainInput extends Omit<VerifyInput, 'body' | 'secret'> {
  /** What was verified, also where it is no bytes but what a parser has left. */
  body: unknown;
  /** What it was verified with, also where it is undefined, as an environment variable that is not set. */
  secret: Secret | readonly Secret[] | undefined;
  /** Secrets that it may have been signed with instead, under the names that the explanation is to have for them. */
  otherSecrets?: Readonly<Record<string, Secret>> | undefined;
}

/** One reason why a delivery does not verify. */
export interface Cause {
  cause: CauseName;
  certainty: Certainty;
  /** What shows it. */
  evidence: string;
  /** What to do about it. */
  fix: string;
}

/** Why a delivery does not verify. It holds no secret, no signature and no piece of the body. */
export interface Explanation {
  /** The code that `verify` refuses it with. */
  verdict: 'accepted' | WebhookErrorCode;
  /** The surest first; none for a delivery that is accepted. */
  causes: readonly Cause[];
}

/**
 * Says why a delivery does not verify. Secret, body and headers are brought into every form that they may have had
 * before something went wrong: where one verifies, that is what went wrong.
 *
 * It takes milliseconds for a usual body and some seconds at most, so it is for people and their logs, and not for a
 * receiver to call on what anyone may send.
 *
 * @throws WebhookError `invalid_option` for options that are none; `sync_crypto_unavailable` where the runtime has no
 *   node:crypto
 * @example
 * const { verdict, causes } = explain({ headers, body, secret });
 * for (const { cause, certainty, evidence, fix } of causes) console.log(`${cause} (${certainty}): ${evidence} ${fix}`);
 */
export function explain(input: ExplainInput): Explanation {
  checkObject('input', input);
  checkFunction('now', input.now);
  const instant = (input.now ?? Date.now)();
  const settings = { ...input, headers: readHeaders(input.headers), now: () => instant };
  const verdict = verdictOf(settings as VerifyInput);
  if (verdict === 'accepted') return { verdict, causes: [] };

  const headers = readSignatureHeaders(settings.headers, input.headerPrefix);
  const claims = claimsIn(headers);
  const { bytes, bodies, findings: ofBody } = givenBody(input.body, headers.contentEncoding);
  const { secrets, findings: ofSecret } = givenSecrets(input.secret, input.otherSecrets);
  const { match, complete } = findMatch(claims, secrets, bodies);
  const [claim] = match ? [match.claim] : claims;
  const found = [
    ...ofSecret,
    ...ofBody,
    ...(match ? shownBy(match, headers, input.legacy, bytes) : suggestedBy(headers, claim, input.legacy)),
    ...(match || claims.length === 0 || bytes === undefined ? [] : guesses(bytes, headers, complete)),
    ...timeFindings(claim?.t, { now: instant, toleranceSeconds: input.toleranceSeconds, shown: !!match }),
  ];
  return { verdict, causes: inOrder(found.length > 0 ? found : [restOf(verdict)]) };
}

function verdictOf(input: VerifyInput): Explanation['verdict'] {
  try {
    verify(input);
    return 'accepted';
  } catch (error) {
    if (!isWebhookError(error) || ['invalid_option', 'sync_crypto_unavailable'].includes(error.code)) throw error;
    return error.code;
  }
}

/** What the form in which a signature holds says about the one in which it came. */
function shownBy(
  { claim, secret, body }: Match,
  headers: SignatureHeaders,
  legacy: VerifyInput['legacy'],
  bytes: Uint8Array | undefined,
): Judged[] {
  const changes = [...headers.findings, ...claim.findings, ...secret.findings];
  if (claim.header === 'legacy' && headers.v2.length > 0) {
    changes.push({ cause: 'v2_changed', evidence: 'The legacy signature holds and the V2 signature does not.' });
  } else if (claim.header === 'legacy' && legacy !== 'accept') {
    changes.push({ cause: 'v2_stripped', evidence: 'The legacy signature holds, and there is no V2 header.' });
  }
  return [...judged('certain', changes), ...judgeBody(bytes, body)];
}

/** What the headers say where no signature holds. */
function suggestedBy(headers: SignatureHeaders, claim: Claim | undefined, legacy: VerifyInput['legacy']): Judged[] {
  const found = judged('likely', [...headers.findings, ...(claim?.findings ?? [])]);
  if (headers.v2.length > 0) {
    if (claim?.header === 'v2') return found;
    return [
      ...found,
      { cause: 'signature_malformed', certainty: 'certain', evidence: 'There is no signature in the V2 header.' },
    ];
  }
  if (headers.legacy.length === 0) {
    return [...found, { cause: 'signature_missing', certainty: 'certain', evidence: 'There is no signature header.' }];
  }
  if (legacy === 'accept') return found;
  return [
    ...found,
    { cause: 'v2_stripped', certainty: 'likely', evidence: 'There is a legacy header and no V2 header.' },
  ];
}

/** Where everything holds and it is refused all the same. */
function restOf(verdict: Explanation['verdict']): Judged {
  if (verdict === 'malformed_signature') {
    const evidence = 'The signature in the header holds, but the header is not of the form that the service sends.';
    return { cause: 'signature_malformed', certainty: 'certain', evidence };
  }
  if (verdict === 'timestamp_too_old') {
    const evidence = 'The legacy signature holds, and the timestamp in the body is older than any retry.';
    return { cause: 'old_delivery', certainty: 'likely', evidence };
  }
  return {
    cause: 'no_event',
    certainty: 'certain',
    evidence: `The signature holds, and the body is refused: ${verdict}.`,
  };
}

const ORDER: readonly Certainty[] = ['certain', 'likely', 'possible'];

/** The surest first, each cause once. */
function inOrder(found: readonly Judged[]): Cause[] {
  const sorted = found.toSorted((a, b) => ORDER.indexOf(a.certainty) - ORDER.indexOf(b.certainty));
  const byCause = new Map(sorted.toReversed().map((one) => [one.cause, one]));
  return sorted
    .filter((one) => byCause.get(one.cause) === one)
    .map(({ cause, certainty, evidence }) => ({ cause, certainty, evidence, fix: FIXES[cause] }));
}
