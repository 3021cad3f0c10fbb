import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { PermanentError } from 'service-webhooks';
import { createReceiver, workerTelemetry } from 'service-webhooks/otel';
import { createProcessor, type WorkerOptions } from 'service-webhooks/queue';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { aRequest, inShort, now, refusal, SECRET } from '../support/deliveries.js';
import { memoryQueue } from '../support/memory-queue.js';
import { collectedMetrics } from './collected-metrics.js';

const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator({
    inject(from, carrier, setter) {
      const span = trace.getSpanContext(from);
      if (span) setter.set(carrier, 'traceparent', `00-${span.traceId}-${span.spanId}-01`);
    },
    extract(into, carrier, getter) {
      const [, traceId, spanId] = String(getter.get(carrier, 'traceparent')).split('-');
      if (!traceId || !spanId) return into;
      return trace.setSpanContext(into, { traceId, spanId, traceFlags: 1, isRemote: true });
    },
    fields: () => ['traceparent'],
  });
});
afterAll(() => {
  context.disable();
  propagation.disable();
});
afterEach(() => spans.reset());

/** Queues a delivery through a traced receiver and runs it in a worker. */
async function through(on: WorkerOptions['on'], telemetry = workerTelemetry({ tracerProvider })) {
  const queue = memoryQueue();
  const receiver = createReceiver({ secret: SECRET, now, queue, logger: false }, { tracerProvider });
  expect(inShort(await receiver(aRequest()))).toBe('202 queued');
  const [job] = queue.jobs.values();
  const ended = await createProcessor({ on, telemetry, logger: false })(job?.value, { attempt: 2 });
  return { ended, job: job?.value as { trace?: Record<string, string> }, finished: spans.getFinishedSpans() };
}

const throwing = () => {
  throw new Error('broken');
};

describe('workerTelemetry', () => {
  it('dead letters are counted by event type and endpoint', async () => {
    const { meterProvider, points } = collectedMetrics();
    const process = createProcessor({ on: {}, logger: false, telemetry: workerTelemetry({ meterProvider }) });
    const queue = memoryQueue({ name: 'clips' });
    const receiver = createReceiver({ secret: SECRET, now, queue, logger: false });
    await receiver(aRequest());
    const [job] = queue.jobs.values();
    process.deadLetter(job?.value, { attempts: 3, reason: 'no disk' });
    process.deadLetter(job?.value, { attempts: 3, reason: 'another' });
    const attributes = { 'webhook.event.type': 'stt.completed', 'webhook.endpoint.name': 'clips' };
    expect(await points()).toMatchObject([{ name: 'webhook.worker.dead_letters', value: 2, attributes }]);
  });

  it('the run of a handler continues the trace of the request', async () => {
    let inside: string | undefined;
    const handler = () => {
      inside = trace.getActiveSpan()?.spanContext().spanId;
    };
    const { finished, job } = await through({ '*': handler });
    const [request, run] = finished;
    expect(finished).toHaveLength(2);
    expect(job.trace).toEqual({ traceparent: expect.stringContaining(String(request?.spanContext().traceId)) });
    expect(run?.spanContext().traceId).toBe(request?.spanContext().traceId);
    expect(run?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId);
    expect(inside).toBe(run?.spanContext().spanId);
    expect(run).toMatchObject({ name: 'webhook job stt.completed', kind: SpanKind.CONSUMER });
    expect(run?.attributes).toMatchObject({
      'webhook.outcome': 'handled',
      'webhook.attempt': 2,
      'webhook.event.id': 'evt_1',
    });
  });

  it.each([
    ['failed', new Error('no disk'), SpanStatusCode.ERROR],
    ['discarded', new PermanentError('no clip'), SpanStatusCode.UNSET],
  ])('the span of a run has the outcome %s', async (outcome, error, code) => {
    const { finished } = await through({ '*': () => Promise.reject(error) });
    expect(finished[1]).toMatchObject({ status: { code }, attributes: { 'webhook.outcome': outcome } });
  });

  it('a handler runs once where the tracer throws', async () => {
    const handler = vi.fn();
    const broken = { getTracer: throwing };
    const { ended } = await through({ '*': handler }, workerTelemetry({ tracerProvider: broken }));
    expect(ended.as).toBe('done');
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('a delivery is queued without a trace where the propagator throws', async () => {
    vi.spyOn(propagation, 'inject').mockImplementation(throwing);
    const { job } = await through({ '*': () => {} });
    expect(job.trace).toBeUndefined();
  });
});

describe('a receiver with telemetry and a queue', () => {
  it('the queue is initialised, and an object without put is refused', async () => {
    const init = vi.fn(async () => {});
    const queue = { ...memoryQueue(), init };
    const receiver = createReceiver({ secret: SECRET, now, queue, logger: false }, { tracerProvider });
    expect(inShort(await receiver(aRequest()))).toBe('202 queued');
    expect(init).toHaveBeenCalledTimes(1);
    const error = refusal(() => createReceiver({ secret: SECRET, queue: {} as never }));
    expect(error.message).toContain('queue has no method put()');
  });
});
