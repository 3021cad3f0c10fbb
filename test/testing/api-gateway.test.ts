import { toApiGatewayV1, toApiGatewayV2 } from 'service-webhooks/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NOW, refusal } from '../support/deliveries.js';

const delivery = { method: 'POST', headers: { 'X-Sent': 'yes' }, body: new TextEncoder().encode('{}') };
const CONTEXT = { accountId: '123456789012', apiId: 'api', stage: 'test', requestId: 'request' };

beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
});

describe('an event for API Gateway of the test kit', () => {
  it('format 1.0 has every field of a REST API, null where a delivery has no value', () => {
    const { requestContext, ...event } = toApiGatewayV1(delivery, '/in');
    expect(event).toEqual({
      resource: '/in',
      path: '/in',
      httpMethod: 'POST',
      headers: { 'X-Sent': 'yes' },
      multiValueHeaders: { 'X-Sent': ['yes'] },
      queryStringParameters: null,
      multiValueQueryStringParameters: null,
      pathParameters: null,
      stageVariables: null,
      body: 'e30=',
      isBase64Encoded: true,
    });
    const { identity, ...context } = requestContext;
    expect(context).toEqual({
      ...CONTEXT,
      authorizer: null,
      protocol: 'HTTP/1.1',
      httpMethod: 'POST',
      path: '/test/in',
      requestTimeEpoch: NOW,
      resourceId: 'resource',
      resourcePath: '/in',
    });
    const { sourceIp, ...nobody } = identity;
    expect([sourceIp, new Set(Object.values(nobody))]).toEqual(['192.0.2.1', new Set([null])]);
  });

  it('format 2.0 has every field of an HTTP API and a function URL', () => {
    expect(toApiGatewayV2(delivery, '/in')).toEqual({
      version: '2.0',
      routeKey: '$default',
      rawPath: '/in',
      rawQueryString: '',
      headers: { 'x-sent': 'yes' },
      requestContext: {
        ...CONTEXT,
        domainName: 'receiver.example',
        domainPrefix: 'receiver',
        http: { method: 'POST', path: '/in', protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: '' },
        routeKey: '$default',
        time: '2026-07-11T12:00:00.000Z',
        timeEpoch: NOW,
      },
      body: 'e30=',
      isBase64Encoded: true,
    });
  });
});

describe.each([
  ['1.0', toApiGatewayV1],
  ['2.0', toApiGatewayV2],
])('an event for API Gateway of format %s', (_, form) => {
  it('the body is in base64 for any bytes', () => {
    const body = Uint8Array.from({ length: 256 }, (_, i) => i);
    const event = form({ ...delivery, body }, '/in', { base64: true });
    expect([event.isBase64Encoded, Buffer.from(event.body, 'base64')]).toEqual([true, Buffer.from(body)]);
  });

  it('the body is plain text with base64: false, byte order mark included', () => {
    const body = new TextEncoder().encode('\ufeffcaf\u00e9');
    expect(form({ ...delivery, body }, '/in', { base64: false })).toMatchObject({
      body: '\ufeffcaf\u00e9',
      isBase64Encoded: false,
    });
  });

  it('a body that is not UTF-8 is refused with base64: false', () => {
    const body = new Uint8Array([0xff]);
    expect(refusal(() => form({ ...delivery, body }, '/in', { base64: false }))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('base64 must be true'),
    });
  });

  it.each(['webhooks', '', undefined as never])('the path %j is refused', (path) => {
    expect(refusal(() => form(delivery, path))).toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining('path must begin with a slash'),
    });
  });
});
