import { sign, type VerifyInput, verify } from 'service-webhooks';
import { type ExplainInput, explain } from 'service-webhooks-cli/explain';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { anEvent, bodyOf, NOW, now, refusal, SECRET } from '../../../../test/support/deliveries.js';
import { FIXES } from '../../src/explain/causes.js';

const V2 = 'x-service-signature-v2';
const LEGACY = 'x-service-signature';
const ZEROS = '0'.repeat(64);

/** Not as JSON.stringify writes it, so that this is no cause. */
const BODY = `${bodyOf().replace(',', ', ')}\n`;
const signed = sign({ body: BODY, secret: SECRET, at: NOW });
const [v2 = '', legacy = ''] = [signed[V2], signed[LEGACY]];

/** The verdict, which is that of verify, and the causes. */
function explained(changes: Partial<ExplainInput> = {}) {
  const input = { headers: { ...signed }, body: BODY, secret: SECRET, now, ...changes };
  const { verdict, causes } = explain(input);
  const { otherSecrets, ...verified } = input;
  const { code } = verdict === 'accepted' ? { code: verdict } : refusal(() => verify(verified as VerifyInput));
  expect(verdict).toBe(code);
  for (const { cause, fix } of causes) expect(fix).toBe(FIXES[cause]);
  return { verdict, causes: causes.map(({ cause, certainty, evidence }) => [cause, certainty, evidence]) };
}
const certain = (changes: Partial<ExplainInput>) =>
  explained(changes)
    .causes.filter(([, certainty]) => certainty === 'certain')
    .map(([cause]) => cause);

describe('a delivery', () => {
  it('a delivery that is right has nothing to explain', () => {
    expect(explained()).toEqual({ verdict: 'accepted', causes: [] });
    expect(explained({ headers: { [LEGACY]: legacy }, legacy: 'accept' })).toEqual({ verdict: 'accepted', causes: [] });
  });

  it.each<[cause: string, verdict: string, changes: Partial<ExplainInput>]>([
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
  ])('a delivery that is refused for %s, as %s, is explained by it alone', (cause, verdict, changes) => {
    expect(explained(changes)).toEqual({ verdict, causes: [[cause, 'certain', expect.any(String)]] });
  });

  it('a delivery may be refused for several causes, the surest first', () => {
    const headers = { [V2]: v2.replace(',', ', ') };
    expect(explained({ headers, body: `${BODY}\n`, secret: `${SECRET}\n`, now: () => NOW + 412_000 }).causes).toEqual([
      ['secret_white_space', 'certain', 'There is white space around it.'],
      ['signature_rewritten', 'certain', expect.stringContaining('white space, quotes')],
      ['newline_added', 'certain', 'The signature matches with the body without the line feed at its end.'],
      ['clock_ahead', 'likely', 'It was signed 412 s before the time of this clock.'],
      ['old_delivery', 'possible', 'It was signed 412 s before the time of this clock.'],
    ]);
  });

  it('a delivery whose legacy signature alone holds has lost the other on the way, or had it changed', () => {
    expect(explained({ headers: { [LEGACY]: legacy } })).toEqual({
      verdict: 'legacy_not_accepted',
      causes: [['v2_stripped', 'certain', 'The legacy signature is valid, and there is no V2 header.']],
    });
    expect(explained({ headers: { [LEGACY]: legacy, [V2]: `t=${NOW / 1000},v1=${ZEROS}` } })).toEqual({
      verdict: 'signature_mismatch',
      causes: [['v2_changed', 'certain', 'The legacy signature is valid and the V2 signature is not.']],
    });
    expect(certain({ headers: { [LEGACY]: legacy, [V2]: 'none' }, legacy: 'accept' })).toEqual(['v2_changed']);
    expect(certain({ headers: { [LEGACY]: legacy }, body: `${BODY}\n`, legacy: 'accept' })).toEqual(['newline_added']);
  });

  it('a delivery with nothing in its V2 header is explained by that', () => {
    expect(explained({ headers: { [V2]: 'none' } })).toEqual({
      verdict: 'malformed_signature',
      causes: [['signature_malformed', 'certain', 'There is no signature in the V2 header.']],
    });
  });

  it('a delivery without signature headers is explained by that', () => {
    expect(explained({ headers: {} })).toEqual({
      verdict: 'missing_signature',
      causes: [['signature_missing', 'certain', 'There is no signature header.']],
    });
  });

  it('a delivery with a legacy header that holds nothing is explained by the header that is missing', () => {
    expect(explained({ headers: { [LEGACY]: 'none' } }).causes).toEqual([
      ['v2_stripped', 'likely', 'There is a legacy header and no V2 header.'],
    ]);
    expect(explained({ headers: { [LEGACY]: 'none' }, legacy: 'accept' }).causes).toEqual([
      ['signature_malformed', 'certain', expect.stringContaining('not of the form that the service sends')],
    ]);
  });

  it('a delivery that holds in a form that is refused all the same is malformed', () => {
    const evidence = 'The signature in the header holds, but the header is not of the form that the service sends.';
    expect(explained({ headers: { [V2]: v2.replace(',v1=', ',') } })).toEqual({
      verdict: 'malformed_signature',
      causes: [['signature_malformed', 'certain', evidence]],
    });
  });

  it('a delivery whose legacy signature is valid and whose timestamp is old is an old delivery', () => {
    const changes = { headers: { [LEGACY]: legacy }, legacy: 'accept', now: () => NOW + 30 * 86_400_000 } as const;
    const evidence = 'The legacy signature is valid, and the timestamp in the body is older than any retry.';
    expect(explained(changes)).toEqual({
      verdict: 'timestamp_too_old',
      causes: [['old_delivery', 'likely', evidence]],
    });
  });

  it('a delivery whose signature is valid and whose body is refused is no event', () => {
    const body = 'pong';
    expect(explained({ body, headers: sign({ body, secret: SECRET, at: NOW }) })).toEqual({
      verdict: 'invalid_json',
      causes: [['no_event', 'certain', 'The signature is valid, and the body is refused: invalid_json.']],
    });
  });

  it('a delivery with a wrong secret is not explained for certain, and the time is only possibly wrong', () => {
    const body = 'x';
    const headers = sign({ body, secret: SECRET, at: NOW });
    const { causes } = explained({ body, headers, secret: 'another', now: () => NOW - 412_000 });
    expect(causes).toEqual([
      ['secret_wrong', 'possible', 'No other form of it makes the signature.'],
      ['body_changed', 'possible', 'No other form of it makes the signature.'],
      ['clock_behind', 'possible', 'It was signed 412 s after the time of this clock.'],
    ]);
  });

  it('a delivery whose length is not as declared has rather another body than a wrong secret', () => {
    const body = 'x';
    const headers = { ...sign({ body, secret: SECRET, at: NOW }), 'content-length': '7' };
    const [first, second, third] = explained({ body: 'y', headers }).causes;
    expect([first, second, third].map((one) => one?.slice(0, 2))).toEqual([
      ['body_incomplete', 'likely'],
      ['body_changed', 'likely'],
      ['secret_wrong', 'possible'],
    ]);
  });

  it('a delivery with a wrong secret keeps what was mended in its headers as likely', () => {
    const body = 'x';
    const { [V2]: value = '' } = sign({ body, secret: SECRET, at: NOW });
    const headers = { HTTP_X_SERVICE_SIGNATURE_V2: value.replace(',', ', ') };
    expect(explained({ body, headers, secret: 'another' }).causes.slice(0, 2)).toEqual([
      ['header_renamed', 'likely', expect.any(String)],
      ['signature_rewritten', 'likely', expect.any(String)],
    ]);
  });

  it('a delivery that was parsed is explained by that, and what else is wrong is found all the same', () => {
    const compact = bodyOf();
    const headers = sign({ body: compact, secret: SECRET, at: NOW });
    expect(certain({ headers, body: anEvent() })).toEqual(['body_parsed']);
    expect(certain({ headers, body: anEvent(), secret: `'${SECRET}'` })).toEqual(['secret_quoted', 'body_parsed']);
    expect(explained({ headers, body: undefined }).causes).toEqual([['body_missing', 'certain', 'There is none.']]);
  });

  it('a delivery whose secret is missing is explained by that', () => {
    for (const secret of [undefined, '', []]) {
      const body = 'x';
      const headers = sign({ body, secret: SECRET, at: NOW });
      expect(explain({ headers, body, secret, now }).causes[0]).toMatchObject({
        cause: 'secret_missing',
        certainty: 'certain',
      });
    }
  });

  it('a delivery that was signed with the secret of another is explained by its name', () => {
    const { causes } = explained({ secret: 'another', otherSecrets: { staging: 'c', production: SECRET } });
    expect(causes).toEqual([
      ['secret_of_other_endpoint', 'certain', 'The signature matches with the secret of production.'],
    ]);
  });

  it('a delivery is explained by the tolerance and the prefix that it is verified with', () => {
    const headers = sign({ body: BODY, secret: SECRET, at: NOW, headerPrefix: 'x-own' });
    const options = { headers, headerPrefix: 'x-own', toleranceSeconds: 10 };
    expect(explained({ ...options, now: () => NOW - 9_000 }).verdict).toBe('accepted');
    expect(explained({ ...options, now: () => NOW - 11_000 }).causes).toEqual([
      ['clock_behind', 'certain', 'It was signed 11 s after the time of this clock.'],
    ]);
  });

  it('a delivery is explained by one instant, whatever the clock does meanwhile', () => {
    let calls = 0;
    const clock = () => {
      calls += 1;
      return NOW;
    };
    expect(explain({ headers: signed, body: BODY, secret: SECRET, now: clock }).verdict).toBe('accepted');
    expect(calls).toBe(1);
  });

  it('a delivery is explained by the clock of now where none is given', () => {
    expect(explain({ headers: signed, body: BODY, secret: SECRET }).causes[0]?.cause).toMatch(/old_delivery|clock/);
    const fresh = sign({ body: BODY, secret: SECRET });
    expect(explain({ headers: fresh, body: BODY, secret: SECRET }).causes.map(({ cause }) => cause)).not.toContain(
      'clock_ahead',
    );
  });
});

describe('a call', () => {
  it.each<[string, string, () => unknown]>([
    ['nothing', 'input', () => explain(undefined as never)],
    ['a clock that is none', 'now', () => explained({ now: NOW as never })],
    ['no headers', 'headers', () => explained({ headers: undefined as never })],
    ['a prefix that is none', 'headerPrefix', () => explained({ headerPrefix: 'x service' })],
    ['a tolerance that is none', 'toleranceSeconds', () => explained({ toleranceSeconds: 0 })],
  ])('a call with %s is refused, and the message names it: %s', (_, name, call) => {
    expect(refusal(call)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(name) });
  });
});

describe('in a runtime without node:crypto', () => {
  afterEach(() => {
    vi.resetModules();
  });

  it('a call says so', async () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
    vi.resetModules();
    const web = await import('service-webhooks-cli/explain');
    const call = () => web.explain({ headers: signed, body: BODY, secret: SECRET, now });
    expect(refusal(call).code).toBe('sync_crypto_unavailable');
  });
});
