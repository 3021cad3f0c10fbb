import { describe, expect, it } from 'vitest';
import { claimsIn } from '../../src/explain/claims.js';
import type { SignatureHeaders } from '../../src/explain/signature-headers.js';

const MAC = '0123456789abcdef'.repeat(4);
const OTHER = 'f'.repeat(64);
const BYTES = Buffer.from(MAC, 'hex');
const T = '1783771200';

function claims(headers: Partial<SignatureHeaders>) {
  const nothing = { timestamp: undefined, contentLength: undefined, contentEncoding: undefined, findings: [] };
  return claimsIn({ v2: [], legacy: [], ...nothing, ...headers }).map(({ findings, ...claim }) => ({
    ...claim,
    causes: findings.map(({ cause }) => cause),
    evidence: findings.map(({ evidence }) => evidence),
  }));
}
const inV2 = (value: string, timestamp?: string) => claims({ v2: [value], timestamp });
/** The claims, less that the body alone was signed. */
const timed = (value: string, timestamp?: string) => inV2(value, timestamp).filter(({ prefix }) => prefix !== '');

describe('what explain reads in the V2 header', () => {
  it('the usual form is tried as a signature of time and body, then of the body alone', () => {
    expect(inV2(`t=${T},v1=${MAC}`)).toEqual([
      { header: 'v2', prefix: `${T}.`, mac: MAC, t: Number(T), causes: [], evidence: [] },
      {
        ...{ header: 'v2', prefix: '', mac: MAC, t: undefined, causes: ['time_not_signed'] },
        evidence: ['The signature in the V2 header is over the body alone.'],
      },
    ]);
  });

  it('several signatures are each tried, and unknown elements are ignored', () => {
    const found = timed(`v0=${MAC},t=${T},v1=${MAC},v1=${OTHER},x`);
    expect(found.map(({ mac }) => mac)).toEqual([MAC, OTHER]);
  });

  it.each([
    ['white space', `t=${T}, v1=${MAC} `],
    ['quotes', `"t=${T},v1=${MAC}"`],
    ['apostrophes', `t='${T}',v1='${MAC}'`],
    ['semicolons', `t=${T};v1=${MAC}`],
    ['percent signs', `t%3D${T}%2Cv1%3d${MAC}`.replace('%2C', '%2c')],
    ['percent signs in capitals', `t%3D${T}%2Cv1%3D${MAC}`],
  ])('a value with %s is read without them', (_, value) => {
    expect(timed(value)).toEqual([
      {
        ...{ header: 'v2', prefix: `${T}.`, mac: MAC, t: Number(T), causes: ['signature_rewritten'] },
        evidence: ['The signature header contains white space, quotes, semicolons or percent signs.'],
      },
    ]);
  });

  it('a header that came twice is a finding, joined or as two', () => {
    const both = [`t=1,v1=${OTHER}`, `t=${T},v1=${MAC}`];
    for (const v2 of [both, [both.join(',')], [both.join(', ')]]) {
      const found = claims({ v2 }).filter(({ prefix }) => prefix !== '');
      expect(found.map(({ prefix, mac, causes }) => [prefix, mac, causes])).toEqual([
        ['1.', OTHER, ['headers_joined']],
        [`${T}.`, MAC, ['headers_joined']],
      ]);
      expect(found[0]?.evidence).toEqual(['The V2 header was sent 2 times.']);
    }
  });

  it('a time behind the signature is read as one header, not as two', () => {
    expect(timed(`v1=${MAC},t=${T}`)).toMatchObject([{ prefix: `${T}.`, mac: MAC, causes: [] }]);
  });

  it.each([
    ['sha256=', `t=${T},sha256=${MAC}`],
    ['v1=sha256=', `t=${T},v1=sha256=${MAC}`],
    ['SHA256=', `t=${T},SHA256=${MAC}`],
  ])('%s is read as the legacy form, with and without the time', (_, value) => {
    const evidence = ['The V2 header contains sha256=….'];
    expect(inV2(value).map(({ prefix, causes, ...one }) => [prefix, causes, one.evidence])).toEqual([
      [`${T}.`, ['sha256_in_v2'], evidence],
      ['', ['sha256_in_v2'], evidence],
    ]);
  });

  it('a signature without a time is tried for the body alone', () => {
    expect(inV2(MAC).map(({ prefix, mac, causes }) => [prefix, mac, causes])).toEqual([['', MAC, ['time_not_signed']]]);
  });

  it.each([
    ['upper-case hex', MAC.toUpperCase(), 'signature_uppercase', 'It is in upper-case hex.'],
    ['base64', BYTES.toString('base64'), 'signature_base64', 'The signature is in base64.'],
    ['base64url', BYTES.toString('base64url'), 'signature_base64', 'The signature is in base64.'],
  ])('a signature in %s is decoded', (_, written, cause, evidence) => {
    expect(timed(`t=${T},v1=${written}`)).toMatchObject([{ mac: MAC, causes: [cause], evidence: [evidence] }]);
  });

  it.each([
    ['', ''],
    ['too short', MAC.slice(1)],
    ['too long', `${MAC}0`],
    ['no hex', `g${MAC.slice(1)}`],
    ['with more behind it', `${MAC}!`],
    ['in base64 with more behind it', `${BYTES.toString('base64url')}!`],
    ['in base64 with more before it', `!${BYTES.toString('base64')}`],
    ['of other bytes in base64', `${BYTES.toString('base64')}=`],
    ['too short in base64', Buffer.alloc(31).toString('base64url')],
    ['of the form v1=v2=', `v2=${MAC}`],
  ])('a signature that is %s is ignored', (_, written) => {
    expect(inV2(`t=${T},v1=${written}`)).toEqual([]);
  });

  it.each(['v2', 'xv1', 'v1x', 'x'])('a signature under the name %s is ignored', (name) => {
    expect(inV2(`t=${T},${name}=${MAC}`)).toEqual([]);
  });

  it.each([
    ['milliseconds', `${T}000`, [`${T}000.`, `${T}.`], '13'],
    ['milliseconds that are not whole seconds', `${T}999`, [`${T}999.`, `${T}.`], '13'],
    ['microseconds', `${T}000000`, [`${T}000000.`, `${T}.`], '16'],
  ])('a time in %s is tried as it is and in seconds', (_, t, prefixes, digits) => {
    const found = timed(`t=${t},v1=${MAC}`);
    expect(found.map(({ prefix }) => prefix)).toEqual(prefixes);
    for (const one of found) {
      expect(one).toMatchObject({
        ...{ t: Number(T), causes: ['milliseconds'] },
        evidence: [`t has ${digits} digits, and a time in seconds has 10.`],
      });
    }
  });

  it.each([
    ['1783771200.5', ['1783771200.5.', '1783771200.'], 1783771200],
    ['1783771200.25', ['1783771200.25.', '1783771200.'], 1783771200],
    ['01783771200', ['01783771200.', '1783771200.'], 1783771200],
    ['-5', ['-5.', 'undefined.'], undefined],
    ['', ['.', 'undefined.'], undefined],
    ['1e9', ['1e9.', 'undefined.'], undefined],
    ['1.', ['1..', 'undefined.'], undefined],
  ])('the time %j is reported as malformed, and MACs with its very text are tried too', (t, prefixes, seconds) => {
    const found = timed(`t=${t},v1=${MAC}`);
    expect(found.map(({ prefix }) => prefix)).toEqual(prefixes);
    for (const one of found) {
      expect(one).toMatchObject({
        ...{ t: seconds, causes: ['signature_malformed'], evidence: ['t is not a whole number of seconds.'] },
      });
    }
  });

  it.each(['0', '7', '123456789012', '12345678901234', '17837712000000000'])('the time %s is in seconds', (t) => {
    expect(timed(`t=${t},v1=${MAC}`)).toMatchObject([{ prefix: `${t}.`, t: Number(t), causes: [] }]);
  });

  it('the time of the timestamp header is tried as the signed one', () => {
    expect(timed(`t=1,v1=${MAC}`, T)).toMatchObject([
      { prefix: '1.', t: 1, causes: [] },
      {
        ...{ prefix: `${T}.`, t: Number(T), causes: ['timestamp_changed'] },
        evidence: ['The V2 header has another time, and the time of the timestamp header was signed.'],
      },
    ]);
    expect(timed(`v1=${MAC}`, T)).toMatchObject([
      {
        ...{ prefix: `${T}.`, t: Number(T), causes: ['timestamp_changed'] },
        evidence: ['The V2 header has no t, and the time of the timestamp header was signed.'],
      },
    ]);
  });

  it.each([T, '', 'x', '1x', 'x1', '1234567890123'])('the timestamp header %j is not tried', (timestamp) => {
    expect(timed(`t=${T},v1=${MAC}`, timestamp)).toHaveLength(1);
  });

  it('a very long header is read up to a limit', () => {
    expect(inV2(`t=${T}${`,v1=${MAC}`.repeat(100)}`)).toHaveLength(64);
    expect(inV2(`${'x'.repeat(16_384)},t=${T},v1=${MAC}`)).toEqual([]);
    expect(inV2(`${'x'.repeat(16_000)},t=${T},v1=${MAC}`)).toHaveLength(2);
  });
});

describe('what explain reads in the legacy header', () => {
  it.each([`sha256=${MAC}`, `SHA256=${MAC}`, MAC])('%s is tried as a signature of the body alone', (value) => {
    expect(claims({ legacy: [value] })).toEqual([
      { header: 'legacy', prefix: '', mac: MAC, t: undefined, causes: [], evidence: [] },
    ]);
  });

  it('a signature is decoded as in the V2 header', () => {
    const [found] = claims({ legacy: [`"sha256=${MAC.toUpperCase()}"`] });
    expect(found).toMatchObject({ mac: MAC, causes: ['signature_rewritten', 'signature_uppercase'] });
  });

  it.each(['', 'sha256=', `sha1=${MAC}`, `x sha256=${MAC}`, MAC.replace('f', 'fsha256=')])(
    'the value %j is ignored',
    (value) => {
      expect(claims({ legacy: [value] })).toEqual([]);
    },
  );

  it('a very long header is not read', () => {
    expect(claims({ legacy: [`${' '.repeat(16_384)}${MAC}`] })).toEqual([]);
  });

  it('legacy signatures are tried behind those of the V2 header', () => {
    const found = claims({ v2: [`t=${T},v1=${OTHER}`], legacy: [`sha256=${MAC}`, `sha256=${OTHER}`] });
    expect(found.map(({ header, mac }) => [header, mac])).toEqual([
      ['v2', OTHER],
      ['v2', OTHER],
      ['legacy', MAC],
      ['legacy', OTHER],
    ]);
  });

  it('a V2 value in the legacy header is read where the V2 header is missing', () => {
    const legacy = [`t=${T},v1=${MAC}`];
    const found = claims({ legacy });
    expect(found.map(({ header, prefix, causes }) => [header, prefix, causes])).toEqual([
      ['v2', `${T}.`, ['v2_in_legacy']],
      ['v2', '', ['v2_in_legacy', 'time_not_signed']],
    ]);
    expect(found[0]?.evidence).toEqual(['The legacy header has a value of the form that belongs in the V2 header.']);
    expect(claims({ v2: [`t=${T},v1=${OTHER}`], legacy }).map(({ mac }) => mac)).toEqual([OTHER, OTHER]);
  });
});
