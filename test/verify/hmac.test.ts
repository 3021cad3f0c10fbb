import { createHash, createHmac } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as onNode from '../../src/index.js';
import { aDelivery, aRequest, bodyOf, inShort, NOW, now, SECRET, verdict } from '../support/deliveries.js';

const bytes = (text: string) => new TextEncoder().encode(text);

/** The library as it is where there is no node:crypto. */
async function onTheWeb() {
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  vi.resetModules();
  return { ...(await import('../../src/index.js')), ...(await import('../../src/verify/hmac.js')) };
}

/** And where there is one that does not hash in one call. */
async function withoutHash() {
  const crypto = Object.create(process.getBuiltinModule('node:crypto'), { hash: { value: undefined } });
  vi.spyOn(process, 'getBuiltinModule').mockReturnValue(crypto);
  vi.resetModules();
  return import('../../src/verify/hmac.js');
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

  it.each(VECTORS)('node:crypto and WebCrypto give the MAC of RFC 4231 for the key %s', async (key, data, mac) => {
    const { hmacSync, hmacAsync } = await import('../../src/verify/hmac.js');
    const hmacKey = () => ({ bytes: new Uint8Array(Buffer.from(key, 'hex')) });
    const body = new Uint8Array(Buffer.from(data, 'hex'));
    expect(hmacSync(hmacKey(), '', body)).toBe(mac);
    expect(await hmacAsync(hmacKey(), '', body)).toBe(mac);
  });

  it('the MAC covers the prefix, then the body, and a key can be used twice', async () => {
    const { hmacSync, hmacAsync } = await import('../../src/verify/hmac.js');
    const key = { bytes: bytes(SECRET) };
    const expected = createHmac('sha256', SECRET).update('12.body').digest('hex');
    for (let i = 0; i < 2; i++) {
      expect(hmacSync(key, '12.', bytes('body'))).toBe(expected);
      expect(await hmacAsync(key, '12.', bytes('body'))).toBe(expected);
    }
  });

  it('the MAC is that of node:crypto at every length of key and body', async () => {
    const { hmacSync } = await import('../../src/verify/hmac.js');
    for (const keyLength of [1, 32, 63, 64, 65, 200]) {
      const key = { bytes: new Uint8Array(keyLength).fill(keyLength) };
      for (const length of [0, 1, 63, 64, 65, 2_000, 20_000]) {
        const body = new Uint8Array(length).map((__, i) => i);
        for (const prefix of ['', '0.', '999999999999.']) {
          const expected = createHmac('sha256', key.bytes).update(prefix).update(body).digest('hex');
          expect(hmacSync(key, prefix, body)).toBe(expected);
        }
      }
    }
  });

  it('a view of a buffer is hashed without the rest of the buffer', async () => {
    const { hmacSync, hmacAsync } = await import('../../src/verify/hmac.js');
    const view = bytes('..body..').subarray(2, 6);
    const expected = createHmac('sha256', SECRET).update('body').digest('hex');
    expect(hmacSync({ bytes: bytes(SECRET) }, '', view)).toBe(expected);
    expect(await hmacAsync({ bytes: bytes(SECRET) }, '', view)).toBe(expected);
  });
});

describe.each([
  ['node:crypto', () => import('../../src/verify/hmac.js')],
  ['a node:crypto without hash()', withoutHash],
  ['WebCrypto', onTheWeb],
])('the functions for MACs and fingerprints on %s', (_, load) => {
  it('two MACs are equal only where all their bytes are', async () => {
    const { equalMacs } = await load();
    const mac = createHash('sha256').update('x').digest();
    const hex = mac.toString('hex');
    expect(equalMacs(hex, mac.toString('hex'))).toBe(true);
    for (let i = 0; i < mac.length; i++) {
      for (let bit = 0; bit < 8; bit++) {
        const other = Buffer.from(mac);
        other[i] = (other[i] as number) ^ (1 << bit);
        expect(equalMacs(hex, other.toString('hex'))).toBe(false);
      }
    }
  });

  it('a MAC that does not have 64 hex digits is equal to nothing, not even to itself', async () => {
    const { equalMacs } = await load();
    const right = '0'.repeat(64);
    for (const mac of ['', '0'.repeat(63), '0'.repeat(65), '\u00e9'.repeat(64), `${'0'.repeat(63)}\u00e9`]) {
      expect(equalMacs(mac, mac)).toBe(false);
      expect(equalMacs(mac, right)).toBe(false);
      expect(equalMacs(right, mac)).toBe(false);
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

describe('verify with node:crypto', () => {
  it.each([
    ['a short key and body', 24, 300],
    ['a key longer than a block', 70, 1_024],
    ['a large body', 24, 100_000],
  ])('three HMACs with one secret prepare its key once, for %s', async (__, keyLength, length) => {
    const { hmacSync, hasSyncCrypto } = await import('../../src/verify/hmac.js');
    expect(hasSyncCrypto).toBe(true);
    const crypto = process.getBuiltinModule('node:crypto');
    const create = vi.spyOn(crypto, 'createHmac');
    const prepare = vi.spyOn(crypto, 'createSecretKey');
    const key = { bytes: new Uint8Array(keyLength).fill(1) };
    for (let i = 0; i < 3; i++) hmacSync(key, '1.', new Uint8Array(length));
    expect(prepare).toHaveBeenCalledOnce();
    expect(create.mock.calls).toEqual(Array(3).fill(['sha256', expect.any(crypto.KeyObject)]));
  });

  it('two MACs are compared by node:crypto', async () => {
    const { equalMacs } = await import('../../src/verify/hmac.js');
    const compare = vi.spyOn(process.getBuiltinModule('node:crypto'), 'timingSafeEqual');
    expect(equalMacs('0'.repeat(64), '0'.repeat(64))).toBe(true);
    expect(compare).toHaveBeenCalledOnce();
  });
});

describe('the library without node:crypto', () => {
  it('the prepared WebCrypto key is not extractable', async () => {
    const { hmacAsync } = await onTheWeb();
    const key: Parameters<typeof hmacAsync>[0] = { bytes: bytes(SECRET) };
    await hmacAsync(key, '', bytes('body'));
    expect((await key.web)?.extractable).toBe(false);
  });

  it('verify() is refused with a hint at verifyAsync', async () => {
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

  it.each([
    ['missing_signature', SECRET],
    ['invalid_secret', ''],
  ])('verify refuses with %s without calling crypto', async (code, secret) => {
    const web = await onTheWeb();
    expect(() => web.verify({ headers: {}, body: '', secret })).toThrow(expect.objectContaining({ code }));
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
    ['a late delivery', { now: () => NOW + 301_000 }],
    ['an early delivery', { now: () => NOW - 301_000 }],
    ['a legacy delivery', aDelivery({ scheme: 'legacy' })],
    ['a legacy delivery, accepted', { ...aDelivery({ scheme: 'legacy' }), legacy: 'accept' }],
    [
      'a legacy delivery, accepted but old',
      { ...aDelivery({ scheme: 'legacy' }), legacy: 'accept', now: () => NOW + 2e7 },
    ],
    ['no UTF-8', aDelivery({ body: Uint8Array.of(0xff) })],
    ['no JSON', aDelivery({ body: 'x' })],
    ['no envelope', aDelivery({ body: '{}' })],
    ['a parsed body', { body: {} as string }],
    ['an empty secret', { secret: '' }],
    ['a wrong option', { toleranceSeconds: 0 }],
  ];

  it.each(inputs)('verifyAsync agrees with verify on node:crypto: %s', async (_, changes) => {
    const input: onNode.VerifyInput = { ...aDelivery(), secret: SECRET, now, ...changes };
    const expected = await verdict(() => onNode.verify(input));
    const web = await onTheWeb();
    expect(await verdict(() => web.verifyAsync(input))).toBe(expected);
  });

  it('a receiver handles a delivery once and refuses a forgery', async () => {
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
    ['a process without modules and environment, as bundlers add it', { nextTick: process.nextTick }],
  ])('the library can be loaded and verifies a delivery with %s', async (_, process) => {
    await new Promise(setImmediate); // until then the test runner itself needs a process
    vi.stubGlobal('process', process);
    vi.resetModules();
    try {
      const web = await import('../../src/index.js');
      expect(() => web.createReceiver({ secret: SECRET })).not.toThrow();
      expect((await web.verifyAsync({ ...aDelivery(), secret: SECRET, now })).scheme).toBe('v2');
    } finally {
      vi.unstubAllGlobals();
    }
  });
});
