import {
  createReceiver,
  isWebhookError,
  type Secret,
  type VerifyInput,
  verify,
  verifyAsync,
  verifySignature,
} from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { readJson } from './support/fixtures.js';

/** A fact from another project's public test suite, put into the form of this service's headers. */
interface Fact {
  suite: string;
  id: string;
  /** Which header the value belongs in. */
  form: 'v2' | 'legacy';
  header: string | string[] | null;
  bodyBase64: string | null;
  secretsBase64: string[];
  /** Unix seconds. */
  now: number;
  toleranceSeconds: number;
  /** What it is about: the signature alone, the JSON behind it as well, or the secret. */
  level: 'signature' | 'json' | 'config';
  expect: boolean;
}

const TOLERANCE_OFF = 'their tolerance can be switched off; here it is always a number of seconds, if a great one';
const SECRETS_ARE_THE_SERVICES = 'their receiver chooses the secret and demands a strong one; here the service does';
const OTHER_ENVELOPE = 'signature and JSON hold, but it is the envelope of another service';
const DUPLICATE_KEYS = 'refused as no envelope; duplicate keys alone are accepted here, as JSON.parse takes the last';

/** Where our policy is another one: what comes out here, and why. */
const OTHERWISE: Record<string, [verdict: string, reason: string]> = {
  'stripe-node: t=12345, no tolerance': ['timestamp_too_old', TOLERANCE_OFF],
  'stripe-go: t=12345 ignoring tolerance': ['timestamp_too_old', TOLERANCE_OFF],
  'stripe-python: t=12345 no tolerance': ['timestamp_too_old', TOLERANCE_OFF],
  'adcp-secret: secret exactly 31 bytes (one below the minimum)': ['accepted', SECRETS_ARE_THE_SERVICES],
  'adcp-secret: secret is all-zero bytes (no entropy)': ['accepted', SECRETS_ARE_THE_SERVICES],
  'adcp-secret: secret repeats a single ASCII character': ['accepted', SECRETS_ARE_THE_SERVICES],
  'adnanh: bare hex': ['malformed_signature', 'the service always sends the prefix; a second spelling is refused'],
  'adnanh: list bad,good': ['malformed_signature', 'the legacy header holds one value; only V2 has a list'],
  'adcp-dupkeys: signer-upstream-clean-input': ['invalid_envelope', OTHER_ENVELOPE],
  'adcp: duplicate-keys-conflicting-values': ['invalid_envelope', DUPLICATE_KEYS],
  'adcp-dupkeys: signer-upstream-duplicate-key-rejection': ['invalid_envelope', DUPLICATE_KEYS],
  'adcp-dupkeys: signer-upstream-duplicate-key-deep-nested': ['invalid_envelope', DUPLICATE_KEYS],
  'adcp-dupkeys: signer-upstream-duplicate-key-array-contained': ['invalid_envelope', DUPLICATE_KEYS],
  'adcp-dupkeys: signer-upstream-duplicate-key-three-deep': ['invalid_envelope', DUPLICATE_KEYS],
};

/** Suites whose keys are bytes; everywhere else a secret is text. */
const KEYS_ARE_BYTES = ['wycheproof-256', 'wycheproof-128-truncated', 'rfc4231'];

const facts = readJson<Fact[]>('third-party.json').map((fact) => ({ ...fact, name: `${fact.suite}: ${fact.id}` }));
const agreeing = facts.filter(({ name }) => !(name in OTHERWISE));
const differing = facts.filter(({ name }) => name in OTHERWISE);

function inputOf({ suite, form, header, bodyBase64, secretsBase64, now, toleranceSeconds }: Fact) {
  const secret = secretsBase64.map((base64): Secret => {
    const bytes = Buffer.from(base64, 'base64');
    return KEYS_ARE_BYTES.includes(suite) ? bytes : bytes.toString('utf8');
  });
  const name = form === 'v2' ? 'x-service-signature-v2' : 'x-service-signature';
  return {
    headers: header === null ? {} : { [name]: header },
    // Some suites ask what happens without any body; types alone do not keep that away.
    body: bodyBase64 === null ? (null as unknown as string) : Buffer.from(bodyBase64, 'base64'),
    secret,
    now: () => now * 1000,
    toleranceSeconds,
    legacy: 'accept' as const,
  } as VerifyInput;
}

/** `'accepted'`, or the code it is refused with. */
function verdict(fact: Fact): string {
  const { level } = fact;
  const input = inputOf(fact);
  try {
    if (level === 'config') createReceiver({ secret: input.secret });
    if (level === 'json') verify(input);
    else verifySignature(input);
    return 'accepted';
  } catch (error) {
    return codeOf(error);
  }
}

function codeOf(error: unknown): string {
  if (!isWebhookError(error)) throw error;
  return error.code;
}

describe("the cases of other libraries' test suites", () => {
  it('there are 322 with different names', () => {
    expect(new Set(facts.map(({ name }) => name)).size).toBe(322);
    expect(facts).toHaveLength(322);
  });

  it.each(agreeing.filter((fact) => fact.expect))('verify accepts the case $name, as its own suite does', (fact) => {
    expect(verdict(fact)).toBe('accepted');
  });

  it.each(agreeing.filter((fact) => !fact.expect))('verify refuses the case $name, as its own suite does', (fact) => {
    expect(verdict(fact)).not.toBe('accepted');
  });

  it('verifyAsync on WebCrypto agrees with verify about every case', async () => {
    const both = await Promise.all(
      facts.map(async (fact) => {
        const found = await verifyAsync(inputOf(fact)).then(() => 'accepted', codeOf);
        return [fact.name, found, verdict({ ...fact, level: 'json' })];
      }),
    );
    expect(both.filter(([, found, expected]) => found !== expected)).toEqual([]);
  });

  it('the cases that this library decides otherwise are those listed', () => {
    expect(differing.map(({ name }) => name).sort()).toEqual(Object.keys(OTHERWISE).sort());
  });

  it.each(differing)('this library decides the case $name in its own, listed way', (fact) => {
    expect(verdict(fact)).toBe(OTHERWISE[fact.name]?.[0]);
  });

  it('a case with the time check turned off is accepted here with a large tolerance', () => {
    const withoutTolerance = differing.filter(({ name }) => OTHERWISE[name]?.[1] === TOLERANCE_OFF);
    expect(withoutTolerance).toHaveLength(3);
    for (const fact of withoutTolerance) {
      expect(verdict({ ...fact, toleranceSeconds: 2_000_000_000 })).toBe('accepted');
    }
  });

  it('a case that is refused here only for its envelope has a valid signature', () => {
    const noEnvelope = differing.filter(({ name }) => OTHERWISE[name]?.[0] === 'invalid_envelope');
    for (const fact of noEnvelope) {
      expect(verdict({ ...fact, level: 'signature' })).toBe('accepted');
    }
  });
});
