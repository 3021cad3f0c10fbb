import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { mutateElements } from './mutate-elements.mjs';
import { verdictOf } from './verdict-of.mjs';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const NOW = 1_783_771_200_000;
const BODY = 'a body';
const mac = (t) => createHmac('sha256', SECRET).update(`${t}.${BODY}`).digest('hex');
const LEGACY = createHmac('sha256', SECRET).update(BODY).digest('hex');
const T = [0, -300, -301, 300, 301].map((skew) => NOW / 1000 + skew);
const latin1 = (text) => Buffer.from(text, 'latin1');

export const headerTarget = {
  seeds: [
    ...T.map((t) => `t=${t},v1=${mac(t)}`),
    `v2=x,v1=${mac(T[0])},t=${T[0]},v1=00`,
    `t=999999999999,v1=${mac(T[0])}`,
    `t=0,v1=${mac(T[0])}`,
    'v1=',
    '',
    `sha256=${LEGACY}`,
    `sha256=${mac(T[0])}`,
  ].map(latin1),
  accepts: 'v2',
  words: [
    ...T.flatMap((t) => [`t=${t}`, `v1=${mac(t)}`]),
    ...['t=', 'v1=', ',', '=', 'v2=x', 'x', 't', 'v1', ' ', '\t', '\n', '\v', '\xa0', '0', '00', 'a', 'A', 'g', 'é'],
    ...['sha256=', LEGACY, `sha256=${LEGACY.toUpperCase()}`],
  ].map(latin1),
  limits: [1, 8, 32, 4096],
  mutate: mutateElements,

  /**
   * Beside a second reading of the rules; in each form that headers come in; and for the signed body alone. Then the
   * same text as the legacy header, and beside one.
   */
  judge({ verifySignature, referenceVerdict }, input) {
    const header = input.toString('latin1');
    const verify = (headers, body = BODY, legacy = 'reject') =>
      verifySignature({ headers, body, secret: SECRET, now: () => NOW, legacy });
    const verdict = (headers, body, legacy) => verdictOf(() => verify(headers, body, legacy).scheme).code;
    const headers = { 'x-service-signature-v2': header };
    const ours = verdict(headers);
    assert.equal(ours, referenceVerdict(header, BODY, SECRET, NOW));
    assert.equal(verdict([['X-Service-Signature-V2', header]]), ours, 'as pairs');
    assert.equal(verdict({ 'x-service-signature-v2': header.split(',').reverse().join(',') }), ours, 'reversed');
    const alone = { 'x-service-signature': header };
    assert.equal(verdict(alone), 'legacy_not_accepted');
    assert.equal(verdict(alone, BODY, 'accept'), legacyVerdict(header));
    const both = { ...headers, 'x-service-signature': `sha256=${LEGACY}` };
    assert.equal(verdict(both, BODY, 'accept'), ours, 'beside a legacy one');
    if (ours !== 'v2') return ours;
    assert.deepEqual(verify(headers), {
      scheme: 'v2',
      signedAt: 1000 * /(?:^|,)t=(\d+)/.exec(header)[1],
      secretIndex: 0,
    });
    assert.equal(verdict(headers, `${BODY} `), 'signature_mismatch');
    assert.equal(verdict([...Object.entries(headers), ...Object.entries(headers)]), 'malformed_signature', 'twice');
    return ours;
  },

  faults: [
    ['/^sha256=[0-9a-f]{64}$/', '/^sha256=[0-9a-f]{64}/'],
    ['/^sha256=[0-9a-f]{64}$/', '/^sha256=[0-9a-f]{64}$/i'],
    ['/^sha256=[0-9a-f]{64}$/', '/sha256=[0-9a-f]{64}$/'],
    ['if (v2 !== void 0)', 'if (v2)'],
    ['/^[0-9a-f]{64}$/', '/^[0-9a-f]{64}/'],
    ['/^[0-9a-f]{64}$/', '/^[0-9a-f]{63,64}$/'],
    ['/^[0-9a-f]{64}$/', '/^[0-9a-f]{64}$/i'],
    ['/^(?:0|[1-9]\\d{0,11})$/', '/^\\d+$/'],
    ['/^(?:0|[1-9]\\d{0,11})$/', '/^(?:0|[1-9]\\d{0,12})$/'],
    ['t === void 0 ? value.slice(start + 2, end) : ""', 'value.slice(start + 2, end)'],
    ['t === void 0 ? value', '!t ? value'],
    ['value.startsWith("v1=", start)', 'value.startsWith("v1=0", start)'],
    ['elements > MAX_ELEMENTS', 'elements > MAX_ELEMENTS + 1'],
    ['macs > MAX_V1', 'macs > MAX_V1 + 1'],
    ['value.length > MAX_LENGTH', 'value.length > MAX_LENGTH + 1'],
    ['value.length > MAX_LENGTH', 'value.length >= MAX_LENGTH'],
    ['start <= value.length; start', 'start < value.length; start'],
    ['/\\s/.test(mac)', '/ /.test(mac)'],
    ['/\\s/.test(mac)', '/\\s$/.test(mac)'],
    ['/^[^\\s=]*=\\S*$/', '/^[^=]*=\\S*$/'],
    ['/^[^\\s=]*=\\S*$/', '/^[^\\s=]*=.*$/'],
    ['/^[^\\s=]*=\\S*$/', '/^\\S*$/'],
    ['/^[^\\s=]*=\\S*$/.test(value.slice(start, end))', '/^[^\\s=]*=\\S*$/.test(value)'],
    ['-age <= toleranceSeconds', '-age <= toleranceSeconds + 1'],
    ['age <= toleranceSeconds + morePast', 'age < toleranceSeconds + morePast'],
  ],
};

/** The rules of the legacy header once more. */
function legacyVerdict(header) {
  const [scheme, hex] = [header.slice(0, 7), header.slice(7)];
  if (scheme !== 'sha256=' || hex.length !== 64 || /[^0-9a-f]/.test(hex)) return 'malformed_signature';
  return hex === LEGACY ? 'legacy' : 'signature_mismatch';
}
