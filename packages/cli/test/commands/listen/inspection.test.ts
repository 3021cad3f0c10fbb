import { describe, expect, it } from 'vitest';
import { aDelivery, type DeliveryParts, now, SECRET } from '../../../../../test/support/deliveries.js';
import { inspect } from '../../../src/commands/listen/inspection.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';

const options = { secrets: [SECRET], checks: {}, now } as unknown as ListenOptions;

function aMessage(parts: DeliveryParts = {}) {
  const { headers, body } = aDelivery(parts);
  return { method: 'POST', path: '/', headers: Object.entries(headers), body: Buffer.from(body as string) };
}

describe('what listen reads in a request', () => {
  it('the attempt is read under the header prefix of the app', () => {
    const message = aMessage({ headers: { 'My-App-Attempt': '2', 'X-Service-Attempt': '1' } });
    expect(inspect(message, { ...options, checks: { headerPrefix: 'My-App' } }).attempt).toBe('2');
    expect(inspect(aMessage(), options).attempt).toBeUndefined();
  });

  it('a refused request has its event type and id, but no signature scheme', () => {
    const inspection = inspect(aMessage({ secret: 'another' }), options);
    expect(inspection).toMatchObject({ verdict: 'signature_mismatch', type: 'stt.completed', id: 'evt_1' });
    expect(inspection.scheme).toBeUndefined();
  });

  it('the id and the type are cut, and broken surrogates in them replaced', () => {
    const long = 'x'.repeat(100_000);
    const { id, type } = inspect(aMessage({ body: JSON.stringify({ id: `evt_${long}`, type: long }) }), options);
    expect([id?.length, type?.length]).toEqual([501, 501]);
    const broken = inspect(aMessage({ body: '{"id":"evt_\\ud800","type":"\\udfff"}' }), options);
    expect([broken.id, broken.type]).toEqual(['evt_\ufffd', '\ufffd']);
  });

  it.each([
    ['{"id":', 'invalid_json'],
    ['null', 'invalid_envelope'],
    ['{}', 'invalid_envelope'],
    ['{"id":1,"type":null}', 'invalid_envelope'],
  ])('no id and no type is read from the body %s', (body, verdict) => {
    expect(inspect(aMessage({ body }), options)).toEqual({ verdict, attempt: undefined, bytes: body.length });
  });
});
