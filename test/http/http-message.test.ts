import { describe, expect, it } from 'vitest';
import { asSpecified } from '../../src/emulator/wire/send-request.js';
import { resign } from '../../src/http/http-message.js';
import { sign } from '../../src/verify/sign.js';
import { NOW, SECRET } from '../support/deliveries.js';

const body = Buffer.from('{}');
const message = {
  ...{ method: 'POST', path: '/', body },
  headers: [
    ['X-Other', 'a'],
    ['x-service-signature', 'old'],
    ['X-SERVICE-SIGNATURE-V2', 'old'],
    ['X-Service-Timestamp', '1'],
    ['X-Service-Attempt', '1'],
    ['Idempotency-Key', 'key'],
  ] as const,
};
const signed = (headerPrefix: string) => {
  const headers = asSpecified(sign({ body, secret: SECRET, at: NOW, headerPrefix }));
  expect(headers).toHaveLength(2);
  return headers;
};

describe('a delivery that is signed anew', () => {
  it('keeps all headers but those that say when it was signed', () => {
    const at = NOW + 999;
    expect(resign(message, { secret: SECRET, at, headerPrefix: 'X-Service' })).toEqual([
      ['X-Other', 'a'],
      ['X-Service-Attempt', '1'],
      ['Idempotency-Key', 'key'],
      ...signed('x-service'),
      ['X-Service-Timestamp', String(NOW / 1000)],
    ]);
  });

  it('is another attempt where that is said', () => {
    const headers = resign(message, { secret: SECRET, at: NOW, headerPrefix: 'x-service', attempt: 3 });
    expect(headers.filter(([name]) => name === 'X-Service-Attempt')).toEqual([['X-Service-Attempt', '3']]);
  });

  it('has names that begin as the receiver expects', () => {
    const headers = resign(message, { secret: SECRET, at: NOW, headerPrefix: 'My-App' });
    expect(headers).toEqual([...message.headers, ...signed('my-app'), ['My-App-Timestamp', String(NOW / 1000)]]);
  });
});
