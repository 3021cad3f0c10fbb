import {
  type Attributes,
  context,
  type Histogram,
  type MeterProvider,
  SpanKind,
  SpanStatusCode,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import type { Health } from '../receiver/health.js';
import { type Decision, isNotice, type Outcome, toResponse } from '../receiver/outcome.js';
import { attempt, NO_SPAN, runInContext } from './attempt.js';
import { metricAttributes, spanAttributes } from './attributes.js';
import { observeHealth } from './health-gauges.js';

/** What an outcome finds by its context. */
interface Found {
  decided(decision: Decision): void;
}

/** The telemetry of one request. Nothing here throws. */
export interface Recording {
  /** Runs a step of the receiver, so that what it starts becomes part of the span. */
  run<T>(step: () => Promise<T>): Promise<T>;
  /** Records the status of the answer. Only the first call counts. */
  end(status: number): void;
}

export interface Telemetry {
  start(): Recording;
  /** Records an outcome, for `observe`. It finds the request by the context in which it is called. */
  note(outcome: Outcome): void;
  /** Observes a receiver by gauges. */
  observeHealth(read: () => Promise<Health>, attributes: Attributes): void;
}

const NAME = 'service-webhooks';
/** Not from `createContextKey`, which returns the same key for the same name. */
const RECORDING = Symbol();
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20];

export function createTelemetry(tracers: TracerProvider, meters: MeterProvider): Telemetry {
  // At the first request, because a meter that is created before the SDK starts never measures.
  let made: ReturnType<typeof makeInstruments> | undefined;
  const instruments = () => {
    made ??= makeInstruments(meters);
    return made;
  };

  return {
    start: () => startRecording(tracers, () => instruments().duration),
    observeHealth: (read, attributes) => void attempt(() => observeHealth(meters, read, attributes)),
    note(outcome) {
      if (!isNotice(outcome)) {
        const recording = attempt(() => context.active().getValue(RECORDING)) as Found | undefined;
        recording?.decided(outcome);
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
      description: 'What was reported next to the answers.',
      unit: '{notice}',
    }),
  };
}

function startRecording(tracers: TracerProvider, duration: () => Histogram): Recording {
  const started = performance.now();
  let decision: Decision | undefined;
  const found: Found = {
    decided(made) {
      decision = made;
      recording.end(toResponse(made).status); // now, so that an observer can flush the span
    },
  };
  const own = attempt(() => tracers.getTracer(NAME).startSpan('webhook', { kind: SpanKind.CONSUMER }));
  const span = own ?? NO_SPAN;
  const active = attempt(() => {
    const inside = context.active().setValue(RECORDING, found);
    return own ? trace.setSpan(inside, own) : inside;
  });
  let ended = false;
  const recording: Recording = {
    run: (step) => runInContext(active, step),
    end(status) {
      if (ended) return;
      ended = true;
      const common = { 'http.response.status_code': status };
      const seconds = (performance.now() - started) / 1000;
      const failure =
        decision?.kind === 'failed' || decision?.kind === 'past_deadline' ? decision.error.code : undefined;
      const name = decision?.delivery && `webhook ${decision.delivery.event.type}`;
      attempt(() => duration().record(seconds, { ...common, ...(decision && metricAttributes(decision)) }, active));
      attempt(() => span.setAttributes({ ...common, ...(decision && spanAttributes(decision)) }));
      if (failure) attempt(() => span.setStatus({ code: SpanStatusCode.ERROR, message: failure }));
      if (name) attempt(() => span.updateName(name));
      attempt(() => span.end());
    },
  };
  return recording;
}
