import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { checkFunction } from '../option-checks.js';
import type { ReceiverOptions } from '../receiver/options.js';
import { createReceiver as createPlainReceiver, type Receiver } from '../receiver/receiver.js';
import { endpointAttributes } from './attributes.js';
import { createTelemetry, type Recording } from './telemetry.js';
import { tracedQueue } from './traced-queue.js';

/** Where spans and metrics go. Default: the providers that are registered with the API at the first request. */
export interface TelemetryOptions {
  tracerProvider?: TracerProvider | undefined;
  meterProvider?: MeterProvider | undefined;
}

/**
 * Creates a receiver, as `createReceiver` of `service-webhooks` does, that records a span and metrics for each request.
 * The work of a handler is part of its span.
 *
 * A span contains the outcome, codes, and the event's id, type and version, never `data`, the body or a header. Gauges
 * report the health of the receiver. Failures of the telemetry are dropped and never affect a delivery.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the receiver is created.
 * @example
 * import { createReceiver } from 'service-webhooks/otel';
 *
 * app.post('/webhooks', webhookHandler(createReceiver({ secret, on })));
 */
export function createReceiver(options: ReceiverOptions, telemetryOptions: TelemetryOptions = {}): Receiver {
  const { tracerProvider = trace, meterProvider = metrics } = telemetryOptions;
  const telemetry = createTelemetry(tracerProvider, meterProvider);
  checkFunction('observe', options?.observe);
  const receiver = createPlainReceiver({
    ...options,
    queue: typeof options?.queue?.put === 'function' ? tracedQueue(options.queue) : options?.queue,
    observe(outcome) {
      telemetry.note(outcome);
      return options.observe?.(outcome);
    },
  });

  // At the first request, because a meter that is created before the SDK starts never measures.
  let isObserved = false;
  function start(): Recording {
    // Without the queue: observeQueue() has the gauges of it, in the one process that calls it.
    if (!isObserved) telemetry.observeHealth(() => receiver.health({ queue: false }), endpointAttributes(options));
    isObserved = true;
    return telemetry.start();
  }

  const receive = async (request: Parameters<Receiver>[0]) => {
    const recording = start();
    const response = await recording.run(() => receiver(request));
    recording.end(response.status);
    return response;
  };

  const begin: Receiver['begin'] = async (request) => {
    const recording = start();
    const begun = await recording.run(() => receiver.begin(request));
    if ('response' in begun) {
      recording.end(begun.response.status);
      return begun;
    }
    return {
      ...begun,
      async settle(...how) {
        const response = await recording.run(() => begun.settle(...how));
        recording.end(response.status);
        return response;
      },
    };
  };

  return Object.assign(receive, receiver, { begin });
}
