import { toSupertest } from 'service-webhooks/testing';
import { expect, it } from 'vitest';

it('supertest is given the headers, and bytes that it sends as they are', () => {
  const given: unknown[] = [];
  toSupertest({ method: 'POST', headers: { 'x-sent': 'yes' }, body: Uint8Array.of(0, 255) })({
    set: (headers) => given.push(headers),
    serialize: (serializer) => given.push(serializer('anything else')),
    send: (body) => given.push(body),
  });
  const bytes = Buffer.of(0, 255);
  expect(given).toEqual([{ 'x-sent': 'yes' }, bytes, bytes]);
});
