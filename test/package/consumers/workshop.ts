import {
  createReceiver,
  type DedupeStore,
  type EventType,
  isWebhookError,
  memoryStore,
  type WebhookErrorCode,
} from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { RETRY_WAITS_MS } from 'service-webhooks/service';
import { type EventOverrides, signDelivery } from 'service-webhooks/testing';
import { type Cause, type ExplainInput, explain } from 'service-webhooks-cli/explain';
import { createEmulator, type Emitted, type Emulator, type FetchReceiver } from 'service-webhooks-emulator';
import { adapterSuite, type StoreCase, storeSuite } from 'service-webhooks-suites';

// The packages take and give the types of the receiver: compiled, and never run.
const receive: FetchReceiver = webhookHandler({ secret: 'whsec_1', on: {} });
const emulator: Emulator = createEmulator({ fetch: receive });

export async function emit(type: EventType, overrides: EventOverrides<'generation.completed'>): Promise<Emitted[]> {
  createReceiver({
    secret: emulator.endpoints.create({ url: 'https://app.example' }).signingSecret,
    now: emulator.now,
  });
  await emulator.advance(RETRY_WAITS_MS[0]);
  return [
    await emulator.emit(type),
    await emulator.emit('generation.completed', overrides),
    await emulator.emit('generation.completed', { data: { clipId: 'clip_1' } }),
    await emulator.emit('a.later.type', { data: {} }),
  ];
}

export function explained(secret: string): [WebhookErrorCode | 'accepted', readonly Cause[]] {
  const { headers, body } = signDelivery({ body: '{}', secret });
  const input: ExplainInput = { headers, body, secret };
  const { verdict, causes } = explain(input);
  return [verdict, causes];
}

export function suite(store: DedupeStore = memoryStore()): readonly StoreCase[] {
  return storeSuite({
    make: () => ({ store, rows: new Map<string, string>() }),
    evict: ({ rows }, key) => rows.delete(key),
  });
}

export const suites = [adapterSuite, isWebhookError];
