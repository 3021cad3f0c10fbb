import { type Scheme, verify } from 'service-webhooks';
import { type SignDeliveryInput, type SigningOptions, sampleEvent, signDelivery } from 'service-webhooks/testing';
import { describe, expect, it, vi } from 'vitest';
import { aReceiver, inShort, NOW, now, refusal, SECRET } from '../support/deliveries.js';

const event = sampleEvent('generation.completed', { id: 'evt_1', timestamp: new Date(NOW).toISOString() });

const signed = (options: Partial<SigningOptions> = {}) => signDelivery({ event, secret: SECRET, at: NOW, ...options });

describe('signDelivery', () => {
  it('the headers are exactly those that the service sends', () => {
    expect(signed().headers).toEqual({
      'content-type': 'application/json',
      'x-service-signature-v2': expect.stringMatching(/^t=1783771200,v1=[0-9a-f]{64}$/),
      'x-service-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
      'x-service-timestamp': '1783771200',
      'x-service-webhook-id': 'endpoint_sample',
      'x-service-attempt': '1',
      'idempotency-key': expect.stringMatching(/^key_[0-9a-f]{32}$/),
    });
  });

  it('verify accepts a delivery with both signatures, and with each alone', () => {
    expect(verify({ ...signed(), secret: SECRET, now })).toMatchObject({ event, scheme: 'v2', signedAt: NOW });
    for (const scheme of ['v2', 'legacy'] satisfies Scheme[]) {
      const { headers, body } = signed({ scheme });
      expect(verify({ headers, body, secret: SECRET, now, legacy: 'accept' })).toMatchObject({ event, scheme });
    }
  });

  it('a spread of the delivery has method, headers and body alone, also after again()', () => {
    for (const delivery of [signed(), signed().again({ attempt: 2 })]) {
      expect(Object.keys({ ...delivery })).toEqual(['method', 'headers', 'body']);
    }
  });

  it('a receiver accepts the delivery as its request', async () => {
    expect(inShort(await aReceiver().receiver(signed()))).toBe('200 handled');
  });

  it('attempt, webhookId, idempotencyKey and headerPrefix set the headers', () => {
    const headerPrefix = 'X-Vendor';
    const options = { attempt: 3, webhookId: 'wh_1', idempotencyKey: 'key_1', headerPrefix };
    const delivery = signed(options);
    const { unsigned } = verify({ ...delivery, secret: SECRET, now, headerPrefix });
    expect(unsigned).toEqual({ attempt: 3, webhookId: 'wh_1', idempotencyKey: 'key_1' });
    expect(delivery.headers).toMatchObject({ 'x-vendor-webhook-id': 'wh_1', 'x-vendor-timestamp': '1783771200' });
  });

  it('the signed time is the current time, also under fake timers', () => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
    expect(signDelivery({ event, secret: SECRET })).toMatchObject({ at: NOW });
    expect(verify({ ...signDelivery({ event, secret: SECRET }), secret: SECRET }).signedAt).toBe(NOW);
  });

  it('verify refuses the delivery when its body is parsed and serialised again', () => {
    const { headers, body } = signed();
    const again = JSON.stringify(JSON.parse(new TextDecoder().decode(body)));
    expect(JSON.parse(again)).toEqual(event);
    expect(refusal(() => verify({ headers, body: again, secret: SECRET, now })).code).toBe('signature_mismatch');
  });

  it('the event is serialised with one space between its parts', () => {
    const { body } = signDelivery({ event: { ...event, data: { list: [1, { a: 2 }] } }, secret: SECRET });
    expect(new TextDecoder().decode(body)).toContain('"data": { "list": [ 1, { "a": 2 } ] }, "timestamp": ');
  });

  it.each<[string, SignDeliveryInput['body']]>([
    ['text', 'caf\u00e9'],
    ['bytes', new TextEncoder().encode('caf\u00e9')],
    ['an ArrayBuffer', new TextEncoder().encode('caf\u00e9').buffer],
    ['nothing at all', ''],
  ])('a body given as %s is signed and sent byte for byte', (_, body = '') => {
    const delivery = signDelivery({ body, secret: SECRET, at: NOW });
    expect(Buffer.from(delivery.body)).toEqual(Buffer.from(body as string));
    expect(refusal(() => verify({ ...delivery, secret: SECRET, now })).code).toBe('invalid_json');
  });

  it('a later change of the given bytes does not change the delivery', () => {
    const body = Buffer.from('{}');
    const delivery = signDelivery({ body, secret: SECRET, at: NOW });
    body[0] = 0;
    expect(delivery.body).toEqual(new TextEncoder().encode('{}'));
    expect(delivery.again({ at: NOW })).toMatchObject({ headers: delivery.headers, body: delivery.body });
  });
});

describe('again() of a signed delivery', () => {
  it('the next attempt has its own signature, and the same body and Idempotency-Key', () => {
    const second = signed().again({ attempt: 2, at: NOW + 30_000 });
    expect(verify({ ...second, secret: SECRET, now: () => NOW + 30_000 })).toMatchObject({
      event: { id: 'evt_1' },
      signedAt: NOW + 30_000,
      unsigned: { attempt: 2, idempotencyKey: signed().headers['idempotency-key'] },
    });
    expect(second.body).toEqual(signed().body);
  });

  it('a receiver answers the next attempt as a duplicate', async () => {
    const { receiver } = aReceiver();
    const first = signed({ idempotencyKey: 'key_1' });
    expect(inShort(await receiver(first))).toBe('200 handled');
    expect(inShort(await receiver(first.again({ attempt: 2, at: NOW })))).toBe('200 duplicate');
  });

  it('the signed time is the current time by default', () => {
    vi.useFakeTimers({ now: NOW + 120_000, toFake: ['Date'] });
    expect(signed().again().headers['x-service-timestamp']).toBe('1783771320');
  });
});

it('signDelivery gives the same event id the same Idempotency-Key, and another id another one', () => {
  const keyOf = (id: string) =>
    signDelivery({ event: sampleEvent('stt.completed', { id }), secret: SECRET }).headers['idempotency-key'];
  expect(keyOf('evt_\u{1f3a7}\n')).toBe(keyOf('evt_\u{1f3a7}\n'));
  expect(keyOf('evt_1')).not.toBe(keyOf('evt_2'));
});

describe('wrong input of signDelivery', () => {
  const refusedFor = (input: object) => refusal(() => signDelivery({ secret: SECRET, ...input } as SignDeliveryInput));

  it.each([event, [1, 2], 7, null])('the body %o is refused with a hint', (body) => {
    expect(refusedFor({ body })).toMatchObject({ code: 'body_already_parsed', hint: 'Give an object as event.' });
  });

  it.each<[string, object, string]>([
    ['neither event nor body', {}, 'event or body'],
    ['event and body', { event, body: '' }, 'not both'],
    ['an event that is no envelope', { event: { ...event, id: 'x' } }, 'event must be an envelope'],
    ['an event that JSON cannot hold', { event: { ...event, data: { n: 1n } } }, 'event cannot be written'],
    ['an attempt that is none', { event, attempt: 0 }, 'attempt must be'],
    ['a webhookId that is no header', { event, webhookId: 'a\r\nb' }, 'webhookId must be'],
    ['a webhookId that is no text', { event, webhookId: 7 }, 'webhookId must be'],
    ['an empty idempotencyKey', { event, idempotencyKey: '' }, 'idempotencyKey must be'],
    ['a time in words', { event, at: 'now' }, 'at must be'],
    ['an unknown scheme', { event, scheme: 'v3' }, 'scheme must be'],
  ])('%s is refused', (_, input, problem) => {
    expect(refusedFor(input)).toMatchObject({ code: 'invalid_option', message: expect.stringContaining(problem) });
  });

  it('an empty secret and a missing input are refused', () => {
    expect(refusedFor({ event, secret: '' }).code).toBe('invalid_secret');
    expect(refusal(() => signDelivery(undefined as never))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('input must be'),
    });
  });
});
