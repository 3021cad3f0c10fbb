import { describe, expect, it } from 'vitest';
import { aDelivery, bodyOf, type DeliveryParts, now, SECRET } from '../../../../../test/support/deliveries.js';
import { inspect } from '../../../src/commands/listen/inspection.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';

const options = { secrets: [SECRET], checks: {}, now } as unknown as ListenOptions;

function aMessage(parts: DeliveryParts = {}) {
  const { headers, body } = aDelivery(parts);
  return { method: 'POST', path: '/', headers: Object.entries(headers), body: Buffer.from(body as string) };
}

describe('what a request says of itself', () => {
  it('what a request says of itself is true where the signature is valid', () => {
    expect(inspect(aMessage({ headers: { 'X-Service-Attempt': '3' } }), options)).toEqual({
      ...{ verdict: 'verified', scheme: 'v2', type: 'stt.completed', id: 'evt_1', attempt: '3' },
      bytes: bodyOf().length,
    });
  });

  it('what a request says of itself is shown all the same where it is refused, with why', () => {
    const inspection = inspect(aMessage({ secret: 'another' }), options);
    expect(inspection).toMatchObject({ verdict: 'signature_mismatch', type: 'stt.completed', id: 'evt_1' });
    expect(inspection.scheme).toBeUndefined();
  });

  it('what a request says of itself cannot be told without a secret', () => {
    expect(inspect(aMessage(), { ...options, secrets: undefined })).toMatchObject({
      verdict: 'unverified',
      id: 'evt_1',
    });
  });

  it('what a request says of itself is told by the options that a receiver would have', () => {
    const message = aMessage({ scheme: 'legacy' });
    expect(inspect(message, options)).toMatchObject({ verdict: 'legacy_not_accepted' });
    expect(inspect(message, { ...options, checks: { legacy: 'accept' } })).toMatchObject({
      verdict: 'verified',
      scheme: 'legacy',
    });
  });

  it('what a request says of itself has the attempt under the prefix that is expected', () => {
    const message = aMessage({ headers: { 'My-App-Attempt': '2', 'X-Service-Attempt': '1' } });
    expect(inspect(message, { ...options, checks: { headerPrefix: 'My-App' } }).attempt).toBe('2');
    expect(inspect(aMessage(), options).attempt).toBeUndefined();
  });

  it('what a request says of itself is short, and text that an address can have', () => {
    const long = 'x'.repeat(100_000);
    const { id, type } = inspect(aMessage({ body: JSON.stringify({ id: `evt_${long}`, type: long }) }), options);
    expect([id?.length, type?.length]).toEqual([501, 501]);
    const broken = inspect(aMessage({ body: '{"id":"evt_\\ud800","type":"\\udfff"}' }), options);
    expect([broken.id, broken.type]).toEqual(['evt_\ufffd', '\ufffd']);
    expect(() => encodeURIComponent(broken.id ?? '')).not.toThrow();
  });

  it.each([
    ['{"id":', 'invalid_json'],
    ['null', 'invalid_envelope'],
    ['{}', 'invalid_envelope'],
    ['{"id":1,"type":null}', 'invalid_envelope'],
  ])('what a request says of itself is nothing where the body is %s', (body, verdict) => {
    expect(inspect(aMessage({ body }), options)).toEqual({ verdict, attempt: undefined, bytes: body.length });
  });
});
