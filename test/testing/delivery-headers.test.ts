import { asSpecified } from 'service-webhooks/testing';
import { expect, it } from 'vitest';

it('asSpecified writes each word of a header name with a capital letter', () => {
  expect(asSpecified({ 'idempotency-key': 'a-b', 'x-service-signature-v2': 'c', '1a-b': 'd' })).toEqual([
    ['Idempotency-Key', 'a-b'],
    ['X-Service-Signature-V2', 'c'],
    ['1a-B', 'd'],
  ]);
});
