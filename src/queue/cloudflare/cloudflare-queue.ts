import { checkEndpointName } from '../../endpoint.js';
import { checkKnownOptions, checkObject } from '../../option-checks.js';
import type { DeliveryQueue } from '../../receiver/delivery-queue.js';
import { checkClient, limitedPut } from '../engine-queue.js';
import { createPayloads, PAYLOAD_OPTIONS, type PayloadOptions } from '../payloads.js';

/** The part that is used of a producer binding of Cloudflare Queues. */
export interface CloudflareQueueBinding {
  send(body: unknown, options: { contentType: 'json'; delaySeconds?: number }): Promise<unknown>;
}

/** 128 KB, of which Cloudflare uses about 100 bytes for itself. */
const MAX_MESSAGE_BYTES = 128_000 - 100;

/** Options of {@link cloudflareQueue}. */
export interface CloudflareQueueOptions extends PayloadOptions {
  /** The producer binding: `env.QUEUE`. */
  queue: CloudflareQueueBinding;
  /** The name of the endpoint, part of every key. */
  name: string;
}

/**
 * Sends deliveries to a queue of Cloudflare Queues; `cloudflareProcessor` runs their handlers.
 *
 * Cloudflare Queues recognise no duplicates: a redelivery is queued again, and a message can arrive twice. Pass `dedupe`
 * with `d1Store` or `durableObjectStore` to the receiver for the redeliveries, and write handlers that may run twice.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const dedupe = { store: d1Store({ d1: env.DB }), name: 'clips' };
 * createReceiver({ secret, dedupe, queue: cloudflareQueue({ queue: env.QUEUE, name: 'clips' }) });
 */
export function cloudflareQueue(options: CloudflareQueueOptions): DeliveryQueue {
  checkObject('options', options);
  checkKnownOptions('cloudflareQueue', options, ['queue', 'name', ...PAYLOAD_OPTIONS], { binding: 'queue' });
  const { queue, name } = options;
  checkBinding('queue', queue);
  checkEndpointName(name, 'name must be');
  const payloads = createPayloads(options, MAX_MESSAGE_BYTES);
  return {
    name,
    maxBodyBytes: payloads.maxBodyBytes,

    put: (delivery) =>
      payloads.put(delivery, {
        putJob: (job) =>
          limitedPut(async () => {
            await queue.send(job, { contentType: 'json' });
            return 'queued' as const;
          }),
      }),
  };
}

/** @throws WebhookError `invalid_option` */
export function checkBinding(option: string, binding: unknown): void {
  checkClient(`${option} must be a producer binding of Cloudflare Queues`, binding, ['send']);
}
