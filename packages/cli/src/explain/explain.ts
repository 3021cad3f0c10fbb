import {
  type HeaderSource,
  isWebhookError,
  type Secret,
  type VerifyInput,
  verify,
  type WebhookErrorCode,
} from 'service-webhooks';
import { check, checkFunction, checkKnownOptions, checkObject } from 'service-webhooks/option-checks';
import { type CauseName, type Certainty, FIXES, type Judged, judged } from './causes.js';
import { type Claim, claimsIn } from './claims.js';
import { createBudget, type Effort, FULL_EFFORT } from './effort.js';
import { findMatch, type Match } from './find-match.js';
import { bodyForms, secretForms } from './forms.js';
import { judgeBody, likelyCauses } from './likely-causes.js';
import { readSignatureHeaders, type SignatureHeaders } from './signature-headers.js';
import { timeFindings } from './time-findings.js';

/** The input of {@link explain}: a delivery as it was passed to `verify`. */
export interface ExplainInput extends Omit<VerifyInput, 'body' | 'secret'> {
  /** The body that was verified: bytes, text, or the value that a parser has left. */
  body: unknown;
  /** The secret that it was verified with; undefined where, for example, an environment variable is not set. */
  secret: Secret | readonly Secret[] | undefined;
  /** Further secrets that may have signed the delivery, such as those of other endpoints, by the names to show. */
  otherSecrets?: Readonly<Record<string, Secret>> | undefined;
}

/** One reason why a delivery does not verify. */
export interface Cause {
  cause: CauseName;
  certainty: Certainty;
  /** The observation that supports the cause. */
  evidence: string;
  /** What to do about it. */
  fix: string;
}

/** The reasons why a delivery does not verify. It contains no secret, no signature and no piece of the body. */
export interface Explanation {
  /** The code with which `verify` refuses the delivery. */
  verdict: 'accepted' | WebhookErrorCode;
  /** The causes, the most certain first; empty for a delivery that is accepted. */
  causes: readonly Cause[];
}

/**
 * Explains why a delivery does not verify. It tries the secret, the body and the headers in every form that they may
 * have had before a mistake changed them. Where a form verifies, the change to it is the cause.
 *
 * It takes milliseconds for a usual body and several seconds at most, so it is for people and their logs. A receiver
 * should not call it on requests that anyone may send.
 *
 * @throws WebhookError `invalid_option` for invalid options; `sync_crypto_unavailable` where the runtime has no
 *   node:crypto
 * @example
 * const { verdict, causes } = explain({ headers, body, secret });
 * for (const { cause, certainty, evidence, fix } of causes) console.log(`${cause} (${certainty}): ${evidence} ${fix}`);
 */
export function explain(input: ExplainInput): Explanation {
  return explainWithin(FULL_EFFORT, input);
}

/** An object, so that the compiler misses an option that is not in it. */
const OPTIONS: Readonly<Record<keyof ExplainInput, true>> = {
  headers: true,
  body: true,
  secret: true,
  otherSecrets: true,
  headerPrefix: true,
  legacy: true,
  legacyMaxAgeSeconds: true,
  toleranceSeconds: true,
  now: true,
};

/** {@link explain} with other limits: a search that reaches a limit explains with the forms that it has tried. */
export function explainWithin(effort: Effort, input: ExplainInput): Explanation {
  checkObject('input', input);
  checkKnownOptions('explain', input, Object.keys(OPTIONS));
  checkFunction('now', input.now);
  const instant = (input.now ?? Date.now)();
  const { otherSecrets, ...verified } = { ...input, headers: readHeaders(input.headers), now: () => instant };
  const verdict = verdictOf(verified as VerifyInput);
  if (verdict === 'accepted') return { verdict, causes: [] };

  const headers = readSignatureHeaders(verified.headers, input.headerPrefix);
  const claims = claimsIn(headers);
  const {
    bytes,
    bodies,
    findings: ofBody,
  } = bodyForms(input.body, {
    contentEncoding: headers.contentEncoding,
    maxDecompressedBytes: effort.maxDecompressedBytes,
  });
  const { secrets, findings: ofSecret } = secretForms(input.secret, otherSecrets);
  const { match, complete } = findMatch(claims, secrets, bodies, createBudget(effort));
  const [claim] = match ? [match.claim] : claims;
  const found = [
    ...ofSecret,
    ...ofBody,
    ...(match ? shownBy(match, headers, input.legacy, bytes) : suggestedBy(headers, claim, input.legacy)),
    ...(match || claims.length === 0 || bytes === undefined ? [] : likelyCauses(bytes, headers, complete)),
    ...timeFindings(claim?.t, { now: instant, toleranceSeconds: input.toleranceSeconds, shown: !!match }),
  ];
  return { verdict, causes: inOrder(found.length > 0 ? found : [restOf(verdict)]) };
}

/** Returns headers that can be read repeatedly: an iterator can be walked only once. */
function readHeaders(headers: HeaderSource): HeaderSource {
  checkObject('headers', headers);
  if (!(Symbol.iterator in headers)) return headers;
  const pairs = [...(headers as Iterable<readonly [string, string]>)];
  check(pairs.every(Array.isArray), 'headers must be pairs of name and value');
  return pairs;
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

/** Returns the findings from the difference between the received form and the form whose signature is valid. */
function shownBy(
  { claim, secret, body }: Match,
  headers: SignatureHeaders,
  legacy: VerifyInput['legacy'],
  bytes: Uint8Array | undefined,
): Judged[] {
  const changes = [...headers.findings, ...claim.findings, ...secret.findings];
  if (claim.header === 'legacy' && headers.v2.length > 0) {
    changes.push({ cause: 'v2_changed', evidence: 'The legacy signature is valid and the V2 signature is not.' });
  } else if (claim.header === 'legacy' && legacy !== 'accept') {
    changes.push({ cause: 'v2_stripped', evidence: 'The legacy signature is valid, and there is no V2 header.' });
  }
  return [...judged('certain', changes), ...judgeBody(bytes, body)];
}

/** Returns the findings from the headers where no signature matches. */
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

/** Returns the findings where the signature is valid and the delivery is refused. */
function restOf(verdict: Explanation['verdict']): Judged {
  if (verdict === 'invalid_secret') {
    const evidence =
      'The signature is valid, and verify refuses this secret for an invisible character at one of its ends.';
    return { cause: 'secret_white_space', certainty: 'certain', evidence };
  }
  if (verdict === 'malformed_signature') {
    const evidence = 'The signature is valid, but the header does not have the form that the service sends.';
    return { cause: 'signature_malformed', certainty: 'certain', evidence };
  }
  if (verdict === 'timestamp_too_old') {
    const evidence = 'The legacy signature is valid, and the timestamp in the body is older than any retry.';
    return { cause: 'old_delivery', certainty: 'likely', evidence };
  }
  return {
    cause: 'no_event',
    certainty: 'certain',
    evidence: `The signature is valid, and the body is refused: ${verdict}.`,
  };
}

const ORDER: readonly Certainty[] = ['certain', 'likely', 'possible'];

/** Returns the causes, the most certain first, each once. */
function inOrder(found: readonly Judged[]): Cause[] {
  const sorted = found.toSorted((a, b) => ORDER.indexOf(a.certainty) - ORDER.indexOf(b.certainty));
  const byCause = new Map(sorted.toReversed().map((one) => [one.cause, one]));
  return sorted
    .filter((one) => byCause.get(one.cause) === one)
    .map(({ cause, certainty, evidence }) => ({ cause, certainty, evidence, fix: FIXES[cause] }));
}
