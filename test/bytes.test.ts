import { sign, verify, verifyAsync } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { exactBytes, fromBase64, toBase64 } from '../src/bytes.js';
import { aDelivery, aReceiver, aRequest, bodyOf, inShort, NOW, now, refusal, SECRET } from './support/deliveries.js';

const BYTES = new TextEncoder().encode(bodyOf());
const EVIL = new TextEncoder().encode(bodyOf().replace('evt_1', 'evt_2'));

const withGetters = (values: Record<string, unknown>) => (bytes: Uint8Array) => {
  class Lying extends Uint8Array {}
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(Lying.prototype, name, { get: () => value });
  }
  return new Lying(bytes);
};

/** Bytes that say something else about themselves than they are. */
const lies: [string, (bytes: Uint8Array) => Uint8Array][] = [
  ['a subclass whose length is wrong', withGetters({ length: 3, byteLength: 3 })],
  ['a subclass whose buffer is another', withGetters({ buffer: EVIL.slice().buffer })],
  ['an array with a length of its own', (bytes) => Object.defineProperty(bytes.slice(), 'length', { value: 3 })],
];

const sharedCopy = (bytes: Uint8Array) => {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
};

describe('exactBytes', () => {
  it.each(lies)('the result is the real content of %s', (_, lie) => {
    expect(exactBytes(lie(BYTES))).toEqual(BYTES);
  });

  it('shared memory is copied', () => {
    const shared = sharedCopy(BYTES);
    const bytes = exactBytes(shared);
    shared.fill(0);
    expect(bytes).toEqual(BYTES);
    expect(bytes.buffer).toBeInstanceOf(ArrayBuffer);
  });

  it('a view of a buffer gives its own part of the bytes', () => {
    const whole = new Uint8Array(20).map((_, i) => i);
    expect(exactBytes(whole.subarray(3, 6))).toEqual(Uint8Array.of(3, 4, 5));
    expect(exactBytes(new DataView(whole.buffer, 3, 3))).toEqual(Uint8Array.of(3, 4, 5));
    expect(exactBytes(new Uint16Array(whole.buffer, 2, 1))).toEqual(Uint8Array.of(2, 3));
  });
});

describe('bytes whose length property is wrong, given to verify and a receiver', () => {
  it.each(lies)('the whole body is signed and verified: %s', async (_, lie) => {
    const { headers } = aDelivery({ body: BYTES });
    const input = { headers, body: lie(BYTES), secret: SECRET, now };
    expect(verify(input).body).toEqual(BYTES);
    expect((await verifyAsync(input)).body).toEqual(BYTES);
    expect(sign({ body: lie(BYTES), secret: SECRET, at: NOW })).toEqual(sign({ body: BYTES, secret: SECRET, at: NOW }));
    // The signature of what it claims to be must not authenticate the rest.
    const forged = { ...aDelivery({ body: BYTES.subarray(0, 3) }), body: lie(BYTES), secret: SECRET, now };
    expect(refusal(() => verify(forged)).code).toBe('signature_mismatch');
  });

  it.each(lies)('maxBodyBytes counts the whole body: %s', async (_, lie) => {
    const { receiver } = aReceiver({ maxBodyBytes: BYTES.length - 1 });
    expect(inShort(await receiver({ ...aRequest(), body: lie(BYTES) }))).toBe('413 body_too_large');
  });

  it.each(lies)('the whole secret is used as the key: %s', (_, lie) => {
    const secret = new TextEncoder().encode(SECRET);
    expect(verify({ ...aDelivery(), secret: lie(secret), now }).secretIndex).toBe(0);
  });
});

it.each<[string, Uint8Array]>([
  ['bytes', BYTES.slice()],
  ['a Buffer', Buffer.from(BYTES)],
  ['shared memory', sharedCopy(BYTES)],
])('verifyAsync parses the body that it verified although %s changes meanwhile', async (_, body) => {
  const verified = verifyAsync({ headers: aDelivery({ body: BYTES }).headers, body, secret: SECRET, now });
  body.set(EVIL);
  const { event, body: kept } = await verified;
  expect(event.id).toBe('evt_1');
  expect(kept).toEqual(BYTES);
});

it.each([0, 1, 2, 3, 32_767, 32_768, 32_769, 100_000])(
  'toBase64 of %i bytes gives the text of Node, with and without its Buffer, and fromBase64 reads it back',
  (size) => {
    const bytes = Uint8Array.from({ length: size + 8 }, (_, i) => (i * 31) % 256).subarray(8);
    const expected = Buffer.from(bytes).toString('base64');
    const text = toBase64(bytes);
    vi.stubGlobal('Buffer', undefined);
    const withoutBuffer = toBase64(bytes);
    vi.unstubAllGlobals();
    expect([text === expected, withoutBuffer === expected]).toEqual([true, true]);
    expect(Buffer.compare(fromBase64(text), bytes)).toBe(0);
  },
);

it.each(['*', 'a', 'ab=c', 'YQ==YQ==', 'YWJj-_'])('fromBase64 throws for %j, which is no base64', (text) => {
  expect(() => fromBase64(text)).toThrow(DOMException);
});
