import {
  type Delivery,
  type Envelope,
  type EventOf,
  type EventType,
  type GenerationCompletedData,
  isEvent,
  isKnownEvent,
  isWebhookEvent,
  type KnownEvent,
  parseEvent,
  type UnknownEvent,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from 'service-webhooks';
import { describe, expectTypeOf, it } from 'vitest';

declare const event: WebhookEvent;

describe('the catalog', () => {
  it('WEBHOOK_EVENT_TYPES is a tuple of sixteen types', () => {
    expectTypeOf(WEBHOOK_EVENT_TYPES.length).toEqualTypeOf<16>();
    expectTypeOf(WEBHOOK_EVENT_TYPES[0]).toEqualTypeOf<'generation.completed'>();
    expectTypeOf<EventType>().toEqualTypeOf<(typeof WEBHOOK_EVENT_TYPES)[number]>();
  });

  it('data has fields only where the specification shows them', () => {
    expectTypeOf<EventOf<'generation.completed'>['data']>().toEqualTypeOf<GenerationCompletedData>();
    expectTypeOf<EventOf<'generation.failed'>['data']>().toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf<EventOf<'stt.completed'>['data']['text']>().toBeUnknown();
  });

  it('an unknown type is an error', () => {
    // @ts-expect-error -- no such event
    type _Other = EventOf<'generation.paused'>;
  });
});

describe('isEvent', () => {
  it('an event is narrowed to one type and its data', () => {
    if (!isEvent(event, 'generation.completed')) return;
    expectTypeOf(event.type).toEqualTypeOf<'generation.completed'>();
    expectTypeOf(event.data.clipId).toBeString();
    expectTypeOf(event.data.durationSec).toBeNumber();
    expectTypeOf(event.jobId).toBeString();
    expectTypeOf(event).toExtend<EventOf<'generation.completed'>>();
  });

  it('a misspelt type is an error', () => {
    // @ts-expect-error -- a misspelt type never holds
    isEvent(event, 'generation.complete');
  });

  it('data stays unknown where the specification shows nothing', () => {
    if (isEvent(event, 'dubbing.failed')) expectTypeOf(event.data['reason']).toBeUnknown();
  });
});

describe('isKnownEvent', () => {
  it('a switch over event.type narrows the data', () => {
    if (!isKnownEvent(event)) {
      expectTypeOf(event).toEqualTypeOf<UnknownEvent>();
      return;
    }
    expectTypeOf(event).toExtend<KnownEvent>();
    expectTypeOf(event.type).toEqualTypeOf<EventType>();
    switch (event.type) {
      case 'generation.completed':
        expectTypeOf(event.data.downloadUrl).toBeString();
        break;
      case 'stt.completed':
        expectTypeOf(event.data).toEqualTypeOf<Record<string, unknown>>();
        break;
    }
  });
});

describe('a value from outside', () => {
  it('unknown is narrowed by isWebhookEvent()', () => {
    const value: unknown = null;
    if (isWebhookEvent(value)) expectTypeOf(value).toEqualTypeOf<WebhookEvent>();
  });

  it('parseEvent() makes an event with an open type of bytes or text', () => {
    expectTypeOf(parseEvent).parameter(0).toEqualTypeOf<Uint8Array | ArrayBuffer | string>();
    expectTypeOf(parseEvent).returns.toEqualTypeOf<WebhookEvent>();
    expectTypeOf<WebhookEvent['type']>().toBeString();
    expectTypeOf<WebhookEvent['data']>().toEqualTypeOf<GenerationCompletedData | Record<string, unknown>>();
  });

  it('the type parameter of Delivery is its event', () => {
    expectTypeOf<Delivery['event']>().toEqualTypeOf<WebhookEvent>();
    expectTypeOf<Delivery<EventOf<'stt.failed'>>['event']['type']>().toEqualTypeOf<'stt.failed'>();
    expectTypeOf<Delivery<EventOf<'stt.failed'>>>().toExtend<Delivery>();
    expectTypeOf<Envelope<'x', { n: number }>['data']>().toEqualTypeOf<{ n: number }>();
    // @ts-expect-error -- only of events
    type _NoEvent = Delivery<string>;
  });
});
