import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect as jestExpect } from 'expect';
import type { InjectOptions } from 'fastify';
import { createReceiver, type EventOf, parseEvent, type WebhookResponse } from 'service-webhooks';
import {
  type SignedDelivery,
  sampleEvent,
  signDelivery,
  tamper,
  toApiGatewayV1,
  toApiGatewayV2,
  toInject,
  toRequest,
  toSupertest,
} from 'service-webhooks/testing';
import { matchers } from 'service-webhooks/testing/matchers';
import type { Test } from 'supertest';
import { describe, expect, expectTypeOf, it } from 'vitest';

const secret = 'secret';
const delivery = signDelivery({ event: sampleEvent('stt.completed'), secret });

describe('sampleEvent', () => {
  it('the result has the type that was asked for', () => {
    expectTypeOf(sampleEvent('generation.completed')).toEqualTypeOf<EventOf<'generation.completed'>>();
    expectTypeOf(sampleEvent('trigger.failed', { jobId: null }).data).toEqualTypeOf<Record<string, unknown>>();
  });

  it('overrides must fit the type', () => {
    sampleEvent('generation.completed', { id: undefined, data: { durationSec: 1 } });
    // @ts-expect-error: a number of seconds
    sampleEvent('generation.completed', { data: { durationSec: '1' } });
    // @ts-expect-error: it has its type already
    sampleEvent('stt.failed', { type: 'stt.completed' });
    // @ts-expect-error: no such type
    sampleEvent('stt.done');
  });
});

describe('signDelivery', () => {
  it('an event or a body of bytes or text is required', () => {
    signDelivery({ body: '{}', secret, scheme: undefined });
    const ofNewType = { id: 'evt_1', type: 'music.completed', version: '', jobId: null, data: {}, timestamp: '' };
    signDelivery({ event: ofNewType, secret });
    signDelivery({ event: parseEvent('{}'), secret });
    // @ts-expect-error: bytes or text
    signDelivery({ body: { id: 'evt_1' }, secret });
    // @ts-expect-error: both
    signDelivery({ event: sampleEvent('stt.failed'), body: '', secret });
    // @ts-expect-error: neither
    signDelivery({ secret });
    // @ts-expect-error: no secret
    signDelivery({ body: '' });
  });

  it('a receiver accepts the result, also after tampering', () => {
    const receiver = createReceiver({ secret });
    expectTypeOf(receiver).toBeCallableWith(delivery);
    expectTypeOf(receiver(tamper.stale(delivery))).resolves.toEqualTypeOf<WebhookResponse>();
    expectTypeOf(tamper.flippedBit(delivery)).toEqualTypeOf<SignedDelivery>();
    // @ts-expect-error: who did not sign it cannot sign it again
    tamper.stale({ method: 'POST', headers: {}, body: new Uint8Array() });
  });
});

it('each converted form fits its library', () => {
  expectTypeOf(toRequest(delivery, 'http://receiver.test')).toEqualTypeOf<Request>();
  expectTypeOf(toInject(delivery, '/')).toExtend<InjectOptions>();
  expectTypeOf(toApiGatewayV1(delivery, '/')).toExtend<APIGatewayProxyEvent>();
  expectTypeOf(toApiGatewayV2(delivery, '/')).toExtend<APIGatewayProxyEventV2>();
  expectTypeOf<Test['use']>().toBeCallableWith(toSupertest(delivery));
});

it('the matchers have types in Vitest and in Jest', () => {
  expect.extend(matchers);
  jestExpect.extend(matchers);
  expectTypeOf(expect(0).toAcknowledge()).toEqualTypeOf<Promise<void>>();
  expectTypeOf(expect(0).not.toRefuseWith('signature_mismatch')).toEqualTypeOf<Promise<void>>();
  expectTypeOf(jestExpect(0).toAcknowledge()).toEqualTypeOf<Promise<void>>();
  expectTypeOf(jestExpect(0).not.toRefuseWith('signature_mismatch')).toEqualTypeOf<Promise<void>>();
  // @ts-expect-error: no such code
  expect(0).toRefuseWith('signature_missmatch');
});
