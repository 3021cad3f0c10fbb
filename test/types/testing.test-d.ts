import type { APIGatewayProxyEvent, APIGatewayProxyEventV2 } from 'aws-lambda';
import { expect as jestExpect } from 'expect';
import type { InjectOptions } from 'fastify';
import { createReceiver, type EventOf, type WebhookResponse } from 'service-webhooks';
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

describe('a sample event', () => {
  it('has the type of its event', () => {
    expectTypeOf(sampleEvent('generation.completed')).toEqualTypeOf<EventOf<'generation.completed'>>();
    expectTypeOf(sampleEvent('trigger.failed', { jobId: null }).data).toEqualTypeOf<Record<string, unknown>>();
  });

  it('takes overrides of the right types', () => {
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
  it('takes an event or a body, and never an object for a body', () => {
    signDelivery({ body: '{}', secret, scheme: undefined });
    // @ts-expect-error: bytes or text
    signDelivery({ body: { id: 'evt_1' }, secret });
    // @ts-expect-error: both
    signDelivery({ event: sampleEvent('stt.failed'), body: '', secret });
    // @ts-expect-error: neither
    signDelivery({ secret });
    // @ts-expect-error: no secret
    signDelivery({ body: '' });
  });

  it('gives what a receiver takes, also after tampering', () => {
    const receiver = createReceiver({ secret });
    expectTypeOf(receiver).toBeCallableWith(delivery);
    expectTypeOf(receiver(tamper.stale(delivery))).resolves.toEqualTypeOf<WebhookResponse>();
    expectTypeOf(tamper.flippedBit(delivery)).toEqualTypeOf<SignedDelivery>();
    // @ts-expect-error: who did not sign it cannot sign it again
    tamper.stale({ method: 'POST', headers: {}, body: new Uint8Array() });
  });
});

it('a form is what its taker declares', () => {
  expectTypeOf(toRequest(delivery, 'http://receiver.test')).toEqualTypeOf<Request>();
  expectTypeOf(toInject(delivery, '/')).toExtend<InjectOptions>();
  expectTypeOf(toApiGatewayV1(delivery, '/')).toExtend<APIGatewayProxyEvent>();
  expectTypeOf(toApiGatewayV2(delivery, '/')).toExtend<APIGatewayProxyEventV2>();
  expectTypeOf<Test['use']>().toBeCallableWith(toSupertest(delivery));
});

it('the matchers are there on the expect of vitest and on that of jest', () => {
  expect.extend(matchers);
  jestExpect.extend(matchers);
  expectTypeOf(expect(0).toAcknowledge()).toEqualTypeOf<Promise<void>>();
  expectTypeOf(expect(0).not.toRefuseWith('signature_mismatch')).toEqualTypeOf<Promise<void>>();
  expectTypeOf(jestExpect(0).toAcknowledge()).toEqualTypeOf<Promise<void>>();
  expectTypeOf(jestExpect(0).not.toRefuseWith('signature_mismatch')).toEqualTypeOf<Promise<void>>();
  // @ts-expect-error: no such code
  expect(0).toRefuseWith('signature_missmatch');
});
