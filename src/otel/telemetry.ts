import {
  context,
  type Histogram,
  INVALID_SPAN_CONTEXT,
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
/** Not of `createContextKey`, which gives two keys of one name as one. */
const RECORDING = Symbol();
/** Stands for a span that could not be started, and tells nobody anything. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20];

export function createTelemetry(tracers: TracerProvider, meters: MeterProvider): Telemetry {
  // At the first request: a meter from before the SDK was there would never measure.
  let made: ReturnType<typeof makeInstruments> | undefined;
  const instruments = () => {
    made ??= makeInstruments(meters);
    return made;
  };

  return {
    start: () => startRecording(tracers, () => instruments().duration),
    note(outcome) {
      if (isAnswer(outcome)) {
        const recording = attempt(() => context.active().getValue(RECORDING)) as { answer?: Answer } | undefined;
        if (recording) recording.answer = outcome;
        return;
      }
      const attributes = metricAttributes(outcome);
      attempt(() => instruments().notices.add(1, attributes));
      attempt(() => trace.getActiveSpan()?.addEvent(outcome.kind, attributes));
    },
  };
}

function makeInstruments(meters: MeterProvider) {
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
}

function startRecording(tracers: TracerProvider, duration: () => Histogram): Recording {
  const started = performance.now();
  const found: { answer?: Answer } = {};
  const own = attempt(() => tracers.getTracer(NAME).startSpan('webhook', { kind: SpanKind.CONSUMER }));
  const span = own ?? NO_SPAN;
  const active = attempt(() => {
    const inside = context.active().setValue(RECORDING, found);
    return own ? trace.setSpan(inside, own) : inside;
  });
  let ended = false;
  return {
    run(step) {
      let running: ReturnType<typeof step> | undefined;
      if (active) {
        attempt(() =>
          context.with(active, () => {
            running = step();
          }),
        );
      }
      return running ?? step();
    },
    end(status) {
      if (ended) return;
      ended = true;
      const { answer } = found;
      const common = { 'http.response.status_code': status };
      const seconds = (performance.now() - started) / 1000;
      const failure = answer?.kind === 'failed' || answer?.kind === 'past_deadline' ? answer.error.code : undefined;
      const name = answer?.delivery && `webhook ${answer.delivery.event.type}`;
      attempt(() => duration().record(seconds, { ...common, ...(answer && metricAttributes(answer)) }, active));
      attempt(() => span.setAttributes({ ...common, ...(answer && spanAttributes(answer)) }));
      if (failure) attempt(() => span.setStatus({ code: SpanStatusCode.ERROR, message: failure }));
      if (name) attempt(() => span.updateName(name));
      attempt(() => span.end());
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
  } catch {}
  return undefined;
}
