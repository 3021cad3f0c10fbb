import {
  type Envelope,
  type EventType,
  PAYLOAD_VERSION,
  type UnknownEvent,
  WEBHOOK_EVENT_TYPES,
  type WebhookEvent,
} from 'service-webhooks';
import { check } from 'service-webhooks/option-checks';
import { eventJson, sampleEvent } from 'service-webhooks/testing';
import type { Random } from '../random.js';

/** An event as it was emitted. All endpoints receive the same one. */
export interface EmittedEvent {
  readonly id: string;
  readonly type: string;
  /** The job that it is about; null for none. */
  readonly jobId: string | null;
  readonly idempotencyKey: string;
  readonly body: Uint8Array;
}

/** The fields of an envelope that a test sets itself. */
export type Overrides = Partial<Omit<Envelope, 'type'>>;

/**
 * Returns the nth event of an emulator, as an object and as the bytes to send. @throws WebhookError `invalid_option`
 */
export function newEvent(
  random: Random,
  n: number,
  type: string,
  overrides: Overrides,
  now: number,
): { event: WebhookEvent; emitted: EmittedEvent } {
  check(typeof type === 'string' && type !== '', 'type must be an event type, such as stt.completed');
  const { id = random.id('evt', n), timestamp = new Date(now).toISOString(), ...rest } = overrides;
  const known: readonly string[] = WEBHOOK_EVENT_TYPES;
  const event: WebhookEvent = known.includes(type)
    ? sampleEvent(type as EventType, { ...rest, id, timestamp })
    : ({ id, type, version: PAYLOAD_VERSION, jobId: null, data: {}, ...rest, timestamp } as UnknownEvent);
  const jobId = typeof event.jobId === 'string' ? event.jobId : null; // a test may override it with anything
  return { event, emitted: { id, type, jobId, idempotencyKey: random.uuid('key', n), body: toBytes(event) } };
}

function toBytes(event: WebhookEvent): Uint8Array {
  let text: string | undefined;
  try {
    text = eventJson(event);
  } catch {}
  check(text !== undefined, 'overrides cannot be written as JSON');
  return new TextEncoder().encode(text);
}
