import { createHmac } from 'node:crypto';
import { type SignInput, sign, type VerifyInput, verify, verifyAsync, verifySignature } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { bodyOf, NOW, now, refusal, SECRET, verdict } from '../support/deliveries.js';

const BODY = bodyOf();
const T = String(NOW / 1000);
const macOf = (t: string, body: string | Uint8Array = BODY) =>
  createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex');
const GOOD = macOf(T);
const WRONG = '0123456789abcdef'.repeat(4);

const withHeader = (value: unknown) => ({
  headers: { 'x-service-signature-v2': value as string },
  body: BODY,
  secret: SECRET,
  now,
});

/** What all three functions say about a delivery, which has to be the same. */
async function agreed(input: VerifyInput): Promise<string> {
  const verdicts = await Promise.all([verify, verifySignature, verifyAsync].map((f) => verdict(() => f(input))));
  expect(new Set(verdicts).size, verdicts.join()).toBe(1);
  return verdicts[0] as string;
}

const verdictOf = (value: unknown) => agreed(withHeader(value));

const MALFORMED = 'malformed_signature';

describe('the V2 header', () => {
  it.each<[string, string]>([
    ['as the service sends it', `t=${T},v1=${GOOD}`],
    ['with its elements the other way round', `v1=${GOOD},t=${T}`],
    ['with unknown elements, of a future scheme or not', `t=${T},v2=abc,v0=,kid=1,v1=${GOOD},x==y,=z`],
    ['with a wrong v1 before the good one', `t=${T},v1=${WRONG},v1=${GOOD}`],
    ['with a wrong v1 behind the good one', `t=${T},v1=${GOOD},v1=${WRONG}`],
    ['with an empty v1 next to the good one', `t=${T},v1=,v1=${GOOD}`],
    ['with a truncated v1 next to the good one', `t=${T},v1=${GOOD.slice(0, 63)},v1=${GOOD}`],
    ['with an overlong v1 next to the good one', `t=${T},v1=${GOOD}00,v1=${GOOD}`],
    ['with an upper-case v1 next to the good one', `t=${T},v1=${GOOD.toUpperCase()},v1=${GOOD}`],
    ['with a v1 that is no ASCII next to the good one', `t=${T},v1=${'é'.repeat(64)},v1=${GOOD}`],
    ['with the same v1 twice', `t=${T},v1=${GOOD},v1=${GOOD}`],
    ['with eight v1, the good one last', `t=${T},${`v1=${WRONG},`.repeat(7)}v1=${GOOD}`],
    ['with 32 elements', `t=${T},v1=${GOOD}${',a=b'.repeat(30)}`],
    ['with 4096 characters', `t=${T},v1=${GOOD},x=`.padEnd(4096, 'x')],
    ['with names that only begin alike', `t=${T},v1=${GOOD},tt=1,v11=${WRONG},v=1`],
  ])('a header with a valid signature is accepted %s', async (_, value) => {
    expect(await verdictOf(value)).toBe('v2');
  });

  it.each<[string, unknown]>([
    ['empty', ''],
    ['a space', ' '],
    ['a word', 'signature'],
    ['only commas', ',,,'],
    ['only an equals sign', '='],
    ['without t', `v1=${GOOD}`],
    ['without v1', `t=${T}`],
    ['with the bare MAC', GOOD],
    ['with the legacy grammar', `sha256=${GOOD}`],
    ['with an element without =', `t=${T},v1=${GOOD},future`],
    ['with an empty element at the end', `t=${T},v1=${GOOD},`],
    ['with an empty element in front', `,t=${T},v1=${GOOD}`],
    ['with an empty element between', `t=${T},,v1=${GOOD}`],
    ['with another separator', `t=${T};v1=${GOOD}`],
    ['with a colon for =', `t:${T},v1:${GOOD}`],
    ['with two equal t', `t=${T},t=${T},v1=${GOOD}`],
    ['with two t, one of them wrong', `t=${T},v1=${GOOD},t=1`],
    ['with two t, one of them empty', `t=${T},t=,v1=${GOOD}`],
    ['with two headers joined by Node', `t=${T},v1=${GOOD}, t=${T},v1=${GOOD}`],
    ['with two headers joined without a space', `t=${T},v1=${GOOD},t=${T},v1=${GOOD}`],
    ['in upper-case names', `T=${T},V1=${GOOD}`],
    ['with an empty v1 alone', `t=${T},v1=`],
    ['with a truncated v1 alone', `t=${T},v1=${GOOD.slice(0, 63)}`],
    ['with half a v1 alone', `t=${T},v1=${GOOD.slice(0, 32)}`],
    ['with an overlong v1 alone', `t=${T},v1=${GOOD}0`],
    ['with upper-case hex', `t=${T},v1=${GOOD.toUpperCase()}`],
    ['with 0x before the hex', `t=${T},v1=0x${GOOD.slice(2)}`],
    ['with a letter that is no hex digit', `t=${T},v1=g${GOOD.slice(1)}`],
    ['with characters between 9 and a', `t=${T},v1=:${GOOD.slice(1)}`],
    ['with the character before 0', `t=${T},v1=/${GOOD.slice(1)}`],
    ['with the character before a', `t=${T},v1=\`${GOOD.slice(1)}`],
    ['with full-width digits', `t=${T},v1=${'０'.repeat(64)}`],
    ['with base64', `t=${T},v1=${Buffer.from(GOOD, 'hex').toString('base64')}`],
    ['with quotes', `t="${T}",v1="${GOOD}"`],
    ['with white space in front', ` t=${T},v1=${GOOD}`],
    ['with white space at the end', `t=${T},v1=${GOOD} `],
    ['with white space behind a comma', `t=${T}, v1=${GOOD}`],
    ['with white space around =', `t = ${T},v1=${GOOD}`],
    ['with white space in an unknown element', `t=${T},v1=${GOOD},x=a b`],
    ['with white space in the name of an unknown element', `t=${T},v1=${GOOD},x y=a`],
    ['with white space in a signature next to a good one', `t=${T},v1=a b,v1=${GOOD}`],
    ['with a tab', `t=${T},\tv1=${GOOD}`],
    ['with a line feed at the end', `t=${T},v1=${GOOD}\n`],
    ['with a carriage return', `t=${T},v1=${GOOD}\r`],
    ['with a no-break space', `t=${T},\u00a0v1=${GOOD}`],
    ['with a NUL in t', `t=${T}\0,v1=${GOOD}`],
    ['with a NUL behind the MAC', `t=${T},v1=${GOOD}\0`],
    ['with nine v1', `t=${T},${`v1=${WRONG},`.repeat(8)}v1=${GOOD}`],
    ['with nine v1 of which eight are empty', `t=${T},${'v1=,'.repeat(8)}v1=${GOOD}`],
    ['with 10,000 v1', `t=${T}${`,v1=${GOOD}`.repeat(10_000)}`],
    ['with 33 elements', `t=${T},v1=${GOOD}${',a=b'.repeat(31)}`],
    ['with 4097 characters', `t=${T},v1=${GOOD},x=`.padEnd(4097, 'x')],
    ['with 65,536 characters', `t=${T},v1=${GOOD},x=`.padEnd(65_536, 'x')],
    ['a megabyte of commas', ','.repeat(1 << 20)],
    ['a list of one', [`t=${T},v1=${GOOD}`]],
    ['a list of two', [`t=${T},v1=${GOOD}`, `t=${T},v1=${GOOD}`]],
    ['an empty list', []],
    ['a number', 42],
    ['an object', { t: T, v1: GOOD }],
    ['an object with a text of its own', { toString: () => `t=${T},v1=${GOOD}`, length: 10 }],
    ['a boxed string', Object(`t=${T},v1=${GOOD}`)],
    ['true', true],
  ])('a malformed header is refused: %s', async (_, value) => {
    expect(await verdictOf(value)).toBe(MALFORMED);
  });
});

describe('the time t of the V2 header', () => {
  const digits = [
    '',
    `+${T}`,
    `-${T}`,
    '-0',
    `0${T}`,
    '00',
    `${T}.0`,
    `${T}.`,
    `${T}n`,
    `${T}s`,
    `${T}=`,
    `${T}\u0000`,
  ];
  const bases = ['1.7e9', '17e8', `0x${Number(T).toString(16)}`, `0b${Number(T).toString(2)}`, '१७८३७७१२००'];
  const long = [String(NOW), '1000000000000', '9'.repeat(400)];
  const words = ['now', '1_783_771_200', 'NaN', 'Infinity', 'null', new Date(NOW).toISOString()];

  it.each([...digits, ...bases, ...long, ...words])('t=%j is malformed, although the MAC is right', async (t) => {
    expect(await verdictOf(`t=${t},v1=${macOf(t)}`)).toBe(MALFORMED);
  });

  it.each([
    ['0', 'timestamp_too_old'],
    ['9', 'timestamp_too_old'],
    ['999999999999', 'timestamp_in_future'],
  ])('t=%s is well formed, and refused with %s', async (t, code) => {
    expect(await verdictOf(`t=${t},v1=${macOf(t)}`)).toBe(code);
    expect(await verdictOf(`t=${t},v1=`)).toBe(MALFORMED);
  });
});

describe('the signatures v1 of the V2 header', () => {
  it('a signature with any one digit changed is refused', async () => {
    for (let i = 0; i < 64; i++) {
      const digit = GOOD[i] === '0' ? '1' : '0';
      expect(await verdictOf(`t=${T},v1=${GOOD.slice(0, i)}${digit}${GOOD.slice(i + 1)}`)).toBe('signature_mismatch');
    }
  });

  it('a delivery is accepted wherever the valid v1 is among seven wrong ones', async () => {
    for (let place = 0; place < 8; place++) {
      const v1 = Array.from({ length: 8 }, (_, i) => `v1=${i === place ? GOOD : WRONG}`);
      expect(await verdictOf([`t=${T}`, ...v1].join())).toBe('v2');
    }
  });

  const macBy = (algorithm: string, text = `${T}.${BODY}`) =>
    `t=${T},v1=${createHmac(algorithm, SECRET).update(text).digest('hex')}`;

  it.each([
    ['wrong twice', `t=${T},v1=${WRONG},v1=${WRONG}`],
    ['made without the dot', macBy('sha256', `${T}${BODY}`)],
    ['made over another t', `t=${Number(T) + 1},v1=${GOOD}`],
    ...['sha3-256', 'sha512-256', 'blake2s256'].map((algorithm) => [`made by ${algorithm}`, macBy(algorithm)]),
  ])('a v1 that is %s is refused', async (_, value) => {
    expect(await verdictOf(value)).toBe('signature_mismatch');
  });
});

describe('the error of a malformed header', () => {
  it.each<[string, unknown]>([
    ['came more than once', [`t=${T},v1=${GOOD}`, `t=${T},v1=${GOOD}`]],
    ['is longer than 4096 characters', `t=${T},v1=${GOOD},x=${'x'.repeat(4_096)}`],
    ['has 2 elements t=', `t=${T},t=${T},v1=${GOOD}`],
    ['has 0 elements t=', `v1=${GOOD}`],
    ['has a t= that is not Unix seconds', `t=1e9,v1=${GOOD}`],
    ['has an element that is not name=value', `t=${T},v1=${GOOD},x`],
    ['has white space', `t=${T}, v1=${GOOD}`],
    ['has white space', `t=${T},v1=a b,v1=${GOOD}`],
    ['has more than 32 elements', `t=${T}${',x='.repeat(32)}`],
    ['has more than 8 elements v1=', `t=${T}${`,v1=${GOOD}`.repeat(9)}`],
    ['has no v1= of 64 lowercase hex digits', `t=${T},v1=`],
  ])('the error message says that the header %s', (fault, value) => {
    expect(refusal(() => verify(withHeader(value))).message).toContain(`The x-service-signature-v2 header ${fault}.`);
  });

  it.each<[string, string | string[]]>([
    ['is not sha256= and 64 hex digits', 'sha256='],
    ['came more than once', ['sha256=', 'sha256=']],
  ])('the error message of a malformed legacy header names that header: %s', (says, value) => {
    const headers = { 'x-service-signature': value };
    const error = refusal(() => verify({ headers, body: BODY, secret: SECRET, now, legacy: 'accept' }));
    expect(error.message).toContain(`The x-service-signature header ${says}.`);
  });
});

describe('the value of the legacy header', () => {
  const mac = createHmac('sha256', SECRET).update(BODY).digest('hex');
  const verdictOfLegacy = (value: unknown) =>
    agreed({ ...withHeader(undefined), headers: { 'x-service-signature': value as string }, legacy: 'accept' });

  it('sha256= and 64 hex digits in either case are accepted', async () => {
    expect(await verdictOfLegacy(`sha256=${mac}`)).toBe('legacy');
    expect(await verdictOfLegacy(`sha256=${mac.toUpperCase()}`)).toBe('legacy');
    expect(await verdictOfLegacy(`sha256=${WRONG}`)).toBe('signature_mismatch');
  });

  it.each<[string, unknown]>([
    ['empty', ''],
    ['the bare MAC', mac],
    ['empty behind the name', 'sha256='],
    ['truncated', `sha256=${mac.slice(1)}`],
    ['overlong', `sha256=${mac}0`],
    ['with an upper-case name', `SHA256=${mac}`],
    ['of another algorithm', `sha1=${mac}`],
    ['without =', `sha256${mac}`],
    ['with white space in front', ` sha256=${mac}`],
    ['with white space behind', `sha256=${mac} `],
    ['with white space between', `sha256= ${mac}`],
    ['with a line feed behind', `sha256=${mac}\n`],
    ['twice, joined', `sha256=${mac}, sha256=${mac}`],
    ['a list of one', [`sha256=${mac}`]],
    ['a number', 42],
    ['of the V2 grammar', `t=${T},v1=${GOOD}`],
  ])('a malformed header is refused: %s', async (_, value) => {
    expect(await verdictOfLegacy(value)).toBe(MALFORMED);
  });
});

describe('the function sign', () => {
  const v2 = { 'x-service-signature-v2': `t=${T},v1=${GOOD}` };
  const legacy = { 'x-service-signature': `sha256=${createHmac('sha256', SECRET).update(BODY).digest('hex')}` };
  const both = { ...v2, ...legacy };
  const input = { body: BODY, secret: SECRET, at: NOW };
  const bytes = (text: string) => new TextEncoder().encode(text);

  it.each<[string, Partial<SignInput>, object]>([
    ['both headers', {}, both],
    ['both headers on request', { scheme: 'both' }, both],
    ['the V2 header alone', { scheme: 'v2' }, v2],
    ['the legacy header alone', { scheme: 'legacy' }, legacy],
    ['the same for bytes', { body: bytes(BODY) }, both],
    ['the same for a Buffer', { body: Buffer.from(BODY) }, both],
    ['the same for an ArrayBuffer', { body: bytes(BODY).buffer }, both],
    ['the same for a secret of bytes', { secret: bytes(SECRET) }, both],
    ['the same for the whole second', { at: NOW + 999 }, both],
  ])('the result has %s', (_, changes, expected) => {
    expect(sign({ ...input, ...changes })).toEqual(expected);
  });

  it('the time 0 is signed as t=0', () => {
    expect(sign({ ...input, at: 0, scheme: 'v2' })['x-service-signature-v2']).toMatch(/^t=0,/);
  });

  it('verify accepts a delivery that is signed without options', () => {
    const undefinedOptions = { at: undefined, scheme: undefined, headerPrefix: undefined };
    const headers = sign({ body: BODY, secret: SECRET, ...undefinedOptions });
    expect(verify({ headers, body: BODY, secret: SECRET }).scheme).toBe('v2');
    expect(Object.keys(headers)).toEqual(Object.keys(both));
  });

  it.each<[string, Partial<Record<keyof SignInput, unknown>>, string]>([
    ['a time that is no number', { at: Number.NaN }, 'invalid_option'],
    ['a time before the epoch', { at: -1 }, 'invalid_option'],
    ['a time of more than twelve digits', { at: 1e15 }, 'invalid_option'],
    ['an unending time', { at: Number.POSITIVE_INFINITY }, 'invalid_option'],
    ['a scheme that does not exist', { scheme: 'v3' }, 'invalid_option'],
    ['an unusable header prefix', { headerPrefix: 'x y' }, 'invalid_option'],
    ['an empty secret', { secret: '' }, 'invalid_secret'],
    ['no secret', { secret: undefined }, 'invalid_secret'],
    ['a body that is an object', { body: {} }, 'body_already_parsed'],
    ['no body', { body: undefined }, 'body_already_parsed'],
  ])('sign() with %s is refused', (_, changes, code) => {
    expect(refusal(() => sign({ ...input, ...changes } as SignInput)).code).toBe(code);
  });

  it('sign() without its input is refused', () => {
    const { message } = refusal(() => sign(undefined as never));
    expect(message).toContain('the argument of sign() must be an object, but is undefined.');
  });

  it.each([
    ['at must be milliseconds since the epoch.', { at: Number.NaN }],
    ["scheme must be 'v2' or 'legacy' or 'both', but is 'v3'.", { scheme: 'v3' }],
    ["Unknown option 'headerprefix' in sign(). Did you mean 'headerPrefix'?", { headerprefix: 'x' }],
  ])('the error message says what to fix: %s', (problem, changes) => {
    expect(refusal(() => sign({ ...input, ...changes } as SignInput)).message).toContain(problem);
  });
});
