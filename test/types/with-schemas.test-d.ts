import { type } from 'arktype';
import {
  createReceiver,
  type Delivery,
  type Envelope,
  type EventOf,
  type EventWithData,
  type Handlers,
  isEvent,
  type WebhookEvent,
} from 'service-webhooks';
import { createProcessor } from 'service-webhooks/queue';
import {
  type EventWith,
  eventSchema,
  type HandlersWith,
  type HandlerWith,
  type StandardSchemaV1,
  withSchemas,
} from 'service-webhooks/standard-schema';
import type { TransactionInbox } from 'service-webhooks/stores/postgres';
import type { SqliteInbox } from 'service-webhooks/stores/sqlite';
import { sampleEvent } from 'service-webhooks/testing';
import * as v from 'valibot';
import { describe, expectTypeOf, it } from 'vitest';
import * as z from 'zod';

declare const event: WebhookEvent;

const ofZod = z.object({
  text: z.string(),
  createdAt: z.iso.datetime().transform((text) => new Date(text)),
  language: z.string().default('en'),
});
const ofValibot = v.object({ reason: v.optional(v.string(), 'none') });
const ofArkType = type({ language: "string = 'en'" });
const schemas = { 'stt.completed': ofZod, 'stt.failed': ofValibot, 'dubbing.completed': ofArkType };

interface Transcript {
  text: string;
  createdAt: Date;
  language: string;
}

describe('withSchemas', () => {
  it('handlers get the output types of each library, and their contexts the same event', () => {
    const on = withSchemas(schemas, {
      'stt.completed': (event, { delivery, signal }) => {
        expectTypeOf(event).toEqualTypeOf<EventWithData<'stt.completed', Transcript>>();
        expectTypeOf(event.jobId).toBeString();
        expectTypeOf(delivery).toEqualTypeOf<Delivery<typeof event>>();
        expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      },
      'stt.failed': ({ data }) => expectTypeOf(data).toEqualTypeOf<{ reason: string }>(),
      'dubbing.completed': ({ data }) => expectTypeOf(data).toEqualTypeOf<{ language: string }>(),
      'dubbing.failed': (event) => expectTypeOf(event).toEqualTypeOf<EventOf<'dubbing.failed'>>(),
      '*': (event) => expectTypeOf(event).toEqualTypeOf<WebhookEvent>(),
    });
    expectTypeOf(on).toEqualTypeOf<Handlers>();
    createReceiver({ secret: '', on });
    createProcessor({ on });
  });

  it('handlers in files of their own have types', () => {
    const onText: HandlerWith<typeof schemas, 'stt.completed'> = ({ data }) => data.createdAt.getTime();
    const onOther: HandlerWith<typeof schemas, 'dubbing.failed'> = ({ data }) => data['reason'];
    const table: HandlersWith<typeof schemas> = { 'stt.completed': onText, 'dubbing.failed': onOther };
    withSchemas(schemas, table);
    withSchemas({ 'stt.completed': ofZod }, { 'stt.completed': onText });
    expectTypeOf<EventWith<typeof schemas, 'stt.completed'>['data']>().toEqualTypeOf<Transcript>();
    expectTypeOf<EventWith<typeof schemas, 'trigger.failed'>>().toEqualTypeOf<EventOf<'trigger.failed'>>();
  });

  it('the data is of either kind where a schema may be missing', () => {
    const some: { 'stt.completed'?: typeof ofZod } = schemas;
    withSchemas(some, {
      'stt.completed': ({ data }) => expectTypeOf(data).toEqualTypeOf<Transcript | Record<string, unknown>>(),
    });
    const maybe = Math.random() > 1 ? ofZod : undefined;
    withSchemas(
      { 'stt.completed': maybe },
      { 'stt.completed': ({ data }) => expectTypeOf(data).toEqualTypeOf<Transcript | Record<string, unknown>>() },
    );
  });

  it('an inbox takes the delivery of a handler, whatever the type of its data', () => {
    const [postgres, sqlite] = [{} as TransactionInbox<object>, {} as SqliteInbox];
    withSchemas(
      { 'stt.completed': ofZod, 'stt.failed': v.string(), 'generation.completed': z.object({ clipId: z.string() }) },
      {
        'stt.completed': (_, { delivery }) => postgres.once({} as never, delivery, async () => {}),
        'stt.failed': (_, { delivery }) => sqlite.once(delivery, () => {}),
        'generation.completed': (_, { delivery }) => sqlite.once(delivery, () => {}),
      },
    );
  });

  it('a handler for another output is an error', () => {
    // @ts-expect-error: text is a string
    withSchemas(schemas, { 'stt.completed': (event: EventWithData<'stt.completed', { text: number }>) => event });
    // @ts-expect-error: the service sends no such type
    withSchemas({ 'stt.finished': ofZod }, {});
    // @ts-expect-error: '*' has no schema
    withSchemas({ '*': ofZod }, {});
  });
});

describe('a schema next to other code', () => {
  it('isEvent narrows data to the input of the schema, because it changes nothing', () => {
    if (isEvent(event, 'stt.completed', ofZod)) {
      expectTypeOf(event.type).toEqualTypeOf<'stt.completed'>();
      expectTypeOf(event.data).toEqualTypeOf<{ text: string; createdAt: string; language?: string | undefined }>();
      expectTypeOf(event.jobId).toBeString();
    }
    if (isEvent(event, 'stt.failed', ofValibot)) expectTypeOf(event.data.reason).toEqualTypeOf<string | undefined>();
    if (isEvent(event, 'stt.failed', ofArkType)) expectTypeOf(event.data.language).toEqualTypeOf<string | undefined>();
    const envelope = {} as Envelope;
    if (isEvent(envelope, 'stt.completed', ofZod)) expectTypeOf(envelope.data.text).toBeString();
  });

  it('sampleEvent has the data that the schema accepts', () => {
    const sample = sampleEvent('stt.completed', { data: { text: '', createdAt: '' } }, ofZod);
    expectTypeOf(sample.data).toEqualTypeOf<{ text: string; createdAt: string; language?: string | undefined }>();
    expectTypeOf(sample).toExtend<WebhookEvent>();
    expectTypeOf(sample.type).toEqualTypeOf<'stt.completed'>();
    // @ts-expect-error: createdAt is missing
    sampleEvent('stt.completed', { data: { text: '' } }, ofZod);
    // @ts-expect-error: data is missing
    sampleEvent('stt.completed', {}, ofZod);
  });

  it('the schemas of this library are of the same kind', () => {
    expectTypeOf(eventSchema()).toExtend<StandardSchemaV1<unknown, WebhookEvent>>();
  });
});
