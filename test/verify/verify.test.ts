import { createHmac } from 'node:crypto';
import { type Delivery, sign, type VerifyInput, verify, verifyAsync, verifySignature } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import { aDelivery, anEvent, bodyOf, NOW, now, refusal, rejection, SECRET } from '../support/deliveries.js';

const OTHER = 'whsec_another-endpoint';
const bytes = (text: string) => new TextEncoder().encode(text);

/** `verify`, after making sure that `verifyAsync` says the same. */
async function verified(input: VerifyInput): Promise<Delivery> {
  const delivery = verify(input);
  expect(await verifyAsync(input)).toEqual(delivery);
  return delivery;
}

/** The refusal of `verify`, after making sure that `verifyAsync` says the same. */
async function refused(input: VerifyInput) {
  const error = refusal(() => verify(input));
  const { code, message, hint } = await rejection(verifyAsync(input));
  expect({ code, message, hint }).toEqual({ code: error.code, message: error.message, hint: error.hint });
  return error;
}

/** A delivery with options of `verify` beside it. */
const input = (changes: Partial<VerifyInput> = {}): VerifyInput => ({
  ...aDelivery(),
  secret: SECRET,
  now,
  ...changes,
});

describe('a valid delivery', () => {
  it('a valid delivery is given as a typed event with the exact bytes that were signed', async () => {
    const body = bytes(bodyOf());
    const delivery = await verified({ ...aDelivery({ body }), secret: SECRET, now });
    expect(delivery).toEqual({
      event: anEvent(),
      body,
      scheme: 'v2',
      signedAt: NOW,
      secretIndex: 0,
      unsigned: { idempotencyKey: undefined, webhookId: undefined, attempt: undefined },
    });
  });

  it('a valid delivery keeps fields of the envelope and of data that no type describes', async () => {
    const event = anEvent({ data: { nested: { a: [1, null] } }, region: 'eu' });
    expect((await verified({ ...aDelivery({ event }), secret: SECRET, now })).event).toEqual(event);
  });

  it('a valid delivery gives signedAt in milliseconds, of the second that was signed', async () => {
    expect((await verified({ ...aDelivery({ at: NOW - 7_001 }), secret: SECRET, now })).signedAt).toBe(NOW - 8_000);
  });

  it('a delivery is valid for a body of one spelling only: another byte of white space makes another body', async () => {
    const { headers, body } = aDelivery();
    expect((await refused({ headers, body: `${body} `, secret: SECRET, now })).code).toBe('signature_mismatch');
  });

  it('a valid delivery has a signature by the rules of the service, whichever program signed it', async () => {
    const body = bodyOf();
    const t = NOW / 1000;
    const v1 = createHmac('sha256', SECRET).update(`${t}.${body}`).digest('hex');
    const headers = { 'X-Service-Signature-V2': `t=${t},v1=${v1}` };
    expect((await verified({ headers, body, secret: SECRET, now })).scheme).toBe('v2');
  });
});

describe('the body', () => {
  const text = bodyOf({ data: { title: 'Grüße 🎧' } });
  const { headers } = aDelivery({ body: text });

  it.each([
    ['text', text],
    ['a Uint8Array', bytes(text)],
    ['a Buffer', Buffer.from(text)],
    ['an ArrayBuffer', bytes(text).buffer],
  ])('the body may be %s', async (_, body) => {
    const delivery = await verified({ headers, body, secret: SECRET, now });
    expect(delivery.event.data).toEqual({ title: 'Grüße 🎧' });
    expect(new Uint8Array(delivery.body)).toEqual(bytes(text));
  });

  it('the body may be a view into a larger buffer, of which only its part counts', async () => {
    const large = Buffer.concat([Buffer.from('before'), Buffer.from(text), Buffer.from('after')]);
    const [from, length] = [large.byteOffset + 6, Buffer.byteLength(text)];
    const views = [new Uint8Array(large.buffer, from, length), new DataView(large.buffer, from, length)];
    for (const body of views as Uint8Array[]) {
      expect((await verified({ headers, body, secret: SECRET, now })).event.id).toBe('evt_1');
    }
  });

  it.each<[string, unknown]>([
    ['a parsed object', anEvent()],
    ['an array', [1, 2, 3]],
    ['undefined', undefined],
    ['null', null],
    ['a number', 42],
    ['the JSON form of a Buffer', Buffer.from(text).toJSON()],
    ['a promise of bytes', Promise.resolve(bytes(text))],
  ])('the body is refused as already parsed where it is %s', async (_, body) => {
    const error = await refused({ headers, body: body as string, secret: SECRET, now });
    expect(error.code).toBe('body_already_parsed');
    expect(error.hint).toMatch(/raw body/);
  });

  it('the body is refused where it was transferred to another owner', async () => {
    for (const view of [bytes(text), Buffer.from(new Uint8Array(8).buffer), new Uint8Array(8).buffer]) {
      structuredClone(null, { transfer: [view instanceof ArrayBuffer ? view : view.buffer] });
      const error = await refused({ headers, body: view, secret: SECRET, now });
      expect(error).toMatchObject({ code: 'invalid_option', cause: expect.any(TypeError) });
    }
  });

  it('the body is refused for its signature first, for its encoding, its JSON and its envelope after that', async () => {
    const codeFor = async (body: string | Uint8Array) =>
      (await refused({ ...aDelivery({ body }), secret: SECRET, now })).code;
    expect(await codeFor(Uint8Array.of(0x7b, 0xff, 0x7d))).toBe('invalid_encoding');
    expect(await codeFor('{"id":')).toBe('invalid_json');
    expect(await codeFor('')).toBe('invalid_json');
    expect(await codeFor('{}')).toBe('invalid_envelope');
    expect((await refused(input({ body: '{"id":' }))).code).toBe('signature_mismatch');
  });
});

describe('the secret', () => {
  it('the secret may be bytes as well as text', async () => {
    const secret = Uint8Array.of(0, 255, 1, 128, 10);
    expect((await verified({ ...aDelivery({ secret }), secret, now })).secretIndex).toBe(0);
    expect((await verified({ ...aDelivery({ secret: bytes(SECRET) }), secret: SECRET, now })).secretIndex).toBe(0);
  });

  it('the secret may be one of several while one replaces another, and the delivery says which', async () => {
    const secret = [OTHER, SECRET, bytes('third')];
    expect((await verified({ ...aDelivery({ secret: OTHER }), secret, now })).secretIndex).toBe(0);
    expect((await verified({ ...aDelivery(), secret, now })).secretIndex).toBe(1);
    expect((await verified({ ...aDelivery({ secret: 'third' }), secret, now })).secretIndex).toBe(2);
    expect(verifySignature({ ...aDelivery(), secret, now }).secretIndex).toBe(1);
  });

  it('the secret is the first of those that match', async () => {
    expect((await verified(input({ secret: [SECRET, SECRET] }))).secretIndex).toBe(0);
  });

  it('the secret of another endpoint refuses, and the message says how many were tried', async () => {
    const error = await refused(input({ secret: [OTHER, 'whsec_old'] }));
    expect(error.code).toBe('signature_mismatch');
    expect(error.message).toContain('2 secrets were tried');
  });

  it('the secret counts as it is, prefix and all', async () => {
    expect((await refused(input({ secret: SECRET.replace('whsec_', '') }))).code).toBe('signature_mismatch');
    expect((await refused(input({ secret: SECRET.toUpperCase() }))).code).toBe('signature_mismatch');
  });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['empty', ''],
    ['blank', ' \t\n'],
    ['padded in front', ` ${SECRET}`],
    ['padded behind', `${SECRET}\n`],
    ['empty bytes', new Uint8Array(0)],
    ['an empty list', []],
    ['a list with an empty one in it', [SECRET, '']],
    ['a list with undefined in it', [SECRET, undefined]],
    ['a list with a hole in it', new Array(1)],
    ['a number', 42],
    ['a function', () => [SECRET]],
    ['an ArrayBuffer', bytes(SECRET).buffer],
  ])('the secret is refused where it is %s, also with a good delivery', async (_, secret) => {
    expect((await refused(input({ secret: secret as string }))).code).toBe('invalid_secret');
  });

  it('the secret goes on working after more secrets than are kept prepared', async () => {
    for (let i = 0; i < 250; i++) {
      const secret = `whsec_tenant-${i}`;
      expect(verify({ ...aDelivery({ secret }), secret, now }).event.id).toBe('evt_1');
    }
    expect((await verified(input())).event.id).toBe('evt_1');
  });

  it('a secret of text is prepared once, as long as there are at most a hundred', async () => {
    vi.resetModules();
    const fresh = await import('../../src/verify/verify.js');
    const prepare = vi.spyOn(crypto.subtle, 'importKey');
    const deliver = (secret: string) => fresh.verifyAsync({ ...aDelivery({ secret }), secret, now });
    const hundred = Array.from({ length: 100 }, (_, i) => `whsec_tenant-${i}`);
    for (const secret of [...hundred, ...hundred]) await deliver(secret);
    expect(prepare).toHaveBeenCalledTimes(100);
    await deliver('whsec_one-too-many');
    await deliver('whsec_tenant-0');
    expect(prepare).toHaveBeenCalledTimes(102);
  });

  it('a secret of bytes is another one after they are overwritten', async () => {
    const secret = bytes(SECRET);
    expect((await verified(input({ secret }))).event.id).toBe('evt_1');
    secret.reverse();
    expect((await refused(input({ secret }))).code).toBe('signature_mismatch');
  });

  it('a secret of bytes is copied before the first await', async () => {
    const secret = bytes(SECRET);
    const pending = verifyAsync(input({ secret }));
    secret.fill(0);
    expect((await pending).event.id).toBe('evt_1');
  });
});

describe('the time', () => {
  const codeAt = async (ms: number, changes: Partial<VerifyInput> = {}) =>
    (await refused(input({ now: () => NOW + ms, ...changes }))).code;
  const holdsAt = async (ms: number, changes: Partial<VerifyInput> = {}) =>
    (await verified(input({ now: () => NOW + ms, ...changes }))).signedAt === NOW;

  it('the signed time may be exactly 300 s away, in the past and in the future, and no second more', async () => {
    expect(await holdsAt(300_000)).toBe(true);
    expect(await holdsAt(-300_000)).toBe(true);
    expect(await codeAt(301_000)).toBe('timestamp_too_old');
    expect(await codeAt(-301_000)).toBe('timestamp_in_future');
  });

  it('the signed time is compared in whole seconds, as the service counts them', async () => {
    expect(await holdsAt(300_999)).toBe(true);
    expect(await codeAt(-300_001)).toBe('timestamp_in_future');
  });

  it('the signed time is bounded by toleranceSeconds instead, both ways', async () => {
    expect(await holdsAt(10_000, { toleranceSeconds: 10 })).toBe(true);
    expect(await holdsAt(-10_000, { toleranceSeconds: 10 })).toBe(true);
    expect(await codeAt(11_000, { toleranceSeconds: 10 })).toBe('timestamp_too_old');
    expect(await codeAt(-11_000, { toleranceSeconds: 10 })).toBe('timestamp_in_future');
    expect(await holdsAt(3_600_000, { toleranceSeconds: 3600 })).toBe(true);
  });

  it('the signed time is checked before the signature', async () => {
    expect(await codeAt(301_000, { secret: OTHER })).toBe('timestamp_too_old');
    expect(await codeAt(0, { secret: OTHER })).toBe('signature_mismatch');
  });

  it('a broken clock refuses the delivery', async () => {
    for (const time of [Number.NaN, Number.POSITIVE_INFINITY, 0]) {
      expect((await refused(input({ now: () => time }))).status).toBe(401);
    }
  });

  it('the signed time is reported with its distance, so that a wrong clock is seen in the log', async () => {
    expect((await refused(input({ now: () => NOW + 86_400_000 }))).message).toContain('86400 s');
    expect((await refused(input({ now: () => NOW - 86_400_000 }))).message).toContain('86400 s');
  });

  it('the signed time is that of Date.now unless a clock is given', async () => {
    expect((await verified({ ...aDelivery({ at: Date.now() }), secret: SECRET })).event.id).toBe('evt_1');
    expect((await refused({ ...aDelivery({ at: Date.now() - 302_000 }), secret: SECRET })).code).toBe(
      'timestamp_too_old',
    );
  });

  it('a signed time cannot be changed', async () => {
    const { headers, body } = aDelivery();
    const moved = {
      ...headers,
      'x-service-signature-v2': `${headers['x-service-signature-v2']}`.replace('t=1', 't=2'),
    };
    const clock = () => NOW + 1_000_000_000_000;
    expect((await refused({ headers: moved, body, secret: SECRET, now: clock })).code).toBe('signature_mismatch');
  });
});

describe('the legacy signature', () => {
  const legacy = (changes: Partial<VerifyInput> = {}): VerifyInput =>
    input({ ...aDelivery({ scheme: 'legacy' }), ...changes });

  it('the legacy signature alone is refused unless it is asked for', async () => {
    expect((await refused(legacy())).code).toBe('legacy_not_accepted');
    expect((await refused(legacy({ legacy: 'reject' }))).code).toBe('legacy_not_accepted');
  });

  it("the legacy signature is valid with legacy: 'accept', and the delivery says so", async () => {
    const delivery = await verified(legacy({ legacy: 'accept' }));
    expect(delivery).toMatchObject({ scheme: 'legacy', signedAt: undefined, secretIndex: 0 });
    expect(verifySignature(legacy({ legacy: 'accept' }))).toEqual({
      scheme: 'legacy',
      signedAt: undefined,
      secretIndex: 0,
    });
  });

  it('the legacy signature is ignored where both headers are present', async () => {
    const { headers, body } = aDelivery();
    const forged = { ...headers, 'x-service-signature': `sha256=${'0'.repeat(64)}` };
    expect((await verified({ headers: forged, body, secret: SECRET, now, legacy: 'accept' })).scheme).toBe('v2');
  });

  it.each([
    ['empty', ''],
    ['blank', ' '],
    ['of another grammar', 'nonsense'],
    ['without a v1', 't=1'],
    ['forged', `t=${NOW / 1000},v1=${'0'.repeat(64)}`],
    ['too old', `t=${NOW / 1000 - 301},v1=${'0'.repeat(64)}`],
  ])('the legacy signature never stands in for a V2 header that is %s', async (_, v2) => {
    const { headers, body } = aDelivery({ headers: { 'x-service-signature-v2': v2 } });
    const error = await refused({ headers, body, secret: SECRET, now, legacy: 'accept' });
    expect(error.status).toBe(401);
  });

  it('the legacy signature never stands in for a V2 header that came as a list', async () => {
    const { headers, body } = aDelivery({ scheme: 'legacy' });
    for (const v2 of [[], ['t=1,v1=2'], ['', '']]) {
      const both = { ...headers, 'x-service-signature-v2': v2 };
      expect((await refused({ headers: both, body, secret: SECRET, now, legacy: 'accept' })).code).toBe(
        'malformed_signature',
      );
    }
  });

  it('the legacy signature is bounded in age by the signed timestamp: the retry horizon and the tolerance, and no second more', async () => {
    const aged = (seconds: number, more = {}) => legacy({ legacy: 'accept', now: () => NOW + seconds * 1000, ...more });
    expect((await verified(aged(18_870 + 300))).scheme).toBe('legacy');
    expect((await refused(aged(18_870 + 301))).code).toBe('timestamp_too_old');
    expect((await verified(aged(18_870 + 10, { toleranceSeconds: 10 }))).scheme).toBe('legacy');
    expect((await refused(aged(18_870 + 11, { toleranceSeconds: 10 }))).code).toBe('timestamp_too_old');
  });

  it('the legacy signature may be older with a larger legacyMaxAgeSeconds, and has to be younger with a smaller one', async () => {
    const aged = (seconds: number, legacyMaxAgeSeconds: number) =>
      input({
        ...aDelivery({ scheme: 'legacy' }),
        legacy: 'accept',
        legacyMaxAgeSeconds,
        now: () => NOW + seconds * 1000,
      });
    expect((await verified(aged(86_400, 86_400))).scheme).toBe('legacy');
    expect((await refused(aged(86_401, 86_400))).code).toBe('timestamp_too_old');
    expect((await refused(aged(61, 60))).code).toBe('timestamp_too_old');
  });

  it('the legacy signature has a timestamp in UTC where it names no offset, whatever the time zone of the machine', async () => {
    for (const zone of ['Asia/Tokyo', 'America/Los_Angeles']) {
      vi.stubEnv('TZ', zone);
      const delivery = aDelivery({ scheme: 'legacy', event: anEvent({ timestamp: '2026-07-11T12:00:00' }) });
      const aged = (seconds: number) =>
        input({ ...delivery, legacy: 'accept', now: () => Date.UTC(2026, 6, 11, 12) + seconds * 1000 });
      expect((await verified(aged(19_170))).scheme).toBe('legacy');
      expect((await refused(aged(19_171))).code).toBe('timestamp_too_old');
    }
  });

  it('the legacy signature is not refused for a signed timestamp ahead of the clock, which only says that it is young', async () => {
    const ahead = legacy({ legacy: 'accept', now: () => NOW - 86_400_000 });
    expect((await verified(ahead)).scheme).toBe('legacy');
  });

  it('the legacy signature is refused where the clock gives no time to compare with', async () => {
    expect((await refused(legacy({ legacy: 'accept', now: () => Number.NaN }))).code).toBe('timestamp_too_old');
  });

  it('a legacy signature built from a captured V2 value is refused, because its body is not JSON', async () => {
    const { headers, body } = aDelivery({ scheme: 'v2' });
    const [t, v1] = `${headers['x-service-signature-v2']}`
      .split(',')
      .map((element) => element.slice(element.indexOf('=') + 1));
    const swapped: VerifyInput = {
      headers: { 'x-service-signature': `sha256=${v1}` },
      body: `${t}.${body}`,
      secret: SECRET,
      now,
      legacy: 'accept',
    };
    expect(verifySignature(swapped).scheme).toBe('legacy');
    expect(verifySignature({ ...swapped, now: () => NOW + 1e12 }).scheme).toBe('legacy');
    expect((await refused(swapped)).code).toBe('invalid_json');
  });

  it('the legacy signature needs its own secret too', async () => {
    expect((await refused(legacy({ legacy: 'accept', secret: OTHER }))).code).toBe('signature_mismatch');
  });
});

describe('verifySignature', () => {
  it('verifySignature says which signature is valid and does not look into the body', () => {
    const body = Uint8Array.of(0xff, 0x00);
    expect(verifySignature({ ...aDelivery({ body }), secret: SECRET, now })).toEqual({
      scheme: 'v2',
      signedAt: NOW,
      secretIndex: 0,
    });
  });

  it('verifySignature refuses what verify refuses before the envelope', () => {
    expect(refusal(() => verifySignature(input({ body: 'other' }))).code).toBe('signature_mismatch');
    expect(refusal(() => verifySignature(input({ headers: {} }))).code).toBe('missing_signature');
    expect(refusal(() => verifySignature(input({ now: () => NOW + 301_000 }))).code).toBe('timestamp_too_old');
    expect(refusal(() => verifySignature(input({ secret: '' }))).code).toBe('invalid_secret');
  });
});

describe('the headers that no signature covers', () => {
  const unsigned = async (headers: Record<string, string>) =>
    (await verified({ ...aDelivery({ headers }), secret: SECRET, now })).unsigned;

  it('the headers that no signature covers are passed next to the event, the attempt as a number', async () => {
    const headers = { 'Idempotency-Key': 'key-1', 'X-Service-Webhook-Id': 'wh_1', 'X-Service-Attempt': '3' };
    expect(await unsigned(headers)).toEqual({ idempotencyKey: 'key-1', webhookId: 'wh_1', attempt: 3 });
  });

  it.each(['', '0', '-1', '+1', '01', '1.5', '1e3', 'first', '1234567890', ' 1', '0x1'])(
    'the headers that no signature covers never refuse a delivery: an attempt of %j is none',
    async (attempt) => {
      expect((await unsigned({ 'x-service-attempt': attempt })).attempt).toBeUndefined();
    },
  );

  it('the headers that no signature covers have the largest attempt that is believed', async () => {
    expect((await unsigned({ 'x-service-attempt': '999999999' })).attempt).toBe(999_999_999);
  });

  it('the headers that no signature covers are left out where they came more than once', async () => {
    const { headers, body } = aDelivery();
    const twice = {
      ...headers,
      'idempotency-key': ['a', 'b'],
      'x-service-webhook-id': ['c'],
      'x-service-attempt': ['1'],
    };
    const delivery = await verified({ headers: twice, body, secret: SECRET, now });
    expect(delivery.unsigned).toEqual({ idempotencyKey: undefined, webhookId: undefined, attempt: undefined });
  });
});

describe('options', () => {
  it('given as undefined are the defaults', async () => {
    const none = { headerPrefix: undefined, legacy: undefined, toleranceSeconds: undefined, now: undefined };
    const current = aDelivery({ at: Date.now() });
    expect((await verified({ ...current, secret: SECRET, ...none })).scheme).toBe('v2');
    const old = aDelivery({ at: Date.now() - 302_000 });
    expect((await refused({ ...old, secret: SECRET, ...none })).code).toBe('timestamp_too_old');
    const legacy = aDelivery({ scheme: 'legacy' });
    expect((await refused({ ...legacy, secret: SECRET, ...none })).code).toBe('legacy_not_accepted');
  });

  it.each<[keyof VerifyInput, unknown[]]>([
    [
      'toleranceSeconds',
      [Number.NaN, 0, -0, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '300', null, true, [300], 300n],
    ],
    ['legacy', [true, false, 'accepted', 'ACCEPT', '', null, 1, ['accept']]],
    [
      'headerPrefix',
      ['', 'x service', 'x-service-', '-x', 'x--y', 'x_service', 'x:y', 'xé', 'x\n', null, 5, ['x-service'], {}],
    ],
    ['now', [null, 0, 'now', NOW, {}]],
    ['headers', [undefined, null, 'x-service-signature-v2: t=1', 42, () => {}]],
  ])('options are checked each time, so that a wrong %s never weakens the check', async (option, values) => {
    for (const value of values) {
      const error = await refused({ ...input(), [option]: value } as VerifyInput);
      expect(error.code, `${option}: ${String(value)}`).toBe('invalid_option');
      expect(error.message).toContain(option);
    }
  });

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no clock');
      },
    ],
    ['cannot be reckoned with', () => 1n],
  ])('options are refused with a clock that %s, whichever signature came', async (_, clock) => {
    for (const scheme of ['v2', 'legacy'] as const) {
      const call = input({ ...aDelivery({ scheme }), legacy: 'accept', now: clock as () => number });
      const error = await refused(call);
      expect(error.code).toBe('invalid_option');
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it('let the vendor have its own header prefix, in any case', async () => {
    const body = bodyOf();
    const headers = {
      ...sign({ body, secret: SECRET, at: NOW, headerPrefix: 'Acme' }),
      'acme-webhook-id': 'wh_1',
      'acme-attempt': '2',
    };
    for (const headerPrefix of ['acme', 'ACME', 'Acme']) {
      const delivery = await verified({ headers, body, secret: SECRET, now, headerPrefix });
      expect(delivery.unsigned).toMatchObject({ webhookId: 'wh_1', attempt: 2 });
    }
    expect((await refused({ headers, body, secret: SECRET, now })).code).toBe('missing_signature');
  });
});

describe('what a refusal says', () => {
  const mac = /[0-9a-f]{64}/;

  it.each<[string, Partial<VerifyInput>]>([
    ['a forged signature', { headers: { 'x-service-signature-v2': `t=${NOW / 1000},v1=${'0'.repeat(64)}` } }],
    ['another body', { body: bodyOf({ jobId: 'CANARY' }) }],
    ['no signature', { headers: {} }],
    ['a malformed one', { headers: { 'x-service-signature-v2': 't=CANARY' } }],
    ['a late one', { now: () => NOW + 400_000 }],
    ['only a legacy one', aDelivery({ scheme: 'legacy' })],
    ['a body that is no JSON', aDelivery({ body: '{"CANARY": CANARY}' })],
    ['a body that is no UTF-8', aDelivery({ body: Buffer.concat([Buffer.from('{"CANARY"'), Uint8Array.of(0xff)]) })],
    ['a body that is no envelope', aDelivery({ body: '{"id":"CANARY"}' })],
    ['a parsed body', { body: { jobId: 'CANARY' } as unknown as string }],
    ['a padded secret', { secret: ` ${SECRET}` }],
    ['an unusable header prefix', { headerPrefix: 'x y' }],
  ])(
    'the text of a refusal holds no secret, no expected signature and no piece of the body: %s',
    async (_, changes) => {
      const error = await refused(input(changes));
      const everything = [
        error.message,
        error.hint,
        error.stack,
        String(error),
        JSON.stringify(error),
        String(error.cause),
      ].join();
      expect(everything).not.toContain(SECRET);
      expect(everything).not.toContain('CANARY');
      expect(everything).not.toMatch(mac);
      expect(error.hint).not.toBe('');
    },
  );
});
