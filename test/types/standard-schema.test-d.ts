import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { EventOf, WebhookEvent } from 'service-webhooks';
import { eventSchema } from 'service-webhooks/standard-schema';
import { expectTypeOf, it } from 'vitest';

it('eventSchema() is a Standard Schema of any event', () => {
  const schema: StandardSchemaV1<unknown, WebhookEvent> = eventSchema();
  expectTypeOf<StandardSchemaV1.InferOutput<typeof schema>>().toEqualTypeOf<WebhookEvent>();
});

it('eventSchema() with a type is a schema of its events', () => {
  const schema = eventSchema('generation.completed');
  expectTypeOf(schema).toExtend<StandardSchemaV1>();
  expectTypeOf<StandardSchemaV1.InferOutput<typeof schema>>().toEqualTypeOf<EventOf<'generation.completed'>>();
  // @ts-expect-error: the service sends no such type
  eventSchema('generation.finished');
});
