import { createReceiver, type Delivery, type HandlerOf } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { signDelivery } from 'service-webhooks/testing';

// Mistakes that the types are there to find. Each has its mark in front.
export function mistakes(delivery: Delivery) {
  createReceiver({ secret: 'whsec_1', /* wrong */ maxBytes: 1 });
  webhookHandler({ /* wrong */ secret: 1, on: {} });
  signDelivery({ secret: 'whsec_1', /* wrong */ scheme: 'v3' });
  const text: string = delivery.event.id;
  const /* wrong */ number: number = delivery.event.id;
  const onClip: HandlerOf</* wrong */ 'generation.complete'> = () => {};
  const { event } = delivery;
  if (/* wrong */ event.type === 'generation.complete') return onClip;
  if (event.type !== 'generation.completed') return { text, number };
  const /* wrong */ clip: number = event.data.clipId;
  return { text, number, clip };
}
