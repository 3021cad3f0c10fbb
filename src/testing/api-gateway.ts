import { exactBytes, toBase64 } from '../bytes.js';
import { check } from '../option-checks.js';
import type { DeliveryRequest } from './sign-delivery.js';

/** How the gateway passes the body. */
export interface ApiGatewayOptions {
  /**
   * Whether the body is base64, which holds any bytes. Default: true. With false it is text, as a gateway passes JSON.
   */
  base64?: boolean | undefined;
}

/** The event of a REST API, and of an HTTP API with payload format 1.0. */
export type ApiGatewayV1Event = ReturnType<typeof toApiGatewayV1>;

/** The event of an HTTP API with payload format 2.0, and of a function URL. */
export type ApiGatewayV2Event = ReturnType<typeof toApiGatewayV2>;

/**
 * Returns a delivery as a Lambda function receives it from a REST API (payload format 1.0).
 *
 * @throws WebhookError `invalid_option` for a path without a slash, and for a body that is not text with `base64:
 *   false`
 * @example
 * const { statusCode } = await handler(toApiGatewayV1(delivery, '/webhooks'));
 */
export function toApiGatewayV1({ headers, body }: DeliveryRequest, path: string, options?: ApiGatewayOptions) {
  checkPath(path);
  return {
    resource: path,
    path,
    httpMethod: 'POST',
    headers: { ...headers },
    multiValueHeaders: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    queryStringParameters: null,
    multiValueQueryStringParameters: null,
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      ...CONTEXT,
      authorizer: null,
      protocol: 'HTTP/1.1',
      httpMethod: 'POST',
      identity: NOBODY,
      path: `/${CONTEXT.stage}${path}`,
      requestTimeEpoch: Date.now(),
      resourceId: 'resource',
      resourcePath: path,
    },
    ...bodyFields(body, options),
  };
}

/**
 * Returns a delivery as a Lambda function receives it from an HTTP API or a function URL (payload format 2.0).
 *
 * @throws WebhookError `invalid_option` for a path without a slash, and for a body that is not text with `base64:
 *   false`
 * @example
 * const { statusCode } = await handler(toApiGatewayV2(delivery, '/webhooks'));
 */
export function toApiGatewayV2({ headers, body }: DeliveryRequest, path: string, options?: ApiGatewayOptions) {
  checkPath(path);
  const timeEpoch = Date.now();
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: '',
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    requestContext: {
      ...CONTEXT,
      domainName: 'receiver.example',
      domainPrefix: 'receiver',
      http: { method: 'POST', path, protocol: 'HTTP/1.1', sourceIp: NOBODY.sourceIp, userAgent: '' },
      routeKey: '$default',
      time: new Date(timeEpoch).toISOString(),
      timeEpoch,
    },
    ...bodyFields(body, options),
  };
}

const CONTEXT = { accountId: '123456789012', apiId: 'api', stage: 'test', requestId: 'request' };

const NOBODY = {
  accessKey: null,
  accountId: null,
  apiKey: null,
  apiKeyId: null,
  caller: null,
  clientCert: null,
  cognitoAuthenticationProvider: null,
  cognitoAuthenticationType: null,
  cognitoIdentityId: null,
  cognitoIdentityPoolId: null,
  principalOrgId: null,
  sourceIp: '192.0.2.1',
  user: null,
  userAgent: null,
  userArn: null,
};

function checkPath(path: string): void {
  check(typeof path === 'string' && path.startsWith('/'), 'path must begin with a slash');
}

function bodyFields(body: Uint8Array, { base64 = true }: ApiGatewayOptions = {}) {
  const bytes = exactBytes(body);
  return { body: base64 ? toBase64(bytes) : toText(bytes), isBase64Encoded: base64 };
}

function toText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    check(false, 'base64 must be true for a body that is not UTF-8');
  }
}
