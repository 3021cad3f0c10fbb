import { toRequest } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../support/deliveries.js';

const delivery = { method: 'POST', headers: { 'x-sent': 'yes' }, body: Uint8Array.of(0, 255) };

describe('a Request', () => {
  it.each(['http://receiver.test/in', new URL('http://receiver.test/in')])(
    'has all that is sent, to %s',
    async (url) => {
      const request = toRequest(delivery, url);
      expect([request.method, request.url, request.headers.get('x-sent')]).toEqual([
        'POST',
        'http://receiver.test/in',
        'yes',
      ]);
      expect(new Uint8Array(await request.arrayBuffer())).toEqual(delivery.body);
    },
  );

  it('goes to an absolute URL', () => {
    expect(refusal(() => toRequest(delivery, '/webhooks'))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('url must be absolute'),
    });
  });
});
