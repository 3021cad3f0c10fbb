import type { Delivery } from 'service-webhooks';
import { type LambdaEvent, webhookHandler, webhookMiddleware } from 'service-webhooks/aws-lambda';
import { toApiGatewayV1, toApiGatewayV2 } from 'service-webhooks/testing';
import type { AppUnderTest, CalledRequest, ServedApp } from 'service-webhooks-suites';
import { bothForms, type Mount } from './mount.js';

type Result = { statusCode: number; headers?: Record<string, string>; body?: string };
type Gateway = (request: CalledRequest) => LambdaEvent;

function play(app: AppUnderTest, delivery: Delivery): Promise<Result> {
  const status = app.route(delivery);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((statusCode) => {
    if (app.ending === 'returns an error') return new Error('no') as never;
    return { statusCode, headers: {}, body: '' };
  });
}

/** What each platform makes of a request. */
const gateways: Record<string, Gateway> = {
  'API Gateway 1.0'({ method, headers, body }) {
    const grouped = groupHeaders(headers);
    const last = Object.fromEntries(Object.entries(grouped).map(([name, values]) => [name, values.at(-1) ?? '']));
    const event = toApiGatewayV1({ method, headers: last, body }, '/webhooks');
    return { ...event, httpMethod: method, multiValueHeaders: grouped };
  },
  'API Gateway 2.0'({ method, headers, body }) {
    const event = toApiGatewayV2({ method, headers: joinHeaders(headers), body }, '/webhooks');
    const { requestContext } = event;
    return { ...event, requestContext: { ...requestContext, http: { ...requestContext.http, method } } };
  },
};

function mountsOf(name: string, toEvent: Gateway): Mount[] {
  const call = ({ before }: AppUnderTest, handler: (event: LambdaEvent) => Promise<Result>): ServedApp => ({
    async call(request) {
      const event = toEvent(request);
      const text = before === 'parser' && Buffer.from(event.body ?? '', 'base64').toString();
      // A mapping template, in the place of the proxy integration.
      const mapped = text ? { ...event, body: JSON.parse(text), isBase64Encoded: false } : event;
      const { statusCode, headers = {}, body = '' } = await handler(mapped);
      return { status: statusCode, headers, body };
    },
  });
  return bothForms(
    `Lambda behind ${name}`,
    {
      handler: (app) => call(app, webhookHandler(app.receiver)),
      middleware(app) {
        return call(
          app,
          webhookMiddleware(app.receiver, (_: LambdaEvent, delivery) => play(app, delivery)),
        );
      },
    },
    {
      rawBodyFix: /proxy integration/,
      endings: ['throws at once', 'returns an error'],
      without: {
        rawBody: 'nothing stands before the function',
        pieces: 'the platform calls with the whole body',
        hangUp: 'the platform calls, and does not tell',
      },
    },
  );
}

export const calledMounts: readonly Mount[] = Object.entries(gateways).flatMap(([name, toEvent]) =>
  mountsOf(name, toEvent),
);

/** As format 2.0 has them: those that came twice are one, and nobody can tell any more. */
export function joinHeaders(headers: CalledRequest['headers']): Record<string, string> {
  const lowerCase = headers.map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(Object.entries(groupHeaders(lowerCase)).map(([name, values]) => [name, values.join(',')]));
}

function groupHeaders(headers: CalledRequest['headers']): Record<string, string[]> {
  const grouped: Record<string, string[]> = {};
  for (const [name, value] of headers) grouped[name] = [...(grouped[name] ?? []), value];
  return grouped;
}
