import {
  context,
  createContextKey,
  type Histogram,
  type MeterProvider,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Answer, Outcome } from '../outcome.js';
import { metricAttributes, spanAttributes } from './attributes.js';

/** The telemetry of one request. Nothing here throws. */
export interface Recording {
  /** Runs a step of the receiver, so that what it starts becomes part of the span. */
  run<T>(step: () => Promise<T>): Promise<T>;
  /** Answered with this status. The first call counts. */
  end(status: number): void;
}

export interface Telemetry {
  start(): Recording;
  /** For `observe`: finds the request of an outcome by the context it is called in. */
  note(outcome: Outcome): void;
}

const NAME = 'service-webhooks';
const RECORDING = createContextKey(`${NAME} recording`);
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20];

export function createTelemetry(tracers: TracerProvider, meters: MeterProvider): Telemetry {
  // At the first request: a meter from before the SDK was there would never measure.
  const instruments = once(() => {
    const meter = meters.getMeter(NAME);
    return {
      duration: meter.createHistogram('webhook.receiver.duration', {
        description: 'From the request to the answer that was decided on.',
        unit: 's',
        advice: { explicitBucketBoundaries: BUCKETS },
      }),
      notices: meter.createCounter('webhook.receiver.notices', {
        description: 'What was worth knowing beside the answers.',
        unit: '{notice}',
      }),
    };
  });

  return {
    start: () => startRecording(tracers, () => instruments()?.duration),
    note(outcome) {
      const recording = attempt(() => context.active().getValue(RECORDING)) as { answer?: Answer } | undefined;
      if (isAnswer(outcome)) {
        if (recording) recording.answer = outcome;
        return;
      }
      const attributes = metricAttributes(outcome);
      attempt(() => instruments()?.notices.add(1, attributes));
      attempt(() => trace.getActiveSpan()?.addEvent(outcome.kind, attributes));
    },
  };
}

function startRecording(tracers: TracerProvider, duration: () => Histogram | undefined): Recording {
  const started = performance.now();
  const found: { answer?: Answer } = {};
  const span = attempt(() => tracers.getTracer(NAME).startSpan('webhook', { kind: SpanKind.CONSUMER }));
  const active = attempt(() => {
    const inside = context.active().setValue(RECORDING, found);
    return span ? trace.setSpan(inside, span) : inside;
  });
  let ended = false;
  return {
    run(step) {
      let running: ReturnType<typeof step> | undefined;
      attempt(() => {
        if (active === undefined) return;
        context.with(active, () => {
          running = step();
        });
      });
      return running ?? step();
    },
    end(status) {
      if (ended) return;
      ended = true;
      const { answer } = found;
      const common = { 'http.response.status_code': status };
      const seconds = (performance.now() - started) / 1000;
      attempt(() => duration()?.record(seconds, { ...common, ...(answer && metricAttributes(answer)) }, active));
      attempt(() => span?.setAttributes({ ...common, ...(answer && spanAttributes(answer)) }));
      attempt(() => {
        if (answer?.kind === 'failed' || answer?.kind === 'past_deadline') {
          span?.setStatus({ code: SpanStatusCode.ERROR, message: answer.error.code });
        }
        if (answer?.delivery) span?.updateName(`webhook ${answer.delivery.event.type}`);
      });
      attempt(() => span?.end());
    },
  };
}

const ANSWERS = ['handled', 'ignored', 'duplicate', 'in_progress', 'rejected', 'failed', 'past_deadline'] as const;

function isAnswer(outcome: Outcome): outcome is Answer {
  return (ANSWERS satisfies readonly Answer['kind'][] as readonly string[]).includes(outcome.kind);
}

/** Telemetry that fails is no reason for anything else to fail. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call();
  } catch {
    return undefined;
  }
}

/** Made when it is first asked for; tried again after a failure. */
function once<T>(make: () => T): () => T | undefined {
  let made: T | undefined;
  return () => {
    made ??= attempt(make);
    return made;
  };
}
