import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as onNode from '../src/index.js';
import { aDelivery, aRequest, bodyOf, inShort, NOW, now, SECRET, verdict } from './support/deliveries.js';

const bytes = (text: string) => new TextEncoder().encode(text);

/** The library as it is where there is no node:crypto. */
async function onTheWeb() {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  vi.resetModules();
  return { ...(await import('../src/index.js')), ...(await import('../src/hmac.js')) };
}

/** And where there is one that does not hash in one call. */
async function withoutHash() {
  const crypto = Object.create(process.getBuiltinModule('node:crypto'), { hash: { value: undefined } });
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(crypto);
  vi.resetModules();
  return import('../src/hmac.js');
}

afterEach(() => {
  vi.resetModules();
});

describe('HMAC-SHA256', () => {
  // RFC 4231, cases 1 to 4 and 6, 7: short and long keys and data.
  const VECTORS: [key: string, data: string, mac: string][] = [
    ['0b'.repeat(20), '4869205468657265', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      '4a656665',
      '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    ['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
    [
      '0102030405060708090a0b0c0d0e0f10111213141516171819',
      'cd'.repeat(50),
      '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
    ],
    [
      'aa'.repeat(131),
      Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First').toString('hex'),
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
    [
      'aa'.repeat(131),
      Buffer.from(
        'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
      ).toString('hex'),
      '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
    ],
  ];

  it.each(VECTORS)('is right by RFC 4231, on both APIs: key %s', async (key, data, mac) => {
    const { hmacSync, hmacAsync } = await import('../src/hmac.js');
    const hmacKey = () => ({ bytes: new Uint8Array(Buffer.from(key, 'hex')) });
    const body = new Uint8Array(Buffer.from(data, 'hex'));
    expect(hmacSync(hmacKey(), '', body)).toBe(mac);
    expect(await hmacAsync(hmacKey(), '', body)).toBe(mac);
  });

  it('covers the prefix and the body, in this order, and uses a key again', async () => {
    const { hmacSync, hmacAsync } = await import('../src/hmac.js');
    const key = { bytes: bytes(SECRET) };
    const expected = createHmac('sha256', SECRET).update('12.body').digest('hex');
    for (let i = 0; i < 2; i++) {
      expect(hmacSync(key, '12.', bytes('body'))).toBe(expected);
      expect(await hmacAsync(key, '12.', bytes('body'))).toBe(expected);
    }
  });

  it.each([
    ['a node:crypto with hash()', () => import('../src/hmac.js')],
    ['one without', withoutHash],
  ])('is the one of an Hmac object at every length of key and body, on %s', async (_, load) => {
    const { hmacSync } = await load();
    for (const keyLength of [1, 32, 63, 64, 65, 200]) {
      const key = { bytes: new Uint8Array(keyLength).fill(keyLength) };
      // Down again too: what is left of a longer body is no part of a shorter one.
      for (const length of [0, 1, 63, 64, 16_384, 16_385, 65, 16_383, 20_000, 2]) {
        const body = new Uint8Array(length).map((__, i) => i);
        for (const prefix of ['', '0.', '999999999999.']) {
          const expected = createHmac('sha256', key.bytes).update(prefix).update(body).digest('hex');
          expect(hmacSync(key, prefix, body)).toBe(expected);
        }
      }
    }
  });

  it("leaves nothing of a key in Node's pool of Buffers, where anybody may find it", async () => {
    const { hmacSync } = await import('../src/hmac.js');
    const key = { bytes: new Uint8Array(32).fill(0xa7) };
    for (let i = 0; i < 100; i++) hmacSync(key, '1.', bytes('body'));
    const pool = new Uint8Array(Buffer.allocUnsafe(1).buffer);
    for (const byte of [0xa7, 0xa7 ^ 0x36, 0xa7 ^ 0x5c]) {
      expect(Buffer.from(pool).includes(Buffer.alloc(32, byte))).toBe(false);
    }
  });

  it('is of the part of a buffer that the body is', async () => {
    const { hmacSync, hmacAsync } = await import('../src/hmac.js');
    const view = bytes('..body..').subarray(2, 6);
    const expected = createHmac('sha256', SECRET).update('body').digest('hex');
    expect(hmacSync({ bytes: bytes(SECRET) }, '', view)).toBe(expected);
    expect(await hmacAsync({ bytes: bytes(SECRET) }, '', view)).toBe(expected);
  });
});

describe.each([
  ['node:crypto', () => import('../src/hmac.js')],
  ['a node:crypto without hash()', withoutHash],
  ['WebCrypto', onTheWeb],
])('on %s', (_, load) => {
  it('two MACs are equal only where every digit is', async () => {
    const { equalMacs } = await load();
    const mac = createHash('sha256').update('x').digest('hex');
    expect(equalMacs(mac, `${mac.slice(0, 32)}${mac.slice(32)}`)).toBe(true);
    for (let i = 0; i < 64; i++) {
      for (const digit of '0123456789abcdef'.replace(mac[i] as string, '')) {
        expect(equalMacs(mac, mac.slice(0, i) + digit + mac.slice(i + 1))).toBe(false);
      }
    }
  });

  it('what has not 64 digits is equal to nothing, not even to itself', async () => {
    const { equalMacs } = await load();
    for (const mac of ['', 'ab'.repeat(31), 'ab'.repeat(33)]) {
      expect(equalMacs(mac, mac)).toBe(false);
      expect(equalMacs(mac, 'ab'.repeat(32))).toBe(false);
      expect(equalMacs('ab'.repeat(32), mac)).toBe(false);
    }
  });

  it('a fingerprint is SHA-256 in hex', async () => {
    const { fingerprint } = await load();
    for (const text of ['', 'evt_1', 'Grüße 🎧', ...Array.from({ length: 50 }, (__, i) => `text ${i}`)]) {
      const expected = createHash('sha256').update(text).digest('hex');
      expect(await fingerprint(text)).toBe(expected);
      expect(await fingerprint(bytes(text))).toBe(expected);
    }
    expect(await fingerprint(bytes('..evt_1..').subarray(2, 7))).toBe(await fingerprint('evt_1'));
  });
});

describe('on node:crypto', () => {
  it('works without waiting', async () => {
    expect((await import('../src/hmac.js')).hasSyncCrypto).toBe(true);
  });

  it('takes an Hmac object only where the body is long enough for it, or the key longer than a block', async () => {
    const { hmacSync } = await import('../src/hmac.js');
    const create = vi.spyOn(process.getBuiltinModule('node:crypto'), 'createHmac');
    const made = (keyLength: number, bodyLength: number) => {
      create.mockClear();
      hmacSync({ bytes: new Uint8Array(keyLength) }, '1.', new Uint8Array(bodyLength));
      return create.mock.calls.length;
    };
    expect([made(32, 300), made(64, 16_384), made(65, 300), made(32, 16_385)]).toEqual([0, 0, 1, 1]);
  });

  it('it is node:crypto that compares two MACs', async () => {
    const { equalMacs } = await import('../src/hmac.js');
    const compare = vi.spyOn(process.getBuiltinModule('node:crypto'), 'timingSafeEqual');
    expect(equalMacs('ab'.repeat(32), 'ab'.repeat(32))).toBe(true);
    expect(compare).toHaveBeenCalledOnce();
  });
});

describe('without node:crypto', () => {
  it('a prepared key cannot be read back', async () => {
    const { hmacAsync } = await onTheWeb();
    const key: Parameters<typeof hmacAsync>[0] = { bytes: bytes(SECRET) };
    await hmacAsync(key, '', bytes('body'));
    expect((await key.web)?.extractable).toBe(false);
  });

  it('what needs it says so, and says what to use instead', async () => {
    const web = await onTheWeb();
    expect(web.hasSyncCrypto).toBe(false);
    const input = { ...aDelivery(), secret: SECRET, now };
    for (const call of [
      () => web.verify(input),
      () => web.verifySignature(input),
      () => web.sign({ body: bodyOf(), secret: SECRET }),
    ]) {
      expect(call).toThrow(
        expect.objectContaining({ code: 'sync_crypto_unavailable', hint: expect.stringContaining('verifyAsync') }),
      );
    }
  });

  it('what headers and options decide is still told first', async () => {
    const web = await onTheWeb();
    expect(() => web.verify({ headers: {}, body: '', secret: SECRET })).toThrow(
      expect.objectContaining({ code: 'missing_signature' }),
    );
    expect(() => web.verify({ headers: {}, body: '', secret: '' })).toThrow(
      expect.objectContaining({ code: 'invalid_secret' }),
    );
  });

  const wrong = 'whsec_wrong';
  const inputs: [string, Partial<onNode.VerifyInput>][] = [
    ['a good delivery', {}],
    ['bytes for a body', { body: bytes(bodyOf()) }],
    ['bytes for a secret', { secret: bytes(SECRET) }],
    ['the second of two secrets', { secret: [wrong, SECRET] }],
    ['a wrong secret', { secret: wrong }],
    ['two wrong secrets', { secret: [wrong, wrong] }],
    ['another body', { body: 'x' }],
    ['no header', { headers: {} }],
    ['a malformed header', { headers: { 'x-service-signature-v2': 't=1' } }],
    ['a late one', { now: () => NOW + 301_000 }],
    ['an early one', { now: () => NOW - 301_000 }],
    ['a legacy one', aDelivery({ scheme: 'legacy' })],
    ['a legacy one, accepted', { ...aDelivery({ scheme: 'legacy' }), legacy: 'accept' }],
    ['a legacy one, accepted but old', { ...aDelivery({ scheme: 'legacy' }), legacy: 'accept', now: () => NOW + 2e7 }],
    ['no UTF-8', aDelivery({ body: Uint8Array.of(0xff) })],
    ['no JSON', aDelivery({ body: 'x' })],
    ['no envelope', aDelivery({ body: '{}' })],
    ['a parsed body', { body: {} as string }],
    ['an empty secret', { secret: '' }],
    ['a wrong option', { toleranceSeconds: 0 }],
  ];

  it.each(inputs)('verifyAsync says what verify says with it: %s', async (_, changes) => {
    const input: onNode.VerifyInput = { ...aDelivery(), secret: SECRET, now, ...changes };
    const expected = await verdict(() => onNode.verify(input));
    const web = await onTheWeb();
    expect(await verdict(() => web.verifyAsync(input))).toBe(expected);
  });

  it('a receiver works all the same', async () => {
    const web = await onTheWeb();
    const handler = vi.fn();
    const receiver = web.createReceiver({ secret: [wrong, SECRET], now, on: { '*': handler } });
    const request = aRequest({ headers: { 'idempotency-key': 'key-1' } });
    expect(inShort(await receiver(request))).toBe('200 handled');
    expect(inShort(await receiver(request))).toBe('200 duplicate');
    expect(inShort(await receiver(aRequest({ secret: 'whsec_other' })))).toBe('401 signature_mismatch');
    expect(handler.mock.calls[0]?.[1].delivery).toMatchObject({ scheme: 'v2', secretIndex: 1 });
    expect(handler).toHaveBeenCalledOnce();
  });

  it.each<[string, object | undefined]>([
    ['no process, as in a browser or a worker', undefined],
    // With what the test runner itself needs.
    ['one without modules and environment, as bundlers put it there', { nextTick: process.nextTick }],
  ])('is also where there is %s', async (_, process) => {
    await new Promise(setImmediate); // until then the test runner itself needs a process
    vi.stubGlobal('process', process);
    vi.resetModules();
    try {
      const web = await import('../src/index.js');
      expect(() => web.createReceiver({ secret: SECRET })).not.toThrow();
      expect((await web.verifyAsync({ ...aDelivery(), secret: SECRET, now })).scheme).toBe('v2');
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
