import { sign, verify, verifyAsync } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { exactBytes, fromBase64, toBase64 } from '../src/bytes.js';
import { aDelivery, aReceiver, aRequest, bodyOf, inShort, NOW, now, refusal, SECRET } from './support/deliveries.js';

const BYTES = new TextEncoder().encode(bodyOf());
const EVIL = new TextEncoder().encode(bodyOf().replace('evt_1', 'evt_2'));

/** Bytes that say something else about themselves than they are. */
const lies: [string, (bytes: Uint8Array) => Uint8Array][] = [
  [
    'a subclass whose length is wrong',
    (bytes) =>
      new (class extends Uint8Array {
        override get length() {
          return 3;
        }
        override get byteLength() {
          return 3;
        }
      })(bytes),
  ],
  [
    'a subclass whose buffer is another',
    (bytes) =>
      new (class extends Uint8Array {
        override get buffer() {
          return EVIL.slice().buffer;
        }
      })(bytes),
  ],
  [
    'an array with a length of its own',
    (bytes) => Object.defineProperty(bytes.slice(), 'length', { value: 3 }) as Uint8Array,
  ],
];

describe('exact bytes', () => {
  it.each(lies)('exact bytes of %s are those that it holds', (_, lie) => {
    expect(exactBytes(lie(BYTES))).toEqual(BYTES);
  });

  it('exact bytes of shared memory are a copy', () => {
    const shared = new Uint8Array(new SharedArrayBuffer(BYTES.length));
    shared.set(BYTES);
    const bytes = exactBytes(shared);
    shared.fill(0);
    expect(bytes).toEqual(BYTES);
    expect(bytes.buffer).toBeInstanceOf(ArrayBuffer);
  });

  it('exact bytes of a part of a buffer are that part', () => {
    const whole = new Uint8Array(20).map((_, i) => i);
    expect(exactBytes(whole.subarray(3, 6))).toEqual(Uint8Array.of(3, 4, 5));
    expect(exactBytes(new DataView(whole.buffer, 3, 3))).toEqual(Uint8Array.of(3, 4, 5));
    expect(exactBytes(new Uint16Array(whole.buffer, 2, 1))).toEqual(Uint8Array.of(2, 3));
  });
});

describe('a body that lies about its length', () => {
  it.each(lies)('a body that lies about its length is authenticated as a whole: %s', async (_, lie) => {
    const { headers } = aDelivery({ body: BYTES });
    const input = { headers, body: lie(BYTES), secret: SECRET, now };
    expect(verify(input).body).toEqual(BYTES);
    expect((await verifyAsync(input)).body).toEqual(BYTES);
    expect(sign({ body: lie(BYTES), secret: SECRET, at: NOW })).toEqual(sign({ body: BYTES, secret: SECRET, at: NOW }));
    // The signature of what it claims to be must not authenticate the rest.
    const forged = { ...aDelivery({ body: BYTES.subarray(0, 3) }), body: lie(BYTES), secret: SECRET, now };
    expect(refusal(() => verify(forged)).code).toBe('signature_mismatch');
  });

  it.each(lies)('a body that lies about its length counts toward maxBodyBytes as a whole: %s', async (_, lie) => {
    const { receiver } = aReceiver({ maxBodyBytes: BYTES.length - 1 });
    expect(inShort(await receiver({ ...aRequest(), body: lie(BYTES) }))).toBe('413 body_too_large');
  });

  it.each(lies)('a body that lies about its length is a secret as a whole: %s', (_, lie) => {
    const secret = new TextEncoder().encode(SECRET);
    expect(verify({ ...aDelivery(), secret: lie(secret), now }).secretIndex).toBe(0);
  });
});

describe('a body that changes while verifyAsync waits', () => {
  it.each<[string, () => Uint8Array]>([
    ['bytes', () => BYTES.slice()],
    ['a Buffer', () => Buffer.from(BYTES)],
    [
      'shared memory',
      () => {
        const shared = new Uint8Array(new SharedArrayBuffer(BYTES.length));
        shared.set(BYTES);
        return shared;
      },
    ],
  ])('a body that changes while verifyAsync waits is parsed as it was verified: %s', async (_, bytes) => {
    const body = bytes();
    const verified = verifyAsync({ headers: aDelivery({ body: BYTES }).headers, body, secret: SECRET, now });
    body.set(EVIL);
    const { event, body: kept } = await verified;
    expect(event.id).toBe('evt_1');
    expect(kept).toEqual(BYTES);
  });
});

it.each([0, 1, 2, 3, 32_767, 32_768, 32_769, 100_000])(
  '%i bytes are written as Node writes them, and read back',
  (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31) % 256);
    const text = toBase64(bytes);
    expect(text === Buffer.from(bytes).toString('base64')).toBe(true);
    expect(Buffer.compare(fromBase64(text), bytes)).toBe(0);
  },
);

it('a text that is not base64 is refused', () => {
  expect(() => fromBase64('*')).toThrow(DOMException);
});
