import { type LambdaEvent, webhookHandler, webhookMiddleware } from 'service-webhooks/aws-lambda';
import { toApiGatewayV1, toApiGatewayV2 } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';
import { calledMounts } from './mounts/aws-lambda.js';
import { runSuite } from './run-suite.js';

runSuite(calledMounts);

const request = () => aRequest() as Parameters<typeof toApiGatewayV1>[0];

describe('a function of Lambda', () => {
  it.each([
    ['format 1.0', () => toApiGatewayV1(request(), '/webhooks'), 'failed'],
    ['format 2.0', () => toApiGatewayV2(request(), '/webhooks'), 'handled'],
  ])('whose result has no status is done or not as the gateway of %s answers', async (_, event, decided) => {
    const { receiver, answers } = aReceiver({ on: undefined });
    await webhookMiddleware(receiver, () => ({ done: true }))(event());
    expect(answers()).toEqual([decided]);
  });

  it('answers an event whose header has no values', async () => {
    const { receiver } = aReceiver();
    const { headers, ...event } = toApiGatewayV1(request(), '/webhooks');
    const multiValueHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [`${value}`]]));
    const odd: LambdaEvent = { ...event, multiValueHeaders: { ...multiValueHeaders, x: null, y: undefined } };
    expect((await webhookHandler(receiver)(odd)).statusCode).toBe(200);
  });
});
