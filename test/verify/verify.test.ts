import { createHmac } from 'node:crypto';
import { type Delivery, sign, type VerifyInput, verify, verifyAsync, verifySignature } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import {
  aDelivery,
  anEvent,
  bodyOf,
  type DeliveryParts,
  NOW,
  now,
  refusal,
  rejection,
  SECRET,
} from '../support/deliveries.js';

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

const codeOf = async (input: VerifyInput) => (await refused(input)).code;

/** A good delivery with the options of `verify`, with what is changed in one or the other. */
const input = (changes: Partial<VerifyInput> = {}, parts?: DeliveryParts): VerifyInput => ({
  ...aDelivery(parts),
  secret: SECRET,
  now,
  ...changes,
});

/** The same after some seconds. */
const inputAfter = (seconds: number, changes: Partial<VerifyInput> = {}, parts?: DeliveryParts) =>
  input({ now: () => NOW + seconds * 1000, ...changes }, parts);

describe('verify with a valid delivery', () => {
  it('verify returns the event and the exact bytes that were signed', async () => {
    const body = bytes(bodyOf());
    expect(await verified(input({}, { body }))).toEqual({
      event: anEvent(),
      body,
      scheme: 'v2',
      signedAt: NOW,
      secretIndex: 0,
      unsigned: { idempotencyKey: undefined, webhookId: undefined, attempt: undefined },
    });
  });

  it('fields that the types do not name stay in the event and in its data', async () => {
    const event = anEvent({ data: { nested: { a: [1, null] } }, region: 'eu' });
    expect((await verified(input({}, { event }))).event).toEqual(event);
  });

  it('signedAt of the result is the signed second, in milliseconds', async () => {
    expect((await verified(input({}, { at: NOW - 7_001 }))).signedAt).toBe(NOW - 8_000);
  });

  it('a delivery is refused when its body has one more byte of white space', async () => {
    expect(await codeOf(input({ body: `${bodyOf()} ` }))).toBe('signature_mismatch');
  });

  it('a signature that other code has made by the documented rules is accepted', async () => {
    const t = NOW / 1000;
    const v1 = createHmac('sha256', SECRET).update(`${t}.${bodyOf()}`).digest('hex');
    expect((await verified(input({ headers: { 'X-Service-Signature-V2': `t=${t},v1=${v1}` } }))).scheme).toBe('v2');
  });
});

describe('the body given to verify', () => {
  const text = bodyOf({ data: { title: 'Grüße 🎧' } });
  const large = Buffer.concat([Buffer.from('before'), Buffer.from(text), Buffer.from('after')]);
  const part = [large.buffer, large.byteOffset + 6, Buffer.byteLength(text)] as const;

  it.each<[string, unknown]>([
    ['text', text],
    ['a Uint8Array', bytes(text)],
    ['a Buffer', Buffer.from(text)],
    ['an ArrayBuffer', bytes(text).buffer],
    ['a part of a larger buffer', new Uint8Array(...part)],
    ['a DataView of a larger buffer', new DataView(...part)],
  ])('%s is accepted as the body, and returned as bytes', async (_, body) => {
    const delivery = await verified(input({ body: body as string }, { body: text }));
    expect(delivery.event.data).toEqual({ title: 'Grüße 🎧' });
    expect(new Uint8Array(delivery.body)).toEqual(bytes(text));
  });

  it.each<[string, unknown]>([
    ['an object', anEvent()],
    ['an array', [1, 2, 3]],
    ['undefined', undefined],
    ['null', null],
    ['a number', 42],
    ['the JSON form of a Buffer', Buffer.from(text).toJSON()],
    ['a promise of bytes', Promise.resolve(bytes(text))],
  ])('%s is refused as a body that was already parsed', async (_, body) => {
    const error = await refused(input({ body: body as string }));
    expect(error.code).toBe('body_already_parsed');
    expect(error.hint).toMatch(/raw body/);
  });

  it('bytes that are overwritten after the call of verifyAsync have no effect', async () => {
    const body = bytes(bodyOf());
    const pending = verifyAsync(input({ body }));
    body.fill(0);
    expect((await pending).event).toEqual(anEvent());
  });

  it('bytes that were transferred to another owner are refused', async () => {
    for (const view of [bytes(text), Buffer.from(new Uint8Array(8).buffer), new Uint8Array(8).buffer]) {
      structuredClone(null, { transfer: [view instanceof ArrayBuffer ? view : view.buffer] });
      expect(await refused(input({ body: view }))).toMatchObject({
        code: 'invalid_option',
        cause: expect.any(TypeError),
      });
    }
  });

  it.each<[string, string | Uint8Array]>([
    ['invalid_encoding', Uint8Array.of(0x7b, 0xff, 0x7d)],
    ['invalid_json', '{"id":'],
    ['invalid_json', ''],
    ['invalid_envelope', '{}'],
  ])('the body is checked for %s only after the signature is valid', async (code, body) => {
    expect(await codeOf(input({}, { body }))).toBe(code);
    expect(await codeOf(input({ body }))).toBe('signature_mismatch');
  });
});

describe('the secret given to verify', () => {
  it('a secret of bytes and the same one as text verify the same signatures', async () => {
    const secret = Uint8Array.of(0, 255, 1, 128, 10);
    expect((await verified(input({ secret }, { secret }))).secretIndex).toBe(0);
    expect((await verified(input({}, { secret: bytes(SECRET) }))).secretIndex).toBe(0);
  });

  it('secretIndex says which of several secrets matched, and is the first of equal ones', async () => {
    const secret = [OTHER, SECRET, bytes('third')];
    for (const [index, signer] of [OTHER, SECRET, 'third'].entries()) {
      expect((await verified(input({ secret }, { secret: signer }))).secretIndex).toBe(index);
      expect(verifySignature(input({ secret }, { secret: signer })).secretIndex).toBe(index);
    }
    expect((await verified(input({ secret: [SECRET, SECRET] }))).secretIndex).toBe(0);
  });

  it('the error of a mismatch says how many secrets were tried, unless it was one', async () => {
    const error = await refused(input({ secret: [OTHER, 'whsec_old'] }));
    expect(error.code).toBe('signature_mismatch');
    expect(error.message).toContain(' 2 secrets were tried. ');
    expect((await refused(input({ secret: OTHER }))).message).not.toContain('tried');
  });

  it('a secret without its prefix or in another case does not match', async () => {
    for (const secret of [SECRET.replace('whsec_', ''), SECRET.toUpperCase()]) {
      expect(await codeOf(input({ secret }))).toBe('signature_mismatch');
    }
  });

  it('a delivery is verified after the use of more secrets than verify keeps prepared', async () => {
    for (let i = 0; i < 250; i++) {
      const secret = `whsec_tenant-${i}`;
      expect(verify(input({ secret }, { secret })).event.id).toBe('evt_1');
    }
    expect((await verified(input())).event.id).toBe('evt_1');
  });

  it('text as the secret is prepared as a key once, and at most a hundred keys are kept', async () => {
    vi.resetModules();
    const fresh = await import('../../src/verify/verify.js');
    const prepare = vi.spyOn(crypto.subtle, 'importKey');
    const deliver = (secret: string) => fresh.verifyAsync(input({ secret }, { secret }));
    const hundred = Array.from({ length: 100 }, (_, i) => `whsec_tenant-${i}`);
    for (const secret of [...hundred, ...hundred]) await deliver(secret);
    expect(prepare).toHaveBeenCalledTimes(100);
    await deliver('whsec_one-too-many');
    await deliver('whsec_tenant-0');
    expect(prepare).toHaveBeenCalledTimes(102);
  });

  it('a secret of bytes that is overwritten counts with its new bytes in the next call', async () => {
    const secret = bytes(SECRET);
    expect((await verified(input({ secret }))).event.id).toBe('evt_1');
    const pending = verifyAsync(input({ secret }));
    secret.reverse();
    expect((await pending).event.id).toBe('evt_1');
    expect(await codeOf(input({ secret }))).toBe('signature_mismatch');
  });
});

describe('the signed time of a delivery given to verify', () => {
  it('a delivery signed exactly 300 s ago or ahead is accepted, and one second more is refused', async () => {
    for (const seconds of [300, 300.999, -300]) expect((await verified(inputAfter(seconds))).signedAt).toBe(NOW);
    expect(await codeOf(inputAfter(301))).toBe('timestamp_too_old');
    for (const seconds of [-301, -300.001]) expect(await codeOf(inputAfter(seconds))).toBe('timestamp_in_future');
  });

  it('toleranceSeconds is the limit for the past and for the future', async () => {
    for (const toleranceSeconds of [10, 3_600]) {
      for (const seconds of [toleranceSeconds, -toleranceSeconds])
        await verified(inputAfter(seconds, { toleranceSeconds }));
      expect(await codeOf(inputAfter(toleranceSeconds + 1, { toleranceSeconds }))).toBe('timestamp_too_old');
      expect(await codeOf(inputAfter(-toleranceSeconds - 1, { toleranceSeconds }))).toBe('timestamp_in_future');
    }
  });

  it('the error is that of the time where both time and signature are wrong', async () => {
    expect(await codeOf(inputAfter(301, { secret: OTHER }))).toBe('timestamp_too_old');
    expect(await codeOf(inputAfter(300, { secret: OTHER }))).toBe('signature_mismatch');
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, 0])(
    'a delivery is refused where the option now returns %d',
    async (time) => {
      expect((await refused(input({ now: () => time }))).status).toBe(401);
    },
  );

  it.each([
    [86_400, 'is 86400 s old (300 s are allowed)'],
    [-86_400, 'is 86400 s in the future (300 s are allowed)'],
  ])('the error says how far the signed time is from now: %d s', async (seconds, says) => {
    expect((await refused(inputAfter(seconds))).message).toContain(says);
  });

  it('a delivery is refused when the time in its header is changed', async () => {
    const { 'x-service-signature-v2': v2 = '' } = aDelivery().headers;
    const headers = { 'x-service-signature-v2': v2.replace('t=1', 't=2') };
    expect(await codeOf(inputAfter(1_000_000_000, { headers }))).toBe('signature_mismatch');
  });
});

describe('the legacy signature given to verify', () => {
  const legacy = (changes: Partial<VerifyInput> = {}) => input({ legacy: 'accept', ...changes }, { scheme: 'legacy' });
  const aged = (seconds: number, changes: Partial<VerifyInput> = {}) =>
    legacy({ now: () => NOW + seconds * 1000, ...changes });

  it.each([undefined, 'reject'] as const)(
    'a legacy signature alone is refused with the option legacy: %j',
    async (option) => {
      expect(await codeOf(legacy({ legacy: option }))).toBe('legacy_not_accepted');
    },
  );

  it("a legacy signature is accepted with legacy: 'accept'", async () => {
    const expected = { scheme: 'legacy', signedAt: undefined, secretIndex: 0 };
    expect(await verified(legacy())).toMatchObject(expected);
    expect(verifySignature(legacy())).toEqual(expected);
    expect(await codeOf(legacy({ secret: OTHER }))).toBe('signature_mismatch');
  });

  it('the legacy header is ignored where there is a V2 header', async () => {
    const headers = { 'x-service-signature': `sha256=${'0'.repeat(64)}` };
    expect((await verified(input({ legacy: 'accept' }, { headers }))).scheme).toBe('v2');
  });

  it.each<[string, unknown, string]>([
    ['empty', '', 'malformed_signature'],
    ['blank', ' ', 'malformed_signature'],
    ['of another grammar', 'nonsense', 'malformed_signature'],
    ['without a v1', 't=1', 'malformed_signature'],
    ['forged', `t=${NOW / 1000},v1=${'0'.repeat(64)}`, 'signature_mismatch'],
    ['too old', `t=${NOW / 1000 - 301},v1=${'0'.repeat(64)}`, 'timestamp_too_old'],
    ['an empty list', [], 'malformed_signature'],
    ['a list of one', ['t=1,v1=2'], 'malformed_signature'],
    ['a list of two', ['', ''], 'malformed_signature'],
  ])('a valid legacy header does not replace a V2 header that is %s', async (_, v2, code) => {
    const headers = { ...aDelivery().headers, 'x-service-signature-v2': v2 as string };
    expect(await codeOf(input({ headers, legacy: 'accept' }))).toBe(code);
  });

  it.each<[string, number, Partial<VerifyInput>]>([
    ['the retry horizon and 300 s', 18_870 + 300, {}],
    ['the retry horizon and toleranceSeconds', 18_870 + 10, { toleranceSeconds: 10 }],
    ['a larger legacyMaxAgeSeconds', 86_400, { legacyMaxAgeSeconds: 86_400 }],
    ['a smaller legacyMaxAgeSeconds', 60, { legacyMaxAgeSeconds: 60 }],
  ])('the timestamp of the body may be as old as %s and not a second older', async (_, seconds, options) => {
    expect((await verified(aged(seconds, options))).scheme).toBe('legacy');
    expect(await codeOf(aged(seconds + 1, options))).toBe('timestamp_too_old');
  });

  it.each(['Asia/Tokyo', 'America/Los_Angeles'])(
    'a timestamp without an offset is read as UTC, also in the time zone %s',
    async (zone) => {
      vi.stubEnv('TZ', zone);
      const delivery = aDelivery({ scheme: 'legacy', event: { timestamp: '2026-07-11T12:00:00' } });
      expect((await verified(aged(19_170, delivery))).scheme).toBe('legacy');
      expect(await codeOf(aged(19_171, delivery))).toBe('timestamp_too_old');
    },
  );

  it('a timestamp of the body in the future is accepted', async () => {
    expect((await verified(aged(-86_400))).scheme).toBe('legacy');
  });

  it('a delivery is refused where the option now returns NaN', async () => {
    expect(await codeOf(aged(Number.NaN))).toBe('timestamp_too_old');
  });

  it('a V2 signature sent as a legacy one is refused, since the body that it signs is no JSON', async () => {
    const { headers, body } = aDelivery({ scheme: 'v2' });
    const [, t, v1] = /^t=(\d+),v1=(.+)$/.exec(`${headers['x-service-signature-v2']}`) ?? [];
    const swapped = legacy({ headers: { 'x-service-signature': `sha256=${v1}` }, body: `${t}.${body}` });
    expect(verifySignature(swapped).scheme).toBe('legacy');
    expect(verifySignature({ ...swapped, now: () => NOW + 1e12 }).scheme).toBe('legacy');
    expect(await codeOf(swapped)).toBe('invalid_json');
  });
});

describe('verifySignature', () => {
  it('the result has scheme, time and secret index, also for a body that is no event', () => {
    const delivery = input({}, { body: Uint8Array.of(0xff, 0x00) });
    expect(verifySignature(delivery)).toEqual({ scheme: 'v2', signedAt: NOW, secretIndex: 0 });
  });

  it.each<[string, Partial<VerifyInput>]>([
    ['signature_mismatch', { body: 'other' }],
    ['missing_signature', { headers: {} }],
    ['timestamp_too_old', { now: () => NOW + 301_000 }],
    ['invalid_secret', { secret: '' }],
  ])('the error is that of verify: %s', (code, changes) => {
    expect(refusal(() => verifySignature(input(changes))).code).toBe(code);
  });
});

describe('the unsigned headers of a verified delivery', () => {
  const unsigned = async (headers: Record<string, string | string[]>) =>
    (await verified(input({ headers: { ...aDelivery().headers, ...headers } }))).unsigned;

  it('the delivery has the Idempotency-Key, webhook id and attempt next to its event', async () => {
    const headers = { 'Idempotency-Key': 'key-1', 'X-Service-Webhook-Id': 'wh_1', 'X-Service-Attempt': '3' };
    expect(await unsigned(headers)).toEqual({ idempotencyKey: 'key-1', webhookId: 'wh_1', attempt: 3 });
    expect((await unsigned({ 'x-service-attempt': '999999999' })).attempt).toBe(999_999_999);
  });

  it.each(['', '0', '-1', '+1', '01', '1.5', '1e3', 'first', '1234567890', ' 1', '0x1'])(
    'a delivery is accepted with a malformed attempt header, which becomes undefined: %j',
    async (attempt) => {
      expect((await unsigned({ 'x-service-attempt': attempt })).attempt).toBeUndefined();
    },
  );

  it('a header that occurs twice becomes undefined', async () => {
    const twice = { 'idempotency-key': ['a', 'b'], 'x-service-webhook-id': ['c'], 'x-service-attempt': ['1'] };
    expect(await unsigned(twice)).toEqual({ idempotencyKey: undefined, webhookId: undefined, attempt: undefined });
  });
});

describe('the options of verify', () => {
  it('an option that is undefined has its default', async () => {
    const none = { headerPrefix: undefined, legacy: undefined, toleranceSeconds: undefined, now: undefined };
    const at = Date.now();
    expect((await verified(input(none, { at }))).scheme).toBe('v2');
    expect(await codeOf(input(none, { at: at - 302_000 }))).toBe('timestamp_too_old');
    expect(await codeOf(input(none, { scheme: 'legacy' }))).toBe('legacy_not_accepted');
  });

  it('a request may be spread into the input, with its method, url and signal', async () => {
    const request = { method: 'POST', url: '/webhooks', signal: AbortSignal.abort() };
    expect((await verified({ ...request, ...input() })).scheme).toBe('v2');
  });

  const secrets = [undefined, null, '', ' \t\n', ` ${SECRET}`, `${SECRET}\n`, new Uint8Array(0), 42, () => [SECRET]];
  const prefixes = ['', 'x service', 'x-service-', '-x', 'x--y', 'x_service', 'x:y', 'xé', 'x\n', null, 5, ['x'], {}];
  const tolerances = [Number.NaN, 0, -0, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, '300', null, true];

  it.each<[keyof VerifyInput, unknown[]]>([
    ['secret', [...secrets, bytes(SECRET).buffer, [], [SECRET, ''], [SECRET, undefined], new Array(1)]],
    ['toleranceSeconds', [...tolerances, [300], 300n]],
    ['legacyMaxAgeSeconds', tolerances],
    ['legacy', [true, false, 'accepted', 'ACCEPT', '', null, 1, ['accept']]],
    ['headerPrefix', prefixes],
    ['now', [null, 0, 'now', NOW, {}]],
    ['headers', [undefined, null, 'x-service-signature-v2: t=1', 42, () => {}]],
  ])('a wrong value of %s is refused although the delivery is valid', async (option, values) => {
    for (const value of values) {
      const error = await refused({ ...input(), [option]: value } as VerifyInput);
      const code = option === 'secret' ? 'invalid_secret' : 'invalid_option';
      expect(error.code, `${option}: ${String(value)}`).toBe(code);
      expect(error.message).toContain(option);
    }
  });

  const noClock = () => {
    throw new Error('no clock');
  };

  it.each<[string, () => unknown]>([
    ['an exception', noClock],
    ['a BigInt', () => 1n],
  ])('an option now that returns %s is refused for V2 and legacy signatures', async (_, clock) => {
    for (const scheme of ['v2', 'legacy'] as const) {
      const error = await refused(input({ legacy: 'accept', now: clock as () => number }, { scheme }));
      expect(error.code).toBe('invalid_option');
      expect(error.cause).toBeInstanceOf(Error);
    }
  });

  it.each(['acme', 'ACME', 'Acme'])("the vendor's header prefix may be %s", async (headerPrefix) => {
    const signed = sign({ body: bodyOf(), secret: SECRET, at: NOW, headerPrefix: 'Acme' });
    const headers = { ...signed, 'acme-webhook-id': 'wh_1', 'acme-attempt': '2' };
    const { unsigned } = await verified(input({ headers, headerPrefix }));
    expect(unsigned).toMatchObject({ webhookId: 'wh_1', attempt: 2 });
    expect(await codeOf(input({ headers }))).toBe('missing_signature');
  });
});

describe('the text of an error of verify', () => {
  const without = (headers: VerifyInput['headers']) => input({ headers });
  const similar = ['ACME-Signature-V2', 'b-signature-v2', 'c-signature-v2', 'd-signature-v2'];
  const others = ['x-signature-v2-old', 'signature-v2', '$acme-signature-v2', `${'x'.repeat(100)}-signature-v2`];
  const oneObject = 'verify takes one object. Call verify({ headers, body, secret }).';
  const found = 'The request has no x-service-signature-v2 header, but it has acme-signature-v2';

  it.each<[string, unknown, string]>([
    ['three arguments, the body first', bodyOf(), oneObject],
    ['bytes', bytes(bodyOf()), oneObject],
    ['an array', [], oneObject],
    ['null', null, oneObject],
    ['undefined', undefined, oneObject],
    ['the option prefix', { ...input(), prefix: 'acme' }, 'headerPrefix'],
    ['no body', input({ body: undefined as never }), 'body is undefined.'],
    ['null as the body', input({ body: null as never }), 'body is null.'],
    ['an empty secret', input({ secret: '' }), 'secret is empty.'],
    ['no headers', without({}), 'The request has no x-service-signature-v2 header.'],
    ['other names', without(Object.fromEntries(others.map((name) => [name, '']))), 'no x-service-signature-v2 header.'],
    ['the header of another vendor', without({ [`${similar[0]}`]: '' }), `${found}.`],
    ['Headers of another vendor', without(new Headers([[`${similar[0]}`, '']])), `${found}.`],
    [
      'pairs of other vendors',
      without(similar.map((name): [string, string] => [name, ''])),
      `${found}, b-signature-v2, c-signature-v2.`,
    ],
    [
      'a getter that throws',
      {
        ...input(),
        get legacy() {
          throw new Error('no');
        },
      },
      'a getter, an iterator or the clock. Fix error.cause.',
    ],
  ])('the error for verify with %s says what it was given', async (_, given, says) => {
    const error = await refused(given as VerifyInput);
    expect(error.message).toContain(says);
    expect(error.hint).not.toBe('');
  });

  it('headers after the 200th are not named', async () => {
    const many = Array.from({ length: 200 }, (_, i): [string, string] => [`h-${i}`, '']);
    expect((await refused(without([...many, ['acme-signature-v2', '']]))).message).not.toContain('acme');
  });

  it.each<[string, Partial<VerifyInput>]>([
    ['a forged signature', { headers: { 'x-service-signature-v2': `t=${NOW / 1000},v1=${'0'.repeat(64)}` } }],
    ['another body', { body: bodyOf({ jobId: 'CANARY' }) }],
    ['no signature', { headers: {} }],
    ['a malformed signature', { headers: { 'x-service-signature-v2': 't=CANARY' } }],
    ['a late delivery', { now: () => NOW + 400_000 }],
    ['a legacy signature alone', aDelivery({ scheme: 'legacy' })],
    ['a body that is no JSON', aDelivery({ body: '{"CANARY": CANARY}' })],
    ['a body that is no UTF-8', aDelivery({ body: Buffer.from('{"CANARY"\xff', 'latin1') })],
    ['a body that is no envelope', aDelivery({ body: '{"id":"CANARY"}' })],
    ['a parsed body', { body: { jobId: 'CANARY' } as unknown as string }],
    ['a padded secret', { secret: ` ${SECRET}` }],
    ['an unusable header prefix', { headerPrefix: 'x y' }],
  ])('the error of %s has no secret, signature or piece of the body', async (_, changes) => {
    const error = await refused(input(changes));
    const { message, hint, stack, cause } = error;
    const everything = [message, hint, stack, String(error), JSON.stringify(error), String(cause)].join();
    for (const hidden of [SECRET, 'CANARY']) expect(everything).not.toContain(hidden);
    expect(everything).not.toMatch(/[0-9a-f]{64}/);
    expect(hint).not.toBe('');
  });
});
