import fc from 'fast-check';
import { type VerifyInput, verify } from 'service-webhooks';
import { signDelivery, tamper } from 'service-webhooks/testing';
import { type Cause, type ExplainInput, explain } from 'service-webhooks-cli/explain';
import { describe, expect, it } from 'vitest';
import { bodyOf, NOW, now, refusal, SECRET } from '../../../../test/support/deliveries.js';
import { bodies, type Damage, damages, right } from './damages.js';

const bases = Object.values(bodies).map(right);
const [base] = bases as [(typeof bases)[0]];
const given = (changes: object = {}) => explain({ ...base, now, ...changes } as ExplainInput);
const certain = (changes: object) => sureOf(given(changes).causes);

describe('a delivery that is right', () => {
  it.each(Object.keys(bodies))('a delivery that is right has nothing to explain: %s', (name) => {
    expect(explain({ ...right(bodies[name] as string), now })).toEqual({ verdict: 'accepted', causes: [] });
  });
});

describe('the table of damages', () => {
  const known = new Map<Damage, (ReturnType<typeof explain> & { input: ExplainInput })[]>();

  /** Of every body that the damage changes. */
  function explained(row: Damage) {
    const inputs = bases.flatMap((delivery) => {
      const changes = row.damage(delivery);
      return changes === undefined ? [] : [{ ...delivery, now, ...changes }];
    });
    const explanations = known.get(row) ?? inputs.map((input) => ({ input, ...explain(input) }));
    known.set(row, explanations);
    return explanations;
  }

  it('the table of damages has many kinds, each with a name of its own', () => {
    expect(damages.length).toBeGreaterThanOrEqual(60);
    expect(new Set(damages.map(({ name }) => name)).size).toBe(damages.length);
  });

  it.each(damages)('$name: the cause is named, and no wrong one as certain', (row) => {
    const { cause, also = [] } = row;
    expect(explained(row)).not.toEqual([]);
    for (const { causes, input } of explained(row)) {
      expect(causes.map((one) => one.cause)).toContain(cause);
      expect([cause, ...also]).toEqual(expect.arrayContaining(sureOf(causes)));
      for (const { evidence, fix } of causes) expect([evidence, fix]).toEqual([expect.any(String), expect.any(String)]);
      expectNothingSecret(causes, input.secret);
    }
  });

  it.each(damages)('$name: the verdict is that of verify', (row) => {
    for (const { input, verdict } of explained(row)) {
      const { otherSecrets, ...verified } = input;
      expect(refusal(() => verify(verified as VerifyInput)).code).toBe(verdict);
    }
  });

  it('the table of damages has few kinds of which it is not certain, those that leave no trace of how it was', () => {
    const unsure = damages.filter((row) => !explained(row).some(({ causes }) => sureOf(causes).includes(row.cause)));
    expect(unsure.map(({ name }) => name)).toEqual([
      'cut off',
      'cut off, with no length in the headers',
      'one bit flipped',
      'decoded in chunks',
      'a wrong secret',
      'a clock 412 s ahead',
      'an old delivery',
    ]);
  });
});

const sureOf = (causes: readonly Cause[]) =>
  causes.filter(({ certainty }) => certainty === 'certain').map(({ cause }) => cause);

/** Neither what it is verified with nor a signature nor a value of the body. */
function expectNothingSecret(causes: readonly object[], secret: ExplainInput['secret']): void {
  const text = JSON.stringify(causes);
  for (const word of [SECRET, SECRET.slice(6), 'clip_7301', secret]) {
    if (typeof word === 'string' && word !== '') expect(text).not.toContain(word);
  }
  expect(text).not.toMatch(/[0-9a-f]{16}|[\w+/]{32}/i);
}

describe('two damages at once', () => {
  const named = (name: string) => damages.find((damage) => damage.name === name) as Damage;

  it.each([
    ['a line feed behind the secret', 'a line feed added'],
    ['a secret in hex', 'parsed, and written again by JSON.stringify'],
    ['the secret of another endpoint', 'still in base64'],
    ['the header twice, joined', 'parsed, and written again by Python'],
    ['milliseconds', 'a secret in quotes'],
    ['a clock 412 s behind', 'decoded as Latin-1'],
    ['V2 stripped', 'a byte order mark added'],
    ['headers of another prefix', 'a clock in seconds'],
  ])('two damages at once are both named, as certain: %s, and %s', (first, second) => {
    const [one, two] = [named(first), named(second)];
    const changes = { ...one.damage(base), ...two.damage(base) };
    expect(certain(changes).toSorted()).toEqual([one.cause, two.cause].toSorted());
  });

  it('two damages at once are mended one after the other where a body was changed in two ways', () => {
    const body = `\ufeff${base.body}\n`;
    expect(certain({ body }).toSorted()).toEqual(['byte_order_mark', 'newline_added']);
  });
});

describe('how sure it is', () => {
  it('how sure it is is not sure of a secret where nothing is known of the body, and surer where the length is as declared', () => {
    const wrong = (headers: object) => given({ secret: 'another', headers: { ...base.headers, ...headers } }).causes;
    expect(wrong({})[0]).toMatchObject({ cause: 'secret_wrong', certainty: 'possible' });
    expect(wrong({ 'content-length': `${base.body.length}` })[0]).toMatchObject({ certainty: 'likely' });
  });

  it('how sure it is takes a body of another length than declared for changed, and one that JSON.stringify may have written', () => {
    const body = JSON.stringify({ ...JSON.parse(base.body.toString()), more: 1 });
    const headers = { ...base.headers, 'content-length': `${base.body.length}` };
    expect(given({ body, headers }).causes.slice(0, 2)).toMatchObject([
      { cause: 'body_reserialised', certainty: 'likely' },
      { cause: 'body_changed', certainty: 'likely' },
    ]);
  });

  it('how sure it is is not sure whether a line feed was taken off or the body written again, where both give the same bytes', () => {
    const [, compact] = bases as [unknown, typeof base];
    const { causes } = given({ ...compact, body: compact.body.toString().trimEnd() });
    expect(causes).toMatchObject([
      { cause: 'newline_stripped', certainty: 'likely' },
      { cause: 'body_reserialised', certainty: 'likely' },
    ]);
    const again = Buffer.from(JSON.stringify(JSON.parse(compact.body.toString())));
    expect(certain({ ...compact, body: again.toString('base64') })).toEqual(['body_in_base64']);
  });

  it('how sure it is is not sure whether white space was changed or the body written again, where both give the same bytes', () => {
    const text = JSON.stringify(JSON.parse(bodyOf()), null, 2);
    const body = `\ufeff ${text.replaceAll('\n', '\r\n')}\n`;
    const { headers } = signDelivery({ body: text, secret: SECRET, at: NOW });
    expect(given({ headers, body }).causes).toMatchObject([
      { cause: 'white_space_changed', certainty: 'likely' },
      { cause: 'body_reserialised', certainty: 'likely' },
    ]);
  });

  it('how sure it is does not know whether a clock is ahead or a delivery old, and says how far they are apart', () => {
    const { verdict, causes } = given({ now: () => NOW + 7_200_000 });
    expect(verdict).toBe('timestamp_too_old');
    expect(causes).toMatchObject([
      {
        cause: 'clock_ahead',
        certainty: 'likely',
        evidence: expect.stringContaining('7200 s (2 h: a clock set in another'),
      },
      { cause: 'old_delivery', certainty: 'possible' },
    ]);
  });

  it('how sure it is finds out what stands behind the time: an old delivery with another secret', () => {
    expect(certain({ now: () => NOW + 7_200_000, secret: `${SECRET} ` })).toEqual(['secret_white_space']);
  });

  it('how sure it is names nothing as certain where a stranger signed', () => {
    const { headers, body } = tamper.wrongSecret(signDelivery({ body: bodyOf(), secret: SECRET, at: NOW }));
    expect(certain({ headers, body })).toEqual([]);
  });
});

describe('what it is given', () => {
  const joined = { 'X-Service-Signature-V2': `${base.headers['x-service-signature-v2']}, t=1,v1=0` };

  it.each<[string, ExplainInput['headers']]>([
    ['an object', joined],
    ['a Headers', new Headers(joined)],
    ['pairs', Object.entries(joined)],
    ['pairs that can be walked once', Object.entries(joined).values()],
  ])('what it is given may have its headers as %s', (_, headers) => {
    expect(certain({ headers })).toEqual(['headers_joined']);
  });

  it('what it is given may have several secrets, and secrets as bytes', () => {
    expect(certain({ secret: ['another', `${SECRET}\n`] })).toEqual(['secret_white_space']);
    expect(certain({ secret: Buffer.from(`${SECRET}\n`) })).toEqual(['secret_white_space']);
    expect(certain({ secret: [] })).toEqual(['secret_missing']);
  });

  it('what it is given may have a legacy signature that is accepted', () => {
    const { headers, body } = signDelivery({ body: bodyOf(), secret: SECRET, at: NOW, scheme: 'legacy' });
    expect(given({ headers, body, legacy: 'accept' }).verdict).toBe('accepted');
    expect(certain({ headers, body: `${body}\n`, legacy: 'accept' })).not.toContain('v2_stripped');
    const late = given({ headers, body, legacy: 'accept', now: () => NOW + 86_400_000 });
    expect(late).toMatchObject({
      verdict: 'timestamp_too_old',
      causes: [{ cause: 'old_delivery', certainty: 'likely' }],
    });
  });

  it('what it is given is explained by the clock of now where it names none', () => {
    const { headers, body } = signDelivery({ body: bodyOf(), secret: SECRET });
    expect(explain({ headers, body: `${Buffer.from(body)}\n`, secret: SECRET })).toMatchObject({
      verdict: 'signature_mismatch',
      causes: [{ cause: 'newline_added', certainty: 'certain' }],
    });
  });

  it('what it is given may be a parsed body that is no JSON any more', () => {
    const circular: { self?: object } = {};
    circular.self = circular;
    for (const body of [circular, { n: 1n }, () => {}, Symbol('body'), 7])
      expect(certain({ body })).toEqual(['body_parsed']);
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => explain(undefined as never)],
    ['no headers', () => given({ headers: undefined })],
    ['a clock that is none', () => given({ now: NOW })],
    ['a prefix that is none', () => given({ headerPrefix: 'x service' })],
    ['a tolerance that is none', () => given({ toleranceSeconds: 0 })],
  ])('what it is given has to be right as a call: %s is refused', (_, call) => {
    expect(refusal(call).code).toBe('invalid_option');
  });
});

describe('whatever comes', () => {
  it('it is explained: nothing is thrown', () => {
    const noise = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('t=1', ',v1=', 'sha256=', '0'.repeat(64), '%3D', '"'),
    );
    const value = fc.array(noise, { maxLength: 5 }).map((parts) => parts.join(''));
    const headers = fc.dictionary(
      fc.constantFrom('x-service-signature-v2', 'x-service-signature', 'HTTP_A', 'content-length'),
      value,
    );
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
    ['nested deeply', Buffer.from('['.repeat(5000) + ']'.repeat(5000))],
    ['white space without end', Buffer.from(`${' '.repeat(100_000)}x`)],
    ['half of an escape', Buffer.from(`"${'\\'.repeat(100_001)}"`)],
  ])('a hostile body ends the search: %s', (_, body) => {
    expect(given({ body }).verdict).toBe('signature_mismatch');
  });
});
