import {
  type Counter,
  context,
  metrics,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { Ended, WorkerTelemetry } from '../queue/processor.js';
import type { QueuedDelivery } from '../receiver/queued-delivery.js';
import { metricAttributes, spanAttributes } from './attributes.js';
import type { TelemetryOptions } from './create-receiver.js';

/**
 * Returns the telemetry of a worker: a span for each run of a handler, in the trace of the request that queued the
 * delivery, and the counter `webhook.worker.dead_letters`. For the trace, the receiver must be the one of
 * `service-webhooks/otel`, and a propagator such as W3C Trace Context must be registered in both processes.
 *
 * @example
 * new Worker('webhooks', bullmqProcessor({ on, telemetry: workerTelemetry() }), { connection });
 */
export function workerTelemetry({
  tracerProvider = trace,
  meterProvider = metrics,
}: TelemetryOptions = {}): WorkerTelemetry {
  // At the first dead letter, because a meter that is created before the SDK starts never measures.
  let deadLetters: Counter | undefined;

  return {
    deadLetter(notice) {
      deadLetters ??= meterProvider.getMeter('service-webhooks').createCounter('webhook.worker.dead_letters', {
        description: 'Deliveries that became dead letters.',
        unit: '{delivery}',
      });
      const { name } = notice;
      deadLetters.add(1, { ...metricAttributes(notice), ...(name !== undefined && { 'webhook.endpoint.name': name }) });
    },

    async record(queued, run) {
      const span = attempt(() => startSpan(queued));
      if (span === undefined) return run();
      let running: Promise<Ended> | undefined;
      attempt(() =>
        context.with(trace.setSpan(context.active(), span), () => {
          running = run();
        }),
      );
      const ended = await (running ?? run());
      attempt(() => end(span, ended));
      return ended;
    },
  };

  function startSpan(queued: QueuedDelivery): Span {
    const parent = propagation.extract(context.active(), queued.trace ?? {});
    return tracerProvider.getTracer('service-webhooks').startSpan('webhook job', { kind: SpanKind.CONSUMER }, parent);
  }
}

function end(span: Span, { decision }: Ended): void {
  const { kind, delivery, error } = decision;
  span.setAttributes(spanAttributes(decision));
  if (delivery) span.updateName(`webhook job ${delivery.event.type}`);
  if (kind === 'failed' && error) span.setStatus({ code: SpanStatusCode.ERROR, message: error.code });
  span.end();
}

/** Runs a call whose failure must not become a failure of the job. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}
