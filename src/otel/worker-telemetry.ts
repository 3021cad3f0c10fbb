import {
  type Attributes,
  context,
  isSpanContextValid,
  type MeterProvider,
  metrics,
  propagation,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { endpointOf } from '../endpoint.js';
import type { Ended, WorkerTelemetry } from '../queue/processor.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import { stopwatch } from '../timers.js';
import { attempt, runInContext } from './attempt.js';
import { metricAttributes, namedEndpoint, spanAttributes } from './attributes.js';
import type { TelemetryOptions } from './create-receiver.js';

/**
 * Returns the telemetry of a worker: a span for each run of a handler, and metrics.
 *
 * The parent of the span is the active span, such as that of the engine's instrumentation; without one, the span starts a
 * trace. It links to the span of the request that queued the delivery. For the link, the receiver must be the one of
 * `service-webhooks/otel`, and a propagator such as W3C Trace Context must be registered in both processes. The handler
 * does not get the baggage of the request.
 *
 * The metrics are the histograms `webhook.worker.duration`, of each run, and `webhook.worker.time_in_queue`, from the time at
 * which the receiver queued the delivery to its first run, both in seconds, and the counter `webhook.worker.dead_letters`.
 * Failures of the telemetry are dropped and never affect a job.
 *
 * @example
 * new Worker('webhooks', bullmqProcessor({ on, telemetry: workerTelemetry() }), { connection });
 */
export function workerTelemetry({
  tracerProvider = trace,
  meterProvider = metrics,
}: TelemetryOptions = {}): WorkerTelemetry {
  // At the first job, because a meter that is created before the SDK starts never measures.
  let made: ReturnType<typeof makeInstruments> | undefined;
  const instruments = () => {
    made ??= makeInstruments(meterProvider);
    return made;
  };

  return {
    deadLetter(notice) {
      const { name, cause } = notice;
      instruments().deadLetters.add(1, {
        ...metricAttributes(notice),
        ...namedEndpoint(name),
        ...(cause !== undefined && { 'webhook.dead_letter.cause': cause }),
      });
    },

    async record(queued, run, job) {
      const waited = secondsInQueue(queued);
      const elapsed = stopwatch();
      const span = attempt(() => startSpan(queued));
      const inSpan = span && attempt(() => trace.setSpan(context.active(), span));
      const ended = await runInContext(inSpan, run);
      const seconds = elapsed() / 1000;
      const ofRun =
        attempt(() => ({ ...metricAttributes(ended.decision), ...namedEndpoint(endpointOf(queued.key)) })) ?? {};
      attempt(() => instruments().duration.record(seconds, ofRun, inSpan));
      // The wait before a later run would be mostly that of the engine's retries.
      if (job?.attempt === 1 && waited !== undefined) {
        attempt(() => instruments().timeInQueue.record(waited, only(QUEUED_ATTRIBUTES, ofRun), inSpan));
      }
      if (span) attempt(() => end(span, ended));
      return ended;
    },
  };

  function startSpan(queued: QueuedDelivery): Span {
    const request = attempt(() => requestOf(queued));
    const links = request ? [{ context: request }] : [];
    return tracerProvider.getTracer(NAME).startSpan('webhook job', { kind: SpanKind.CONSUMER, links });
  }
}

const NAME = 'service-webhooks';
const RUN_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
const QUEUE_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400];
/** What is known of a delivery before it runs. */
const QUEUED_ATTRIBUTES = ['webhook.event.type', 'webhook.signature.scheme', 'webhook.endpoint.name'];
/** A longer wait is left out: another program has stored a wrong time, or the clock was wrong. */
const MAX_WAIT_S = 30 * 86_400;

function makeInstruments(meters: MeterProvider) {
  const meter = meters.getMeter(NAME);
  return {
    duration: meter.createHistogram('webhook.worker.duration', {
      description: 'The runs of queued deliveries in a worker.',
      unit: 's',
      advice: { explicitBucketBoundaries: RUN_BUCKETS },
    }),
    timeInQueue: meter.createHistogram('webhook.worker.time_in_queue', {
      description: 'From the time at which a receiver queued a delivery to its first run.',
      unit: 's',
      advice: { explicitBucketBoundaries: QUEUE_BUCKETS },
    }),
    deadLetters: meter.createCounter('webhook.worker.dead_letters', {
      description: 'Deliveries that became dead letters.',
      unit: '{delivery}',
    }),
  };
}

/** Returns the context of the span in which a receiver queued a delivery; undefined where the job has no valid one. */
function requestOf(queued: QueuedDelivery): SpanContext | undefined {
  const found = trace.getSpanContext(propagation.extract(ROOT_CONTEXT, queued.trace ?? {}));
  return found && isSpanContextValid(found) ? found : undefined;
}

/** Returns how long a delivery has waited; 0 where the clock of the receiver is ahead, undefined for an impossible time. */
function secondsInQueue({ receivedAt }: QueuedDelivery): number | undefined {
  const seconds = Math.max(0, Date.now() - receivedAt) / 1000;
  return seconds <= MAX_WAIT_S ? seconds : undefined;
}

function only(names: readonly string[], attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)));
}

function end(span: Span, { decision }: Ended): void {
  const { kind, delivery, error } = decision;
  span.setAttributes(spanAttributes(decision));
  if (delivery) span.updateName(`webhook job ${delivery.event.type}`);
  if (kind === 'failed' && error) span.setStatus({ code: SpanStatusCode.ERROR, message: error.code });
  span.end();
}
