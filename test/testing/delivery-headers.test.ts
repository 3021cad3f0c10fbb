import { asSpecified } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';

describe('asSpecified', () => {
  it('the name of a header has a capital in each of its words, as the specification writes it', () => {
    expect(asSpecified({ 'idempotency-key': 'a-b', 'x-service-signature-v2': 'c', '1a-b': 'd' })).toEqual([
      ['Idempotency-Key', 'a-b'],
      ['X-Service-Signature-V2', 'c'],
      ['1a-B', 'd'],
    ]);
  });
});
