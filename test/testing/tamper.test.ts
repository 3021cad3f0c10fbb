import { type Delivery, isWebhookError, verify } from 'service-webhooks';
import { type SignedDelivery, sampleEvent, signDelivery, tamper } from 'service-webhooks/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aReceiver, inShort, NOW, now, refusal, SECRET } from '../support/deliveries.js';
import { mounts, serveEndpoints } from '../support/mounts.js';

const event = sampleEvent('generation.completed', { id: 'evt_1' });
const deliver = () => signDelivery({ event, secret: SECRET, at: NOW });

/** Each mistake, and the verdict on a delivery with it. */
const rows: [name: string, tampered: (delivery: SignedDelivery) => SignedDelivery, verdict: string][] = [
  ['one flipped bit', (delivery) => tamper.flippedBit(delivery), 'signature_mismatch'],
  [
    'its last bit flipped',
    (delivery) => tamper.flippedBit(delivery, delivery.body.length * 8 - 1),
    'signature_mismatch',
  ],
  ['an old signature', (delivery) => tamper.stale(delivery), 'timestamp_too_old'],
  ['a signature 301 s old', (delivery) => tamper.stale(delivery, 301), 'timestamp_too_old'],
  ['a signature 300 s old', (delivery) => tamper.stale(delivery, 300), 'verified'],
  ['a signature of the future', (delivery) => tamper.future(delivery), 'timestamp_in_future'],
  ['a signature 300 s ahead', (delivery) => tamper.future(delivery, 300), 'verified'],
  ['a wrong secret', (delivery) => tamper.wrongSecret(delivery), 'signature_mismatch'],
  ['V2 stripped', (delivery) => tamper.strippedV2(delivery), 'legacy_not_accepted'],
  ['another Idempotency-Key', (delivery) => tamper.changedIdempotencyKey(delivery), 'verified'],
  ['its body written again', (delivery) => tamper.reserialisedBody(delivery), 'signature_mismatch'],
  ['two mistakes', (delivery) => tamper.stale(tamper.flippedBit(delivery)), 'timestamp_too_old'],
];

describe('a tampered delivery', () => {
  let port = 0;
  let close = () => Promise.resolve();
  beforeAll(async () => {
    const { receiver } = aReceiver({ dedupe: false });
    const [express] = mounts;
    if (express === undefined) throw new Error('no mount');
    ({ port, close } = await serveEndpoints(express, { receiverFor: () => receiver, onRouted: () => {} }));
  });
  afterAll(() => close());

  it.each(rows)('verify and a server give the same verdict on %s', async (_, tampered, verdict) => {
    const { method, headers, body } = tampered(deliver());
    expect(verdictOf({ headers, body })).toBe(verdict);
    const response = await fetch(`http://127.0.0.1:${port}/webhooks`, { method, headers, body: new Uint8Array(body) });
    expect(inShort({ status: response.status, headers: {}, body: await response.text() })).toMatch(
      verdict === 'verified' ? '200 handled' : verdict,
    );
  });

  it.each(rows)('the original stays, and the result can be signed again: %s', (_, tampered) => {
    const original = Object.freeze(deliver());
    const delivery = tampered(original);
    expect(delivery).not.toEqual(original);
    expect(original).toEqual(deliver());
    expect([typeof delivery.at, typeof delivery.again]).toEqual(['number', 'function']);
    expect(Object.keys({ ...delivery })).toEqual(['method', 'headers', 'body']);
  });
});

function verdictOf({ headers, body }: { headers: Record<string, string>; body: Uint8Array }): string {
  try {
    verify({ headers, body, secret: SECRET, now });
    return 'verified';
  } catch (error) {
    if (isWebhookError(error)) return error.code;
    throw error;
  }
}

describe('the mistake of a tampered delivery', () => {
  it('a stale delivery was valid at its time', () => {
    const delivery = tamper.stale(deliver());
    expect(verify({ ...delivery, secret: SECRET, now: () => delivery.at })).toMatchObject({ signedAt: NOW - 600_000 });
  });

  it('the wrong secret verifies the delivery', () => {
    const found: Delivery = verify({ ...tamper.wrongSecret(deliver()), secret: 'a guess at the secret', now });
    expect(found.event).toEqual(event);
  });

  it('the wrong secret made both signatures', () => {
    const legacy = tamper.strippedV2(tamper.wrongSecret(deliver()));
    const { code } = refusal(() => verify({ ...legacy, secret: SECRET, now, legacy: 'accept' }));
    expect(code).toBe('signature_mismatch');
  });

  it('a delivery without V2 has a valid legacy signature', () => {
    const delivery = tamper.strippedV2(deliver());
    expect(verify({ ...delivery, secret: SECRET, now, legacy: 'accept' }).scheme).toBe('legacy');
  });

  it('a flipped bit is the only difference', () => {
    const [{ body }, flipped] = [deliver(), tamper.flippedBit(deliver(), 17).body];
    expect(body.map((byte, i) => byte ^ (flipped[i] as number)).filter(Boolean)).toEqual(new Uint8Array([2]));
  });

  it('another Idempotency-Key gives a notice', async () => {
    const { receiver, find } = aReceiver();
    await receiver(deliver());
    expect(inShort(await receiver(tamper.changedIdempotencyKey(deliver(), 'key_2')))).toBe('200 duplicate');
    expect(find('idempotency_key_mismatch').delivery.unsigned.idempotencyKey).toBe('key_2');
  });

  it('only the headers of the signature change, in any spelling', () => {
    const others = { 'x-other-signature': 'a', 'x-service-signature-v2-note': 'b', 'x-service-timestamp-note': 'c' };
    const delivery = Object.assign(deliver(), { headers: { ...deliver().headers, ...others } });
    for (const tampered of [tamper.stale(delivery), tamper.wrongSecret(delivery), tamper.strippedV2(delivery)]) {
      expect(tampered.headers).toMatchObject(others);
    }
    const { headers } = tamper.strippedV2({ ...delivery, headers: { 'X-Service-Signature-V2': 'a', ...others } });
    expect(headers).toEqual(others);
  });

  it('the Idempotency-Key is replaced in any spelling', () => {
    const delivery = { ...deliver(), headers: { 'Idempotency-Key': 'key_1', 'x-other': 'a' } };
    expect(tamper.changedIdempotencyKey(delivery).headers).toEqual({
      'idempotency-key': 'another-key',
      'x-other': 'a',
    });
  });

  it('stale and future deliveries are ten minutes away by default', () => {
    expect([tamper.stale(deliver()).at, tamper.future(deliver()).at]).toEqual([NOW - 600_000, NOW + 600_000]);
  });

  it('several mistakes add up in any order', () => {
    const stripped = tamper.stale(tamper.strippedV2(deliver()));
    expect(stripped.headers).not.toHaveProperty('x-service-signature-v2');
    const both = tamper.wrongSecret(tamper.changedIdempotencyKey(deliver(), 'key_2'));
    expect(both.headers).toMatchObject({ 'idempotency-key': 'key_2' });
    expect(tamper.future(tamper.flippedBit(deliver())).body).toEqual(tamper.flippedBit(deliver()).body);
  });

  it('signing again takes every mistake back', () => {
    expect(verdictOf(tamper.wrongSecret(tamper.flippedBit(deliver())).again({ at: NOW }))).toBe('verified');
  });
});

describe('wrong arguments of tamper', () => {
  it.each<[string, () => unknown, string]>([
    ['a bit that is not there', () => tamper.flippedBit(deliver(), 1e6), 'bit must be one of the body'],
    ['the bit behind the last', () => tamper.flippedBit(deliver(), deliver().body.length * 8), 'bit must be'],
    ['half a bit', () => tamper.flippedBit(deliver(), 0.5), 'bit must be one of the body'],
    [
      'a delivery that was not signed here',
      () => tamper.stale({ ...deliver(), again: undefined as never }),
      'signDelivery',
    ],
    [
      'a body that is the same when it is written again',
      () => tamper.reserialisedBody(signDelivery({ body: '{"a":1}', secret: SECRET })),
      'body is already',
    ],
    [
      'a body that is not JSON',
      () => tamper.reserialisedBody(signDelivery({ body: 'text', secret: SECRET })),
      'body must be JSON',
    ],
  ])('%s is refused', (_, call, problem) => {
    expect(refusal(call)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
  });

  it.each(Object.entries<(delivery: SignedDelivery) => unknown>(tamper))('%s needs a delivery', (_, tampered) => {
    expect(refusal(() => tampered(undefined as never))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('delivery must be'),
    });
  });

  it('a parsed body is refused', () => {
    const parsed = { ...deliver(), body: event as never };
    expect(refusal(() => tamper.flippedBit(parsed))).toMatchObject({
      code: 'body_already_parsed',
      hint: 'A delivery has its body as bytes.',
    });
  });
});
