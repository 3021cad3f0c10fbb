import { toInject } from 'service-webhooks/testing';
import { expect, it } from 'vitest';

it('what Fastify injects is all that is sent, with the bytes in a Buffer and headers of its own', () => {
  const headers = { 'x-sent': 'yes' };
  const injected = toInject({ method: 'POST', headers, body: Uint8Array.of(0, 255) }, '/in');
  expect(injected).toEqual({ method: 'POST', url: '/in', headers, payload: Buffer.of(0, 255) });
  expect(injected.headers).not.toBe(headers);
});
