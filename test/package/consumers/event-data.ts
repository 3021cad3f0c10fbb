import { createReceiver, type EventOf, isEvent, type StandardSchemaV1, type WebhookEvent } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';
import { withSchemas } from 'service-webhooks/standard-schema';
import { sampleEvent } from 'service-webhooks/testing';

declare module 'service-webhooks' {
  interface EventData {
    'stt.completed': { text: string };
  }
}

declare const secret: string;
declare const schema: StandardSchemaV1<{ seconds?: number }, { seconds: number }>;

export const ofEvent = (event: EventOf<'stt.completed'>): string => event.data.text;
createReceiver({ secret, on: { 'stt.completed': ({ data }) => data.text.length } });
webhookHandler({ secret, on: { 'stt.completed': ({ data }) => data.text.length } });
sampleEvent('stt.completed', { data: { text: '' } }).data.text.trim();
export const on = withSchemas(
  { 'stt.failed': schema },
  { 'stt.completed': ({ data }) => data.text.length, 'stt.failed': ({ data }) => data.seconds.toFixed() },
);
export const isSlow = (event: WebhookEvent) => isEvent(event, 'stt.failed', schema) && (event.data.seconds ?? 0) > 1;
