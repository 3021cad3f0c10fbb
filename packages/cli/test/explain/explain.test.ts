import fc from 'fast-check';
import { sign, type VerifyInput, verify } from 'service-webhooks';
import { signDelivery, tamper } from 'service-webhooks/testing';
import { type Cause, type ExplainInput, explain } from 'service-webhooks-cli/explain';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { anEvent, bodyOf, NOW, now, refusal, SECRET } from '../../../../test/support/deliveries.js';
import { FIXES } from '../../src/explain/causes.js';
import { bodies, type Damage, damages, right } from './damages.js';

const bases = Object.values(bodies).map(right);
const [base, compact] = bases as [(typeof bases)[0], (typeof bases)[0]];

type Changes = Partial<ExplainInput>;

const sureOf = (causes: readonly Cause[]) =>
  causes.filter(({ certainty }) => certainty === 'certain').map(({ cause }) => cause);

/** The explanation of the first base, except for what is changed. Its verdict is that of verify. */
function explained(changes: object = {}) {
  const input = { ...base, now, ...changes } as ExplainInput;
  const explanation = explain(input);
  expectVerdictOfVerify(input, explanation.verdict);
  for (const { cause, fix } of explanation.causes) expect(fix).toBe(FIXES[cause]);
  return explanation;
}
const certain = (changes: object) => sureOf(explained(changes).causes);

function expectVerdictOfVerify({ otherSecrets: _, ...input }: ExplainInput, verdict: string) {
  const code = verdict === 'accepted' ? verdict : refusal(() => verify(input as VerifyInput)).code;
  expect(verdict).toBe(code);
}

describe('explain for each kind of damage', () => {
  const known = new Map<Damage, (ReturnType<typeof explain> & { input: ExplainInput })[]>();

  /** The explanations for every body that the damage changes. */
  function explanationsOf(row: Damage) {
    const inputs = bases.flatMap((delivery) => {
      const changes = row.damage(delivery);
      return changes === undefined ? [] : [{ ...delivery, now, ...changes }];
    });
    const explanations = known.get(row) ?? inputs.map((input) => ({ input, ...explain(input) }));
    known.set(row, explanations);
    return explanations;
  }

  /** Neither a secret, nor a signature, nor a value of the body. */
  function expectNothingSecret(causes: readonly object[], secret: ExplainInput['secret']): void {
    const text = JSON.stringify(causes);
    for (const word of [SECRET, SECRET.slice(6), 'clip_7301', secret]) {
      if (typeof word === 'string' && word !== '') expect(text).not.toContain(word);
    }
    expect(text).not.toMatch(/[0-9a-f]{16}|[\w+/]{32}/i);
  }

  it('there are sixty kinds of damage or more, each with a unique name', () => {
    expect(damages.length).toBeGreaterThanOrEqual(60);
    expect(new Set(damages.map(({ name }) => name)).size).toBe(damages.length);
  });

  it.each(damages)('the cause is named, and no wrong one as certain: $name', (row) => {
    const { cause, also = [] } = row;
    expect(explanationsOf(row)).not.toEqual([]);
    for (const { causes, input, verdict } of explanationsOf(row)) {
      expectVerdictOfVerify(input, verdict);
      expect(verdict).not.toBe('accepted');
      expect(causes.map((one) => one.cause)).toContain(cause);
      expect([cause, ...also]).toEqual(expect.arrayContaining(sureOf(causes)));
      for (const { evidence, fix } of causes) expect([evidence, fix]).toEqual([expect.any(String), expect.any(String)]);
      expectNothingSecret(causes, input.secret);
    }
  });

  it('only damages that leave no trace of the original are uncertain', () => {
    const unsure = damages.filter(
      (row) => !explanationsOf(row).some(({ causes }) => sureOf(causes).includes(row.cause)),
    );
    expect(unsure.map(({ name }) => name)).toEqual([
      'cut off, with no length in the headers',
      'one bit flipped',
      'decoded in chunks',
      'a wrong secret',
      'a clock 412 s ahead',
      'an old delivery',
    ]);
  });

  it.each([
    ['a line feed behind the secret', 'a line feed added'],
    ['a secret in hex', 'parsed, and written again by JSON.stringify'],
    ['the secret of another endpoint', 'still in base64'],
    ['the header twice, joined', 'parsed, and written again by Python'],
    ['milliseconds', 'a secret in quotes'],
    ['a clock 412 s behind', 'decoded as Latin-1'],
    ['V2 stripped', 'a byte order mark added'],
    ['headers of another prefix', 'a clock in seconds'],
  ])('two damages at once are both certain: %s, and %s', (...names) => {
    const [one, two] = names.map((name) => damages.find((damage) => damage.name === name)) as [Damage, Damage];
    const changes = { ...one.damage(base), ...two.damage(base) };
    expect(certain(changes).toSorted()).toEqual([one.cause, two.cause].toSorted());
  });
});

const V2 = 'x-service-signature-v2';
const LEGACY = 'x-service-signature';

/** A body that JSON.stringify has not written, so that this is no cause. */
const BODY = `${bodyOf().replace(',', ', ')}\n`;
const signed = sign({ body: BODY, secret: SECRET, at: NOW });
const [v2 = '', legacy = ''] = [signed[V2], signed[LEGACY]];
const plain = { headers: signed, body: BODY };
const signedX = sign({ body: 'x', secret: SECRET, at: NOW });

describe('explain for a delivery that verifies', () => {
  it.each<[string, object]>([
    ...Object.entries(bodies).map(([name, text]): [string, object] => [name, right(text)]),
    ['of a legacy signature', { ...plain, headers: { [LEGACY]: legacy }, legacy: 'accept' }],
    ['under another prefix, within another tolerance', ownPrefix(9)],
  ])('a verified delivery has no causes: %s', (_, changes) => {
    expect(explained(changes)).toEqual({ verdict: 'accepted', causes: [] });
  });
});

/** Signed under another prefix, and so many seconds after the clock, of which 10 are tolerated. */
function ownPrefix(seconds: number) {
  const headers = sign({ body: BODY, secret: SECRET, at: NOW, headerPrefix: 'x-own' });
  return { headers, body: BODY, headerPrefix: 'x-own', toleranceSeconds: 10, now: () => NOW - seconds * 1000 };
}

describe('the causes that explain gives for a refusal', () => {
  it.each<[cause: string, verdict: string, changes: Changes]>([
    ['newline_stripped', 'signature_mismatch', { body: BODY.trimEnd() }],
    ['newline_added', 'signature_mismatch', { body: `${BODY}\n` }],
    ['body_in_base64', 'signature_mismatch', { body: Buffer.from(BODY).toString('base64') }],
    ['secret_encoding', 'signature_mismatch', { secret: Buffer.from(SECRET).toString('hex') }],
    ['secret_quoted', 'invalid_secret', { secret: `"${SECRET}"` }],
    ['signature_uppercase', 'malformed_signature', { headers: { [V2]: v2.replace(/[a-f]/g, (c) => c.toUpperCase()) } }],
    ['clock_behind', 'timestamp_in_future', { now: () => NOW - 412_000 }],
    ['clock_in_seconds', 'timestamp_in_future', { now: () => NOW / 1000 }],
    ['header_prefix', 'missing_signature', { headers: { 'x-vendor-signature-v2': v2 } }],
    ['header_renamed', 'missing_signature', { headers: { HTTP_X_SERVICE_SIGNATURE_V2: v2 } }],
  ])('%s alone explains the verdict %s', (cause, verdict, changes) => {
    expect(explained({ ...plain, ...changes })).toMatchObject({ verdict, causes: [{ cause, certainty: 'certain' }] });
  });

  const found = (changes: object) =>
    explained({ ...plain, ...changes }).causes.map(
      ({ cause, certainty, evidence }) => `${cause} (${certainty}): ${evidence}`,
    );
  const v2Of = (change: (value: string) => string) => ({ headers: { [V2]: change(v2) } });

  it.each<[what: string, changes: Changes, cause: string]>([
    [
      'a V2 header that is missing',
      { headers: { [LEGACY]: legacy } },
      'v2_stripped (certain): The legacy signature is valid, and there is no V2 header.',
    ],
    [
      'a V2 signature that does not match',
      { headers: { [LEGACY]: legacy, [V2]: `t=${NOW / 1000},v1=${'0'.repeat(64)}` } },
      'v2_changed (certain): The legacy signature is valid and the V2 signature is not.',
    ],
    [
      'an empty V2 header',
      v2Of(() => 'none'),
      'signature_malformed (certain): There is no signature in the V2 header.',
    ],
    ['no signature header', { headers: {} }, 'signature_missing (certain): There is no signature header.'],
    [
      'an empty legacy header',
      { headers: { [LEGACY]: 'none' } },
      'v2_stripped (likely): There is a legacy header and no V2 header.',
    ],
    [
      'an empty legacy header that is accepted',
      { headers: { [LEGACY]: 'none' }, legacy: 'accept' },
      'signature_malformed (certain): The signature is valid, but the header does not have the form that the service sends.',
    ],
    [
      'a valid signature in another form',
      v2Of((value) => value.replace(',v1=', ',')),
      'signature_malformed (certain): The signature is valid, but the header does not have the form that the service sends.',
    ],
    [
      'an old delivery with a legacy signature',
      { headers: { [LEGACY]: legacy }, legacy: 'accept', now: () => NOW + 30 * 86_400_000 },
      'old_delivery (likely): The legacy signature is valid, and the timestamp in the body is older than any retry.',
    ],
    [
      'a signed body that is no event',
      { body: 'pong', headers: sign({ body: 'pong', secret: SECRET, at: NOW }) },
      'no_event (certain): The signature is valid, and the body is refused: invalid_json.',
    ],
    ['no body', { body: undefined }, 'body_missing (certain): There is none.'],
    [
      'the secret of another endpoint',
      { secret: 'another', otherSecrets: { staging: 'c', production: SECRET } },
      'secret_of_other_endpoint (certain): The signature matches with the secret of production.',
    ],
    [
      'a time beyond the given tolerance',
      ownPrefix(11),
      'clock_behind (certain): It was signed 11 s after the time of this clock.',
    ],
  ])('one cause with its evidence explains %s', (_, changes, cause) => {
    expect(found(changes)).toEqual([cause]);
  });

  it('several causes are sorted, the most certain first', () => {
    const headers = { [V2]: v2.replace(',', ', ') };
    expect(found({ headers, body: `${BODY}\n`, secret: `${SECRET}\n`, now: () => NOW + 412_000 })).toEqual([
      'secret_white_space (certain): There is white space around it.',
      expect.stringMatching(/^signature_rewritten \(certain\): .*white space, quotes/),
      'newline_added (certain): The signature matches with the body without the line feed at its end.',
      'clock_ahead (likely): It was signed 412 s before the time of this clock.',
      'old_delivery (possible): It was signed 412 s before the time of this clock.',
    ]);
  });

  it('with a wrong secret every cause is only possible, the time as well', () => {
    expect(found({ secret: 'another', now: () => NOW - 412_000 })).toEqual([
      'secret_wrong (possible): The signature matches no other form of the body.',
      'body_changed (possible): The signature matches no other form of the body.',
      'clock_behind (possible): It was signed 412 s after the time of this clock.',
    ]);
  });

  const parsed = { headers: sign({ body: bodyOf(), secret: SECRET, at: NOW }), body: anEvent() };
  const written = compact.body.toString().trimEnd();
  const legacyAlone = { headers: { [LEGACY]: legacy }, legacy: 'accept' };
  const { method: _, ...forged } = tamper.wrongSecret(signDelivery({ body: bodyOf(), secret: SECRET, at: NOW }));
  it.each<[what: string, changes: object, causes: string]>([
    ['an empty V2 header, and legacy', { ...legacyAlone, headers: { [LEGACY]: legacy, [V2]: 'none' } }, 'v2_changed'],
    ['a changed body, and legacy', { ...legacyAlone, body: `${BODY}\n` }, 'newline_added'],
    ['a body changed in two ways', { body: `\ufeff${BODY}\n` }, 'byte_order_mark newline_added'],
    ['a body in base64', { ...compact, body: Buffer.from(written).toString('base64') }, 'body_in_base64'],
    ['an old delivery', { now: () => NOW + 7_200_000, secret: `${SECRET} ` }, 'secret_white_space'],
    ['a delivery that a stranger signed', forged, ''],
    ['several secrets', { secret: ['another', `${SECRET}\n`] }, 'secret_white_space'],
    ['a secret in bytes', { secret: Buffer.from(`${SECRET}\n`) }, 'secret_white_space'],
    ['an empty list of secrets', { secret: [] }, 'secret_missing'],
    ['a parsed body', parsed, 'body_parsed'],
    ['a parsed body and a quoted secret', { ...parsed, secret: `'${SECRET}'` }, 'secret_quoted body_parsed'],
  ])('nothing else is certain about %s', (_, changes, causes) => {
    expect(certain({ ...plain, ...changes }).join(' ')).toBe(causes);
  });

  const declared = (length: number) => ({ ...base.headers, 'content-length': `${length}` });
  const another = { ...base, secret: 'another' };
  const more = JSON.stringify({ ...JSON.parse(base.body.toString()), more: 1 });
  const indented = JSON.stringify(JSON.parse(bodyOf()), null, 2);
  const spaced = { ...right(indented), body: `\ufeff ${indented.replaceAll('\n', '\r\n')}\n` };
  const renamed = { HTTP_X_SERVICE_SIGNATURE_V2: signedX[V2]?.replace(',', ', ') };
  const length7 = { ...signedX, 'content-length': '7' };
  it.each<[what: string, changes: object, causes: string]>([
    ['a wrong secret', another, 'secret_wrong possible'],
    [
      'a wrong secret and a body of the declared length',
      { ...another, headers: declared(base.body.length) },
      'secret_wrong likely',
    ],
    ['a body of another length', { body: 'y', headers: length7 }, 'body_incomplete certain, secret_wrong possible'],
    [
      'compact JSON of another length',
      { body: more, headers: declared(base.body.length) },
      'body_reserialised likely, body_changed likely',
    ],
    [
      'compact JSON without its line feed',
      { ...compact, body: written },
      'newline_stripped likely, body_reserialised likely',
    ],
    ['white space around indented JSON', spaced, 'white_space_changed likely, body_reserialised likely'],
    [
      'rewritten headers and a wrong secret',
      { body: 'x', headers: renamed, secret: 'another' },
      'header_renamed likely, signature_rewritten likely',
    ],
    ['a clock two hours ahead', { now: () => NOW + 7_200_000 }, 'clock_ahead likely, old_delivery possible'],
  ])('the certainty of the causes fits %s', (_, changes, causes) => {
    const judged = explained({ ...plain, ...changes }).causes.map(({ cause, certainty }) => `${cause} ${certainty}`);
    expect(judged.join(', ')).toMatch(new RegExp(`^${causes}`));
  });
});

describe('the input of explain', () => {
  const joined = { 'X-Service-Signature-V2': `${base.headers[V2]}, t=1,v1=0` };

  it.each<[string, ExplainInput['headers']]>([
    ['an object', joined],
    ['a Headers', new Headers(joined)],
    ['pairs', Object.entries(joined)],
    ['pairs that can be walked once', Object.entries(joined).values()],
  ])('headers are read from %s', (_, headers) => {
    expect(sureOf(explain({ ...base, now, headers }).causes)).toEqual(['headers_joined']);
  });

  it('a parsed body that JSON cannot hold is named as parsed', () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    for (const body of [circular, { n: 1n }, () => {}, Symbol('body'), 7])
      expect(certain({ body })).toEqual(['body_parsed']);
  });

  it.each<[string, string, () => unknown]>([
    ['nothing', 'input', () => explain(undefined as never)],
    ['no headers', 'headers', () => explained({ headers: undefined })],
    ['a clock that is a number', 'now', () => explained({ now: NOW })],
    ['a prefix with a space', 'headerPrefix', () => explained({ headerPrefix: 'x service' })],
    ['a tolerance of 0', 'toleranceSeconds', () => explained({ toleranceSeconds: 0 })],
  ])('a call with %s is refused, and the message names %s', (_, name, call) => {
    expect(refusal(call)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(name) });
  });

  it('the clock is read once', () => {
    const clock = vi.fn(now);
    expect(explain({ ...plain, secret: SECRET, now: clock }).verdict).toBe('accepted');
    expect(clock).toHaveBeenCalledTimes(1);
  });

  it('the clock of the machine is used where now is not passed', () => {
    expect(explain({ ...plain, secret: SECRET }).causes[0]?.cause).toMatch(/old_delivery|clock/);
    const headers = sign({ body: BODY, secret: SECRET });
    expect(explain({ headers, body: `${BODY}\n`, secret: SECRET })).toMatchObject({
      verdict: 'signature_mismatch',
      causes: [{ cause: 'newline_added', certainty: 'certain' }],
    });
  });

  it('any input is explained without an exception', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('t=1', ',v1=', 'sha256=', '0'.repeat(64), '%3D', '"'),
    );
    const value = fc.array(noise, { maxLength: 5 }).map((parts) => parts.join(''));
    const headers = fc.dictionary(fc.constantFrom(V2, LEGACY, 'HTTP_A', 'content-length'), value);
    const body = fc.oneof(fc.uint8Array(), fc.json(), fc.jsonValue(), fc.anything());
    fc.assert(
      fc.property(headers, body, value, (headers, body, secret) => {
        const { verdict, causes } = explain({ headers, body, secret, now });
        expect(verdict === 'accepted').toBe(causes.length === 0);
      }),
      { numRuns: 50 },
    );
  });

  it.each<[string, Buffer]>([
    ['deeply nested JSON', Buffer.from('['.repeat(5000) + ']'.repeat(5000))],
    ['100,000 spaces', Buffer.from(`${' '.repeat(100_000)}x`)],
    ['half of an escape', Buffer.from(`"${'\\'.repeat(100_001)}"`)],
  ])('the search ends for a hostile body: %s', (_, body) => {
    expect(explained({ body }).verdict).toBe('signature_mismatch');
  });

  it('explain throws sync_crypto_unavailable in a runtime without node:crypto', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    vi.resetModules();
    onTestFinished(() => void vi.resetModules());
    const web = await import('service-webhooks-cli/explain');
    expect(refusal(() => web.explain({ ...plain, secret: SECRET, now })).code).toBe('sync_crypto_unavailable');
  });
});
