import { type HeaderSource, type VerifyInput, verify, verifyAsync, type WebhookRequest } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import {
  aDelivery,
  aReceiver,
  aRequest,
  bodyOf,
  inShort,
  NOW,
  never,
  now,
  refusal,
  SECRET,
  verdict,
} from '../support/deliveries.js';

const { headers: signed } = aDelivery({ headers: { 'Idempotency-Key': 'key-1' }, scheme: 'v2' });
const body = bodyOf();
const SIGNATURE = signed['x-service-signature-v2'] as string;
const PAIRS = Object.entries(signed) as [string, string][];

const verifyWith = (headers: HeaderSource) => verify({ headers, body, secret: SECRET, now });

/** What verify says, which the receiver has to agree with. */
async function verdictOn(headers: unknown): Promise<string> {
  const input = { headers, body, secret: SECRET, now } as VerifyInput;
  const [first, second] = await Promise.all([verdict(() => verify(input)), verdict(() => verifyAsync(input))]);
  expect(second).toBe(first);
  const response = await aReceiver().receiver({ method: 'POST', headers: headers as HeaderSource, body });
  expect(inShort(response)).toContain(first === 'v2' ? '200 handled' : first);
  return first;
}

/** Every form in which a caller may have the headers. */
const FORMS: [string, () => HeaderSource][] = [
  [
    'a record in lower case, as Node gives it',
    () => ({ ...signed, host: 'x', 'set-cookie': ['a', 'b'], via: undefined }),
  ],
  ['a record in upper case', () => Object.fromEntries(PAIRS.map(([name, value]) => [name.toUpperCase(), value]))],
  ['a record without a prototype', () => Object.assign(Object.create(null), signed)],
  ['a Headers', () => new Headers(signed)],
  [
    'a Headers of which one can ask and no more',
    () => ({ get: (name: string) => new Headers(signed).get(name), append() {} }),
  ],
  ['a Map', () => new Map(PAIRS)],
  ['an array of pairs', () => PAIRS],
  ['an iterable of its own', () => ({ [Symbol.iterator]: () => PAIRS[Symbol.iterator]() })],
  ['an iterator, which can be walked only once', () => new Headers(signed).entries()],
  [
    'a generator, which can be walked only once',
    () =>
      (function* () {
        yield* PAIRS;
      })(),
  ],
];

describe('the headers of a request given to verify', () => {
  it.each(FORMS)('verify and a receiver read %s', async (_, headers) => {
    const { scheme, unsigned } = verifyWith(headers());
    expect(scheme).toBe('v2');
    expect(unsigned.idempotencyKey).toBe('key-1');
    const { receiver, find } = aReceiver();
    expect(inShort(await receiver({ method: 'POST', headers: headers(), body }))).toBe('200 handled');
    expect(find('handled').delivery.unsigned.idempotencyKey).toBe('key-1');
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['text', `x-service-signature-v2: ${SIGNATURE}`],
    ['a number', 1],
    ['rawHeaders, which is flat', PAIRS.flat()],
    ['a list with nothing in it where a pair should be', [undefined, ...PAIRS]],
    ['a list of objects', PAIRS.map(([name, value]) => ({ name, value }))],
    ['a Set of names', new Set(PAIRS.map(([name]) => name))],
  ])('%s is refused in place of headers', async (_, headers) => {
    expect(await verdictOn(headers)).toBe('invalid_option');
    expect(refusal(() => verifyWith(headers as HeaderSource)).message).toContain('headers must be');
  });

  it.each([undefined, null, 7, Symbol('x'), ['x'], { length: 22 }])(
    'a header name that is no text is skipped or refused, and verify throws nothing else: %o',
    async (name) => {
      expect(['v2', 'invalid_option']).toContain(await verdictOn([[name, 'x'], ...PAIRS]));
    },
  );

  it('headers are listed once, and only those that count are read, each once', () => {
    const read: PropertyKey[] = [];
    let listed = 0;
    const headers = new Proxy<Record<string, string>>(
      { ...signed, host: 'x', 'x-other': 'y' },
      {
        ownKeys: (target) => {
          listed += 1;
          return Reflect.ownKeys(target);
        },
        get: (target, name) => {
          if (typeof name === 'string' && Object.hasOwn(target, name)) read.push(name);
          return Reflect.get(target, name);
        },
      },
    );
    verifyWith(headers);
    expect(listed).toBe(1);
    expect(read.toSorted()).toEqual(['Idempotency-Key', 'x-service-signature-v2']);
  });

  it('headers that throw when they are read are refused, with the cause', () => {
    const cause = new Error('a trap');
    const trap = () => {
      throw cause;
    };
    for (const headers of [
      Object.defineProperty({}, 'x-service-signature-v2', { get: trap, enumerable: true }),
      { [Symbol.iterator]: trap },
    ]) {
      expect(refusal(() => verifyWith(headers as HeaderSource))).toMatchObject({ code: 'invalid_option', cause });
    }
  });

  it.each([{}, [], new Headers(), new Map()])(
    'empty headers are refused as without a signature: %o',
    async (headers) => {
      expect(await verdictOn(headers)).toBe('missing_signature');
    },
  );
});

describe('verify with a signature header', () => {
  const NAME = 'x-service-signature-v2';
  const UPPER = 'X-SERVICE-SIGNATURE-V2';

  it.each<[string, string, unknown]>([
    ['missing_signature', 'undefined', { [NAME]: undefined }],
    ['missing_signature', 'undefined in a pair', [[NAME, undefined]]],
    ['missing_signature', 'null', { [NAME]: null }],
    ['missing_signature', 'null in a pair', [[NAME, null]]],
    ['missing_signature', 'another header alone', { 'x-service-timestamp': `${NOW / 1000}` }],
    ['missing_signature', 'a longer name', { [`${NAME}2`]: SIGNATURE }],
    ['missing_signature', 'a name with a letter in front', { [`x${NAME}`]: SIGNATURE }],
    ['missing_signature', 'a name with a space behind', { [`${NAME} `]: SIGNATURE }],
    ['missing_signature', 'a name with underscores', { x_service_signature_v2: SIGNATURE }],
    // U+017F lower-cases to itself and upper-cases to S; the Kelvin sign lower-cases to k.
    ['missing_signature', 'a name that only looks alike', { 'x-\u017fervice-signature-v2': SIGNATURE }],
    ['malformed_signature', 'an empty text', { [NAME]: '' }],
    ['malformed_signature', 'a list of one', { [NAME]: [SIGNATURE] }],
    ['malformed_signature', 'a list of two', { [NAME]: [SIGNATURE, SIGNATURE] }],
    ['malformed_signature', 'an empty list', { [NAME]: [] }],
    ['malformed_signature', 'a list of an empty text', { [NAME]: [''] }],
    ['malformed_signature', 'two spellings', { [NAME]: SIGNATURE, [UPPER]: SIGNATURE }],
    ['malformed_signature', 'a forged second spelling', { [UPPER]: SIGNATURE, [NAME]: 'forged' }],
    ['malformed_signature', 'an empty second spelling', { [NAME]: SIGNATURE, [UPPER]: '' }],
    ['malformed_signature', 'an empty second pair', [...PAIRS, [NAME, '']]],
    ['malformed_signature', 'an empty first pair', [[NAME, ''], ...PAIRS]],
    ['malformed_signature', 'five pairs', [...PAIRS, ...PAIRS, ...PAIRS, ...PAIRS, ...PAIRS]],
    ['malformed_signature', 'two pairs', [...PAIRS, [UPPER, SIGNATURE]]],
    ['malformed_signature', 'two entries of a Map', new Map([...PAIRS, [UPPER, SIGNATURE]])],
    ['malformed_signature', 'two entries of a Headers', new Headers([...PAIRS, [UPPER, SIGNATURE]])],
    ['v2', 'undefined in another spelling', { [UPPER]: undefined, ...signed }],
    ['v2', 'undefined in another pair', [[UPPER, undefined], ...PAIRS]],
    ['v2', 'null in another spelling', { [UPPER]: null, ...signed }],
    ['v2', 'null in another pair', [[UPPER, null], ...PAIRS]],
    ['v2', 'names that look like methods', { get: 'x', append: 'y', entries: 'z', forEach: 'w', ...signed }],
  ])('the verdict is %s where the header is %s', async (expected, _, headers) => {
    expect(await verdictOn(headers)).toBe(expected);
  });
});

describe('a request that a receiver refuses before it reads the body', () => {
  const answerTo = async (request: Partial<WebhookRequest>, options?: Parameters<typeof aReceiver>[0]) =>
    inShort(await aReceiver(options).receiver({ ...aRequest(), ...request }));
  const withHeader = (name: string, value: unknown) => ({ headers: { ...signed, [name]: value } as HeaderSource });
  const methods = ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'post', 'Post', ' POST', 'POST ', ''];

  it.each([...methods, 'constructor', undefined, null, ['POST']])('the method %j is refused', async (method) => {
    const response = await aReceiver().receiver({ ...aRequest(), method: method as string });
    expect(inShort(response)).toBe('405 method_not_allowed');
    expect(response.headers).toMatchObject({ allow: 'POST' });
  });

  const encodings = ['gzip', 'br', 'deflate', 'zstd', 'gzip, identity', 'identity, gzip', 'identity,identity', 'utf-8'];

  it.each([...encodings, '*', ['gzip']])('the content encoding %j is refused', async (encoding) => {
    expect(await answerTo(withHeader('content-encoding', encoding))).toBe('415 unsupported_content_encoding');
  });

  it.each(['identity', 'IDENTITY', '', undefined])('the content encoding %j is accepted', async (encoding) => {
    expect(await answerTo(withHeader('Content-Encoding', encoding))).toBe('200 handled');
  });

  const length = Buffer.byteLength(body);

  it.each([
    [`${length}`, '200 handled'],
    [`${length + 1}`, '413 body_too_large'],
    ['', '200 handled'],
    ['abc', '200 handled'],
    ['-1', '200 handled'],
    ['999999999x', '200 handled'],
    ['99999999, 1', '200 handled'],
  ])('a Content-Length of %j is answered with %s', async (declared, expected) => {
    expect(await answerTo(withHeader('content-length', declared), { maxBodyBytes: length })).toBe(expected);
  });

  it('a Content-Length of 400 digits is answered with 413', async () => {
    expect(await answerTo(withHeader('content-length', '9'.repeat(400)))).toBe('413 body_too_large');
  });

  it.each<[string, Partial<WebhookRequest>]>([
    ['401 missing_signature', { headers: {} }],
    ['401 malformed_signature', withHeader('x-service-signature-v2', 'nonsense')],
    ['401 timestamp_too_old', aRequest({ at: NOW - 301_000 })],
    ['401 timestamp_in_future', aRequest({ at: NOW + 301_000 })],
    ['401 legacy_not_accepted', aRequest({ scheme: 'legacy' })],
    ['405 method_not_allowed', { method: 'GET' }],
    ['413 body_too_large', withHeader('content-length', '999999999')],
  ])('the answer %s needs neither the body nor the secret', async (expected, request) => {
    const secret = vi.fn(async () => [SECRET]);
    const silent: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => ({ next: never }) };
    expect(await answerTo({ ...request, body: silent }, { secret })).toBe(expected);
    expect(secret).not.toHaveBeenCalled();
  });

  it('the method is checked first, then the encoding, the length and the signature', async () => {
    const all = { 'content-encoding': 'gzip', 'content-length': '999999999' };
    expect(await answerTo({ method: 'GET', headers: all })).toBe('405 method_not_allowed');
    expect(await answerTo({ headers: all })).toBe('415 unsupported_content_encoding');
    expect(await answerTo({ headers: { 'content-length': '999999999' } })).toBe('413 body_too_large');
    expect(await answerTo({ headers: {} })).toBe('401 missing_signature');
  });
});
