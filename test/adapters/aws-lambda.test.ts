import { type LambdaEvent, webhookHandler, webhookMiddleware } from 'service-webhooks/aws-lambda';
import { toApiGatewayV1, toApiGatewayV2 } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';
import { calledMounts } from './mounts/aws-lambda.js';
import { UNSERIALISABLE } from './returned-answers.js';
import { runSuite } from './run-suite.js';

runSuite(calledMounts);

const request = () => aRequest() as Parameters<typeof toApiGatewayV1>[0];

describe('the adapter for AWS Lambda', () => {
  it.each([
    ['format 1.0', () => toApiGatewayV1(request(), '/webhooks'), 'failed'],
    ['format 2.0', () => toApiGatewayV2(request(), '/webhooks'), 'handled'],
  ])(
    'a result of the route without a status fails in format 1.0 and completes the event in 2.0: %s',
    async (_, event, decided) => {
      const { receiver, answers } = aReceiver({ on: undefined });
      await webhookMiddleware(receiver, () => ({ done: true }))(event());
      expect(answers()).toEqual([decided]);
    },
  );

  it.each<[string, object]>([
    ['a body that is not text', { statusCode: 200, body: { done: true } }],
    ...UNSERIALISABLE.map(([what, data]): [string, object] => [`data ${what}`, { statusCode: 200, data }]),
  ])('a result with %s releases the event, because the gateway answers 5xx', async (_, result) => {
    for (const event of [toApiGatewayV1(request(), '/webhooks'), toApiGatewayV2(request(), '/webhooks')]) {
      const { receiver, answers } = aReceiver({ on: undefined });
      await webhookMiddleware(receiver, () => result)(event);
      expect(answers()).toEqual(['failed']);
    }
  });

  it('a delivery is handled although its event has headers without values', async () => {
    const { receiver } = aReceiver();
    const { headers, ...event } = toApiGatewayV1(request(), '/webhooks');
    const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [`${value}`]]));
    const odd: LambdaEvent = { ...event, multiValueHeaders: { ...multiValueHeaders, x: null, y: undefined } };
    expect((await webhookHandler(receiver)(odd)).statusCode).toBe(200);
  });
});
