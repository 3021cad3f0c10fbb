import type { Attributes, MeterProvider } from '@opentelemetry/api';
import type { Health } from '../receiver/health.js';
import { type Gauge, observeGauges } from './gauges.js';

const GAUGES: Readonly<Record<string, Gauge<Health>>> = {
  'webhook.receiver.in_progress': {
    description: 'Deliveries that are claimed and not settled.',
    unit: '{delivery}',
    value: ({ inProgress }) => inProgress,
  },
  'webhook.receiver.refusals_in_a_row': {
    description: 'Refused requests since the last accepted delivery. Any sender can cause them.',
    unit: '{request}',
    value: ({ refusalsInARow }) => refusalsInARow,
  },
  'webhook.receiver.failures_in_a_row': {
    description: 'Failed deliveries since the last accepted one.',
    unit: '{delivery}',
    value: ({ failuresInARow }) => failuresInARow,
  },
  'webhook.receiver.dead_in_a_row_estimate': {
    description:
      'An estimate of the dead deliveries with a valid signature since the last accepted one: 20 pause the endpoint.',
    unit: '{delivery}',
    value: ({ deadInARowEstimate }) => deadInARowEstimate,
  },
  'webhook.receiver.since_last_accepted': {
    description: 'Since the last accepted delivery; nothing before the first one.',
    unit: 's',
    value: ({ lastAcceptedAt }) => (lastAcceptedAt === undefined ? undefined : (Date.now() - lastAcceptedAt) / 1000),
  },
};

/** Observes the health of a receiver each time metrics are collected. */
export function observeHealth(meters: MeterProvider, read: () => Promise<Health>, attributes: Attributes): void {
  observeGauges(meters, GAUGES, read, attributes);
}
