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

describe('a delivery that tamper has changed', () => {
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

  it.each(rows)('the original stays unchanged, and the result can be signed again: %s', (_, tampered) => {
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

describe('the change that each function of tamper makes', () => {
  it('tamper.stale gives a delivery that was valid at its own time', () => {
    const delivery = tamper.stale(deliver());
    expect(verify({ ...delivery, secret: SECRET, now: () => delivery.at })).toMatchObject({ signedAt: NOW - 600_000 });
  });

  it('tamper.wrongSecret gives a delivery that is valid under "a guess at the secret"', () => {
    const found: Delivery = verify({ ...tamper.wrongSecret(deliver()), secret: 'a guess at the secret', now });
    expect(found.event).toEqual(event);
  });

  it('tamper.wrongSecret makes the legacy signature wrong too', () => {
    const legacy = tamper.strippedV2(tamper.wrongSecret(deliver()));
    const { code } = refusal(() => verify({ ...legacy, secret: SECRET, now, legacy: 'accept' }));
    expect(code).toBe('signature_mismatch');
  });

  it('tamper.strippedV2 leaves a valid legacy signature', () => {
    const delivery = tamper.strippedV2(deliver());
    expect(verify({ ...delivery, secret: SECRET, now, legacy: 'accept' }).scheme).toBe('legacy');
  });

  it('tamper.flippedBit changes the given bit of the body and nothing else', () => {
    const [{ body }, flipped] = [deliver(), tamper.flippedBit(deliver(), 17).body];
    expect(body.map((byte, i) => byte ^ (flipped[i] as number)).filter(Boolean)).toEqual(new Uint8Array([2]));
  });

  it('tamper.changedIdempotencyKey gives a duplicate with the notice idempotency_key_mismatch', async () => {
    const { receiver, find } = aReceiver();
    await receiver(deliver());
    expect(inShort(await receiver(tamper.changedIdempotencyKey(deliver(), 'key_2')))).toBe('200 duplicate');
    expect(find('idempotency_key_mismatch').delivery.unsigned.idempotencyKey).toBe('key_2');
  });

  it('only the headers of the signature change, in whatever case they are written', () => {
    const others = { 'x-other-signature': 'a', 'x-service-signature-v2-note': 'b', 'x-service-timestamp-note': 'c' };
    const delivery = Object.assign(deliver(), { headers: { ...deliver().headers, ...others } });
    for (const tampered of [tamper.stale(delivery), tamper.wrongSecret(delivery), tamper.strippedV2(delivery)]) {
      expect(tampered.headers).toMatchObject(others);
    }
    const { headers } = tamper.strippedV2({ ...delivery, headers: { 'X-Service-Signature-V2': 'a', ...others } });
    expect(headers).toEqual(others);
  });

  it('tamper.changedIdempotencyKey replaces the header in whatever case it is written', () => {
    const delivery = { ...deliver(), headers: { 'Idempotency-Key': 'key_1', 'x-other': 'a' } };
    expect(tamper.changedIdempotencyKey(delivery).headers).toEqual({
      'idempotency-key': 'another-key',
      'x-other': 'a',
    });
  });

  it('tamper.stale and tamper.future move the signed time by ten minutes by default', () => {
    expect([tamper.stale(deliver()).at, tamper.future(deliver()).at]).toEqual([NOW - 600_000, NOW + 600_000]);
  });

  it('several functions of tamper can be combined in any order', () => {
    const stripped = tamper.stale(tamper.strippedV2(deliver()));
    expect(stripped.headers).not.toHaveProperty('x-service-signature-v2');
    const both = tamper.wrongSecret(tamper.changedIdempotencyKey(deliver(), 'key_2'));
    expect(both.headers).toMatchObject({ 'idempotency-key': 'key_2' });
    expect(tamper.future(tamper.flippedBit(deliver())).body).toEqual(tamper.flippedBit(deliver()).body);
  });

  it('again() of a tampered delivery gives a valid one', () => {
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

  it.each(Object.entries<(delivery: SignedDelivery) => unknown>(tamper))(
    '%s is refused without a delivery',
    (_, tampered) => {
      expect(refusal(() => tampered(undefined as never))).toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining('delivery must be'),
      });
    },
  );

  it('a parsed body is refused', () => {
    const parsed = { ...deliver(), body: event as never };
    expect(refusal(() => tamper.flippedBit(parsed))).toMatchObject({
      code: 'body_already_parsed',
      hint: 'A delivery has its body as bytes.',
    });
  });
});
