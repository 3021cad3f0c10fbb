import { type MeterProvider, metrics, type TracerProvider, trace } from '@opentelemetry/api';
import { checkFunction } from '../check.js';
import type { ReceiverOptions } from '../options.js';
import { createReceiver as createPlainReceiver, type Receiver } from '../receiver.js';
import { createTelemetry } from './telemetry.js';

/** Where spans and metrics go; by default, to what is registered with the API when the first request comes. */
export interface TelemetryOptions {
  tracerProvider?: TracerProvider | undefined;
  meterProvider?: MeterProvider | undefined;
}

/**
 * The receiver of `service-webhooks` with a span and metrics for each request. What a handler does is part of its span.
 *
 * Told are the outcome, codes, the event's id, type and version, never `data`, the body or a header. What goes wrong
 * here, goes wrong unseen: no delivery is touched by it.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, as the receiver without telemetry.
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
    observe(outcome) {
      telemetry.note(outcome);
      return options.observe?.(outcome);
    },
  });

  const receive = async (request: Parameters<Receiver>[0]) => {
    const recording = telemetry.start();
    const response = await recording.run(() => receiver(request));
    recording.end(response.status);
    return response;
  };

  const begin: Receiver['begin'] = async (request) => {
    const recording = telemetry.start();
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

  return Object.assign(receive, { begin });
}
