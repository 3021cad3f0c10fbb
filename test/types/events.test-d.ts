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
  type UnknownEventType,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from 'service-webhooks';
import { sampleEvent } from 'service-webhooks/testing';
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

describe('a comparison of event.type', () => {
  it('the event is narrowed to one type and its data', () => {
    if (event.type === 'generation.completed') {
      expectTypeOf(event).toEqualTypeOf<EventOf<'generation.completed'>>();
      expectTypeOf(event.data.clipId).toBeString();
    }
    if (event.type === 'trigger.failed') expectTypeOf(event.jobId).toBeNull();
    if (event.type !== 'stt.completed') return;
    expectTypeOf(event).toEqualTypeOf<EventOf<'stt.completed'>>();
  });

  it('a field that the service does not document is unknown, also where the type of the event is', () => {
    expectTypeOf(event.data['voice']).toBeUnknown();
    if (event.type === 'generation.completed') expectTypeOf(event.data['voice']).toBeUnknown();
    expectTypeOf(event.data).toExtend<Record<string, unknown>>();
  });

  it('destructured data is narrowed with its type', () => {
    const { type, data } = event;
    if (type === 'generation.completed') expectTypeOf(data).toEqualTypeOf<GenerationCompletedData>();
  });

  it('a switch narrows each case, and its default leaves the unknown event', () => {
    switch (event.type) {
      case 'generation.completed':
        expectTypeOf(event.data.downloadUrl).toBeString();
        break;
      case 'stt.completed':
      case 'export.completed':
      case 'trigger.completed':
      case 'dubbing.completed':
      case 'subtitle.completed':
      case 'voice_enhancement.completed':
      case 'workflow_run.completed':
        expectTypeOf(event.jobId).toBeString();
        break;
      case 'generation.failed':
      case 'stt.failed':
      case 'export.failed':
      case 'trigger.failed':
      case 'dubbing.failed':
      case 'subtitle.failed':
      case 'voice_enhancement.failed':
      case 'workflow_run.failed':
        expectTypeOf(event).toExtend<KnownEvent>();
        break;
      default:
        expectTypeOf(event).toEqualTypeOf<UnknownEvent>();
    }
  });

  it('a misspelt type is an error', () => {
    // @ts-expect-error -- no overlap
    if (event.type === 'generation.complete') return;
    switch (event.type) {
      // @ts-expect-error -- not comparable
      case 'generation.complete':
        break;
    }
  });

  it('the type of an unknown event can be used as a string', () => {
    const unknown = {} as UnknownEvent;
    const text: string = unknown.type;
    const known = 'stt.failed' as EventType;
    expectTypeOf(unknown.type).toEqualTypeOf<UnknownEventType>();
    expectTypeOf(event.type.startsWith('generation.')).toBeBoolean();
    expectTypeOf(new Map<string, number>().get(event.type)).toEqualTypeOf<number | undefined>();
    if (event.type === text) expectTypeOf(event).toEqualTypeOf<WebhookEvent>();
    if (event.type === known) expectTypeOf(event.type).toEqualTypeOf<EventType>();
    if (text === 'music.completed') expectTypeOf(unknown.data).toEqualTypeOf<Record<string, unknown>>();
  });

  it('the types of two unknown events may differ', () => {
    const [one, other] = [{} as UnknownEvent, {} as UnknownEvent];
    if (one.type !== other.type) expectTypeOf(one).toEqualTypeOf<UnknownEvent>();
  });

  it('UnknownEventType has no value', () => {
    expectTypeOf<keyof typeof import('service-webhooks')>().extract<'UnknownEventType'>().toBeNever();
  });
});

describe('an event whose type is one of several', () => {
  it('sampleEvent() of any type is a WebhookEvent', () => {
    expectTypeOf(sampleEvent({} as EventType)).toExtend<WebhookEvent>();
    expectTypeOf<EventOf<EventType>>().toEqualTypeOf<KnownEvent>();
    expectTypeOf<EventOf<'stt.completed' | 'stt.failed'>>().toEqualTypeOf<
      EventOf<'stt.completed'> | EventOf<'stt.failed'>
    >();
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

  it('an Envelope, whose type is any string, is narrowed too', () => {
    const envelope = {} as Envelope;
    if (isEvent(envelope, 'generation.completed')) expectTypeOf(envelope.data.clipId).toBeString();
    if (isKnownEvent(envelope)) expectTypeOf(envelope).toEqualTypeOf<KnownEvent>();
    if (isWebhookEvent(envelope)) expectTypeOf(envelope).toEqualTypeOf<WebhookEvent>();
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
    expectTypeOf<WebhookEvent['type']>().toEqualTypeOf<EventType | UnknownEventType>();
    expectTypeOf<WebhookEvent>().toExtend<Envelope>();
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
