import { metrics } from '@opentelemetry/api';
import type { JobStats, Jobs } from '../jobs/create-jobs.js';
import { check, checkKnownOptions, checkObject } from '../option-checks.js';
import { sharedCall } from '../timers.js';
import type { TelemetryOptions } from './create-receiver.js';
import { type Gauge, observeGauges, READ_LIMIT_MS } from './gauges.js';

/** Options of {@link observeJobs}. */
export interface JobsTelemetryOptions extends Pick<TelemetryOptions, 'meterProvider'> {
  /** Which jobs the gauges are about, where a process observes several stores. Default: none. */
  name?: string | undefined;
}

const GAUGES: Readonly<Record<string, Gauge<JobStats>>> = {
  'webhook.jobs.expected': {
    description: 'Jobs whose event has not come, overdue ones included.',
    unit: '{job}',
    value: ({ expected }) => expected,
  },
  'webhook.jobs.overdue': {
    description: 'Jobs whose event is overdue.',
    unit: '{job}',
    value: ({ overdue }) => overdue,
  },
  'webhook.jobs.oldest_overdue': {
    description: 'How long the first of them has been overdue; 0 for none.',
    unit: 's',
    value: ({ oldestMs = 0 }) => oldestMs / 1000,
  },
};

/**
 * Reports the jobs that are waited for as gauges: how many there are, how many are overdue, and for how long the first of
 * them is. They are read each time that metrics are collected; while the store does not answer within 2 s, nothing is
 * reported. Call it in one process, after the SDK is registered. Returns a function that ends it.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * import { observeJobs } from 'service-webhooks/otel';
 *
 * observeJobs(createJobs({ store }));
 */
export function observeJobs(jobs: Pick<Jobs, 'stats'>, options: JobsTelemetryOptions = {}): () => void {
  check(typeof jobs?.stats === 'function', 'jobs must be the result of createJobs()');
  checkObject('options', options);
  checkKnownOptions('observeJobs', options, ['name', 'meterProvider']);
  const { name, meterProvider = metrics } = options;
  const read = sharedCall(READ_LIMIT_MS, () => jobs.stats());
  const attributes = name === undefined ? {} : { 'webhook.jobs.name': name };
  return observeGauges(meterProvider, GAUGES, read, attributes);
}
