import { describe, expect, it } from 'vitest';
import type { ListenOptions } from '../../../src/cli/listen/options.js';
import { look, mainCause } from '../../../src/cli/listen/seen.js';
import { aDelivery, bodyOf, type DeliveryParts, NOW, now, SECRET } from '../../support/deliveries.js';

const options = { secrets: [SECRET], now } as unknown as ListenOptions;

function aMessage(parts: DeliveryParts = {}) {
  const { headers, body } = aDelivery(parts);
  return { method: 'POST', path: '/', headers: Object.entries(headers), body: Buffer.from(body as string) };
}

describe('what a request says of itself', () => {
  it('is true where the signature holds', () => {
    expect(look(aMessage({ headers: { 'X-Service-Attempt': '3' } }), options)).toEqual({
      ...{ verdict: 'verified', scheme: 'v2', type: 'stt.completed', id: 'evt_1', attempt: '3' },
      bytes: bodyOf().length,
    });
  });

  it('is shown all the same where it is refused, with why', () => {
    const seen = look(aMessage({ secret: 'another' }), options);
    expect(seen).toMatchObject({ verdict: 'signature_mismatch', type: 'stt.completed', id: 'evt_1' });
    expect(seen.scheme).toBeUndefined();
  });

  it('cannot be told without a secret', () => {
    expect(look(aMessage(), { ...options, secrets: undefined })).toMatchObject({ verdict: 'unverified', id: 'evt_1' });
  });

  it('is told by the options that a receiver would have', () => {
    const message = aMessage({ scheme: 'legacy' });
    expect(look(message, options)).toMatchObject({ verdict: 'legacy_not_accepted' });
    expect(look(message, { ...options, legacy: 'accept' })).toMatchObject({ verdict: 'verified', scheme: 'legacy' });
  });

  it('has the attempt under the prefix that is expected', () => {
    const message = aMessage({ headers: { 'My-App-Attempt': '2', 'X-Service-Attempt': '1' } });
    expect(look(message, { ...options, headerPrefix: 'My-App' }).attempt).toBe('2');
    expect(look(aMessage(), options).attempt).toBeUndefined();
  });

  it.each([
    ['{"id":', 'invalid_json'],
    ['null', 'invalid_envelope'],
    ['{}', 'invalid_envelope'],
    ['{"id":1,"type":null}', 'invalid_envelope'],
  ])('is nothing where the body is %s', (body, verdict) => {
    expect(look(aMessage({ body }), options)).toEqual({ verdict, attempt: undefined, bytes: body.length });
  });
});

describe('why a request is refused', () => {
  it('is explained as far as that shows', () => {
    expect(mainCause(aMessage({ at: NOW - 3_600_000 }), options)).toMatchObject({ cause: 'clock_ahead' });
  });

  it('is not looked for in a body that is larger than 256 KiB', () => {
    const unsigned = (bytes: number) => ({ ...aMessage(), headers: [], body: Buffer.alloc(bytes) });
    expect(mainCause(unsigned(256 * 1024), options)).toBeDefined();
    expect(mainCause(unsigned(256 * 1024 + 1), options)).toBeUndefined();
  });
});
