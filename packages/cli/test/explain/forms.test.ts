import { describe, expect, it } from 'vitest';
import { bodyForms, secretForms } from '../../src/explain/forms.js';

const MISSING = { cause: 'secret_missing', certainty: 'certain', evidence: 'It is empty, blank or not there.' };
const SPACE = { cause: 'secret_white_space', certainty: 'certain', evidence: 'There is white space around it.' };

const QUOTED = { cause: 'secret_quoted', certainty: 'certain', evidence: 'There are quotes around it.' };

const secrets = (...given: Parameters<typeof secretForms>) => {
  const { secrets, findings } = secretForms(...given);
  return {
    secrets: secrets.map(({ bytes, findings }) => [
      Buffer.from(bytes).toString(),
      ...findings.map(({ cause }) => cause),
    ]),
    findings,
  };
};

describe('the secrets that explain tries', () => {
  it('secrets are tried unchanged, then those of other endpoints, then in every form', () => {
    const { secrets: all, findings } = secrets(['a', Buffer.from('b')], { staging: 'c', production: Buffer.from('d') });
    expect(all.slice(0, 4)).toEqual([
      ['a'],
      ['b'],
      ['c', 'secret_of_other_endpoint'],
      ['d', 'secret_of_other_endpoint'],
    ]);
    expect(all.slice(4).every(([, cause]) => cause !== undefined && cause !== 'secret_of_other_endpoint')).toBe(true);
    expect(all).toContainEqual(['whsec_b', 'secret_prefix']);
    expect(findings).toEqual([]);
  });

  it('the evidence names the endpoint whose secret matches', () => {
    const found = secretForms('a', { staging: 'c' }).secrets[1]?.findings;
    expect(found?.map(({ evidence }) => evidence)).toEqual(['The signature matches with the secret of staging.']);
  });

  it.each([
    ['nothing', undefined],
    ['an empty one', ''],
    ['a blank one', ' \n'],
    ['no bytes', new Uint8Array()],
    ['zero bytes', new Uint8Array(8)],
    ['the text undefined', 'undefined'],
    ['the text null', 'null'],
    ['none in a list', []],
    ['what is no secret', 7 as never],
  ])('a secret that is %s counts as missing', (_, given) => {
    expect(secrets(given)).toEqual({ secrets: [], findings: [MISSING] });
    expect(secrets('a', { other: given as never }).secrets.map(([, cause]) => cause)).not.toContain(
      'secret_of_other_endpoint',
    );
  });

  it('an empty secret in a list is a finding', () => {
    const { secrets: all, findings } = secrets(['', 'a']);
    expect([all[0], findings]).toEqual([['a'], [MISSING]]);
  });

  it.each([' a', 'a\n', ['b', 'a '], Buffer.from(' a ')])('white space around a secret is a finding: %j', (given) => {
    expect(secrets(given).findings).toEqual([SPACE]);
  });

  it.each(['a b', 'a"b"', Buffer.from([0x80, 0x20])])(
    'a space or a quote inside a secret is no finding: %o',
    (given) => {
      expect(secrets(given).findings.filter(({ cause }) => cause === 'secret_quoted')).toEqual([]);
    },
  );

  it.each(['"a"', "'a'\n", Buffer.from('`a`')])('quotes around a secret are a finding: %o', (given) => {
    expect(secrets(given).findings).toContainEqual(QUOTED);
  });
});

describe('the bodies that explain tries', () => {
  const body = (given: unknown, contentEncoding?: string) => {
    const { bytes, bodies, findings } = bodyForms(given, { contentEncoding });
    return { bytes, findings, bodies: [...bodies()].map((one) => [Buffer.from(one.bytes).toString(), one.findings]) };
  };

  const bytesOfJson = new TextEncoder().encode('{"a":1}');
  it.each(['{"a":1}', Buffer.from('{"a":1}'), bytesOfJson.buffer, new DataView(bytesOfJson.buffer)])(
    'a body of bytes or text is tried in all its forms: %o',
    (given) => {
      const { bytes, findings, bodies } = body(given);
      expect([Buffer.from(bytes ?? []).toString(), findings, bodies[0]]).toEqual(['{"a":1}', [], ['{"a":1}', []]]);
      expect(bodies.map(([text]) => text)).toContain('{"a": 1}');
    },
  );

  it('Content-Encoding decides how the body is compressed again', () => {
    const causes = ({ bodies }: ReturnType<typeof body>) => JSON.stringify(bodies);
    expect(causes(body('a', 'br'))).toContain('compressed again (br)');
    expect(causes(body('a'))).toContain('compressed again (gzip)');
  });

  it.each([undefined, null])('a body of %s counts as missing', (given) => {
    expect(body(given)).toEqual({
      bytes: undefined,
      bodies: [],
      findings: [{ cause: 'body_missing', certainty: 'certain', evidence: 'There is none.' }],
    });
  });

  it('a transferred buffer cannot be read', () => {
    const transferred = new Uint8Array(8);
    structuredClone(transferred, { transfer: [transferred.buffer] });
    expect(() => body(transferred)).toThrow(TypeError);
  });

  it('a parsed body is tried in the forms in which it may have been written', () => {
    const { bytes, findings, bodies } = body({ a: 1, b: undefined });
    const evidence = 'It is not bytes and not text, but what a parser makes of them.';
    expect([bytes, findings]).toEqual([undefined, [{ cause: 'body_parsed', certainty: 'certain', evidence }]]);
    expect(bodies.slice(0, 2)).toEqual([
      ['{"a":1}', []],
      ['{"a":1}\n', []],
    ]);
    expect(bodies.every(([, causes]) => causes?.length === 0)).toBe(true);
  });

  it('a value that JSON cannot hold has no forms', () => {
    const cyclic: { self?: object } = {};
    cyclic.self = cyclic;
    for (const given of [cyclic, () => {}, Symbol('body'), 1n]) {
      expect(body(given)).toMatchObject({ bytes: undefined, bodies: [], findings: [{ cause: 'body_parsed' }] });
    }
  });
});
