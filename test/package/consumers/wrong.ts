import { createReceiver, type Delivery, isEvent } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { signDelivery } from 'service-webhooks/testing';

// Mistakes that the types are there to find. Each has its mark in front.
export function mistakes(delivery: Delivery) {
  createReceiver({ secret: 'whsec_1', /* wrong */ maxBytes: 1 });
  webhookHandler({ /* wrong */ secret: 1, on: {} });
  signDelivery({ secret: 'whsec_1', /* wrong */ scheme: 'v3' });
  const text: string = delivery.event.id;
  const /* wrong */ number: number = delivery.event.id;
  if (!isEvent(delivery.event, 'generation.completed')) return { text, number };
  const /* wrong */ clip: number = delivery.event.data.clipId;
  return { text, number, clip };
}
