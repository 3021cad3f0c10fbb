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

/** Every form in which a caller may have the headers, each made anew. */
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

describe('the headers', () => {
  it.each(FORMS)('the headers of a request may be %s', (_, headers) => {
    const { scheme, unsigned } = verifyWith(headers());
    expect(scheme).toBe('v2');
    expect(unsigned.idempotencyKey).toBe('key-1');
  });

  it.each(FORMS)('reach the receiver as %s too', async (_, headers) => {
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
  ])('the headers of a request are refused as no headers at all where they are %s', async (_, headers) => {
    expect(await verdictOn(headers)).toBe('invalid_option');
    expect(refusal(() => verifyWith(headers as HeaderSource)).message).toContain('headers must be');
  });

  it('the headers of a request are refused where a name is no text', async () => {
    for (const name of [undefined, null, 7, Symbol('x'), ['x'], { length: 22 }]) {
      expect(['v2', 'invalid_option']).toContain(await verdictOn([[name, 'x'], ...PAIRS]));
    }
  });

  it('the headers of a request are refused with the cause where reading them throws', () => {
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

  it('the headers of a request may be empty, which is no signature', async () => {
    for (const headers of [{}, [], new Headers(), new Map()])
      expect(await verdictOn(headers)).toBe('missing_signature');
  });
});

describe('a signature header', () => {
  it('a signature header that is undefined or null is absent', async () => {
    for (const value of [undefined, null]) {
      expect(await verdictOn({ 'x-service-signature-v2': value })).toBe('missing_signature');
      expect(await verdictOn([['x-service-signature-v2', value]])).toBe('missing_signature');
    }
  });

  it('a signature header that is absent in one spelling and there in another is read', async () => {
    for (const value of [undefined, null]) {
      expect(await verdictOn({ 'X-Service-Signature-V2': value, ...signed })).toBe('v2');
      expect(await verdictOn([['X-Service-Signature-V2', value], ...PAIRS])).toBe('v2');
    }
  });

  it('a signature header that is a list is refused, whatever is in it', async () => {
    for (const value of [[SIGNATURE], [SIGNATURE, SIGNATURE], [], ['']]) {
      expect(await verdictOn({ 'x-service-signature-v2': value })).toBe('malformed_signature');
    }
  });

  it('a signature header in two spellings is refused, in whichever form they came', async () => {
    const forms: unknown[] = [
      { 'x-service-signature-v2': SIGNATURE, 'X-Service-Signature-V2': SIGNATURE },
      { 'X-Service-Signature-V2': SIGNATURE, 'x-service-signature-v2': 'forged' },
      { 'x-service-signature-v2': SIGNATURE, 'X-Service-Signature-V2': '' },
      [...PAIRS, ['x-service-signature-v2', '']],
      [['x-service-signature-v2', ''], ...PAIRS],
      [...PAIRS, ['X-SERVICE-SIGNATURE-V2', SIGNATURE]],
      new Map([...PAIRS, ['X-SERVICE-SIGNATURE-V2', SIGNATURE]]),
      new Headers([...PAIRS, ['X-SERVICE-SIGNATURE-V2', SIGNATURE]]),
    ];
    for (const headers of forms) expect(await verdictOn(headers)).toBe('malformed_signature');
  });

  it('a signature header is found whatever else is there, also next to names that look like methods', async () => {
    expect(await verdictOn({ get: 'x', append: 'y', entries: 'z', forEach: 'w', ...signed })).toBe('v2');
  });

  it('a signature header is not found under a name of which it is only a part, or that only looks alike', async () => {
    for (const name of [
      'x-service-signature-v22',
      'xx-service-signature-v2',
      'x-service-signature-v2 ',
      'x_service_signature_v2',
    ]) {
      expect(await verdictOn({ [name]: SIGNATURE })).toBe('missing_signature');
    }
    // U+017F lower-cases to itself and upper-cases to S; the Kelvin sign lower-cases to k.
    expect(await verdictOn({ 'x-\u017fervice-signature-v2': SIGNATURE })).toBe('missing_signature');
  });

  it('a signature header that is missing is told apart from one that is malformed', async () => {
    expect(await verdictOn({ 'x-service-timestamp': `${NOW / 1000}` })).toBe('missing_signature');
    expect(await verdictOn({ 'x-service-signature-v2': '' })).toBe('malformed_signature');
  });
});

describe('before the body is read', () => {
  const answerTo = async (request: Partial<WebhookRequest>, options?: Parameters<typeof aReceiver>[0]) => {
    const response = await aReceiver(options).receiver({ ...aRequest(), ...request });
    return { response, short: inShort(response) };
  };

  it.each(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'post', 'Post', ' POST', 'POST ', '', 'constructor'])(
    'the method %j is refused, and POST is named as the one that is allowed',
    async (method) => {
      const { response, short } = await answerTo({ method });
      expect(short).toBe('405 method_not_allowed');
      expect(response.headers).toMatchObject({ allow: 'POST' });
    },
  );

  it('a method that is no text is refused', async () => {
    for (const method of [undefined, null, ['POST']]) {
      expect((await answerTo({ method: method as unknown as string })).short).toBe('405 method_not_allowed');
    }
  });

  const withHeader = (name: string, value: unknown) => ({ headers: { ...signed, [name]: value } as HeaderSource });

  it.each(['gzip', 'br', 'deflate', 'zstd', 'gzip, identity', 'identity, gzip', 'identity,identity', 'utf-8', '*'])(
    'the content encoding %j is refused: the signature is over the bytes of the wire',
    async (encoding) => {
      expect((await answerTo(withHeader('content-encoding', encoding))).short).toBe('415 unsupported_content_encoding');
    },
  );

  it.each(['identity', 'IDENTITY', '', undefined])('the content encoding %j is accepted', async (encoding) => {
    expect((await answerTo(withHeader('Content-Encoding', encoding))).short).toBe('200 handled');
  });

  it('a repeated content encoding is refused', async () => {
    expect((await answerTo(withHeader('content-encoding', ['gzip']))).short).toBe('415 unsupported_content_encoding');
  });

  it('a declared length over the cap is refused, one at the cap is not', async () => {
    const length = Buffer.byteLength(body);
    const withLength = (value: string) => answerTo(withHeader('content-length', value), { maxBodyBytes: length });
    expect((await withLength(`${length}`)).short).toBe('200 handled');
    expect((await withLength(`${length + 1}`)).short).toBe('413 body_too_large');
    expect((await withLength('9'.repeat(400))).short).toBe('413 body_too_large');
  });

  it.each(['', 'abc', '-1', '9'.repeat(9).concat('x'), '99999999, 1'])(
    'a declared length of %j says nothing: the bytes are counted',
    async (value) => {
      expect((await answerTo(withHeader('content-length', value))).short).toBe('200 handled');
    },
  );

  it('the signature header and its time are answered, whether the body ever comes or not', async () => {
    const silent: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => ({ next: never }) };
    const answers = [
      { headers: {} },
      withHeader('x-service-signature-v2', 'nonsense'),
      aRequest({ at: NOW - 301_000 }),
      aRequest({ at: NOW + 301_000 }),
      aRequest({ scheme: 'legacy' }),
      { method: 'GET' },
      withHeader('content-length', '999999999'),
    ].map((parts) => answerTo({ ...parts, body: silent }));
    expect((await Promise.all(answers)).map(({ short }) => short)).toEqual([
      '401 missing_signature',
      '401 malformed_signature',
      '401 timestamp_too_old',
      '401 timestamp_in_future',
      '401 legacy_not_accepted',
      '405 method_not_allowed',
      '413 body_too_large',
    ]);
  });

  it('nobody asks for a secret where the headers refuse', async () => {
    const secret = vi.fn(async () => [SECRET]);
    await answerTo({ headers: {} }, { secret });
    await answerTo(aRequest({ at: NOW - 301_000 }), { secret });
    expect(secret).not.toHaveBeenCalled();
  });

  it('the method is looked at before the encoding, the encoding before the length, the length before the signature', async () => {
    const all = { 'content-encoding': 'gzip', 'content-length': '999999999' };
    expect((await answerTo({ method: 'GET', headers: all })).short).toBe('405 method_not_allowed');
    expect((await answerTo({ headers: all })).short).toBe('415 unsupported_content_encoding');
    expect((await answerTo({ headers: { 'content-length': '999999999' } })).short).toBe('413 body_too_large');
    expect((await answerTo({ headers: {} })).short).toBe('401 missing_signature');
  });
});
