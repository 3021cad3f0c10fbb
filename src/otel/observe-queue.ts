import { metrics } from '@opentelemetry/api';
import { checkKnownOptions, checkObject } from '../option-checks.js';
import type { OperatedQueue, QueueStats } from '../queue/dead-letters.js';
import { checkClient } from '../queue/engine-queue.js';
import { sharedCall } from '../timers.js';
import type { TelemetryOptions } from './create-receiver.js';
import { type Gauge, observeGauges, READ_LIMIT_MS } from './gauges.js';

/** Options of {@link observeQueue}. */
export interface QueueTelemetryOptions extends Pick<TelemetryOptions, 'meterProvider'> {
  /** Which queue the gauges are about. Default: the `name` of the queue. */
  name?: string | undefined;
}

const GAUGES: Readonly<Record<string, Gauge<QueueStats>>> = {
  'webhook.queue.depth': {
    description: 'Deliveries that wait or run.',
    unit: '{delivery}',
    value: ({ depth }) => depth,
  },
  'webhook.queue.oldest_age': {
    description: 'How long the oldest delivery that waits or runs has been queued; 0 for none.',
    unit: 's',
    value: ({ oldestMs }) => (oldestMs === undefined ? undefined : oldestMs / 1000),
  },
  'webhook.queue.dead_letters': {
    description: 'Deliveries that failed for good, until they are retried or discarded.',
    unit: '{delivery}',
    value: ({ dead }) => dead,
  },
};

/**
 * Reports a queue as gauges: its depth, the age of its oldest delivery, and its dead letters. They are read each time that
 * metrics are collected; while the engine does not answer within 2 s, nothing is reported. Call it in one process, after the SDK is
 * registered. Returns a function that ends it.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * import { observeQueue } from 'service-webhooks/otel';
 *
 * observeQueue(bullmqQueue({ queue: new Queue('webhooks', { connection }) }));
 */
export function observeQueue(
  queue: Pick<OperatedQueue, 'name' | 'stats'>,
  options: QueueTelemetryOptions = {},
): () => void {
  checkObject('options', options);
  checkKnownOptions('observeQueue', options, ['name', 'meterProvider']);
  checkClient('queue must be a queue of this library', queue, ['stats']);
  const { name = queue.name, meterProvider = metrics } = options;
  const read = sharedCall(READ_LIMIT_MS, () => queue.stats());
  return observeGauges(meterProvider, GAUGES, read, { 'webhook.queue.name': name });
}
