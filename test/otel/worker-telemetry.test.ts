import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import type { Histogram } from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createReceiver as createPlainReceiver, PermanentError } from 'service-webhooks';
import { createReceiver, workerTelemetry } from 'service-webhooks/otel';
import { createProcessor, fromQueued, type QueuedDelivery, type WorkerOptions } from 'service-webhooks/queue';
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

/** A worker with metrics, a job of the endpoint `clips`, and what is collected. */
async function metered(on: WorkerOptions['on'] = { '*': () => {} }, event: Record<string, unknown> = {}) {
  const { meterProvider, points } = collectedMetrics();
  const queue = memoryQueue({ name: 'clips' });
  await createPlainReceiver({ secret: SECRET, now, queue, logger: false })(aRequest({ event }));
  const [job] = queue.jobs.values();
  const process = createProcessor({ on, logger: false, telemetry: workerTelemetry({ meterProvider }) });
  return { process, job: job?.value as QueuedDelivery, points };
}

const throwing = () => {
  throw new Error('broken');
};

describe('workerTelemetry', () => {
  it('dead letters are counted by event type, endpoint and cause', async () => {
    const { process, job, points } = await metered();
    process.deadLetter(job, { attempts: 3, reason: 'no disk', cause: 'attempts_used' });
    process.deadLetter(job, { attempts: 3, reason: 'another', cause: 'attempts_used' });
    process.deadLetter(job, { attempts: 1, reason: 'no clip', cause: 'permanent_failure' });
    process.deadLetter(job, { attempts: 1, reason: 'of an engine that does not say' });
    const attributes = { 'webhook.event.type': 'stt.completed', 'webhook.endpoint.name': 'clips' };
    const withCause = (cause: string) => ({ ...attributes, 'webhook.dead_letter.cause': cause });
    const name = 'webhook.worker.dead_letters';
    expect(await points()).toMatchObject([
      { name, value: 2, attributes: withCause('attempts_used') },
      { name, value: 1, attributes: withCause('permanent_failure') },
      { name, value: 1, attributes },
    ]);
  });

  it('each run is measured by its outcome, and the text of its error is nowhere', async () => {
    const { process, job, points } = await metered({
      '*': vi.fn().mockImplementationOnce(throwing).mockRejectedValueOnce(new PermanentError('no clip')),
    });
    for (const attempt of [1, 2, 3]) await process(job, { attempt });
    const found = (await points()).filter(({ name }) => name === 'webhook.worker.duration');
    const common = {
      'webhook.event.type': 'stt.completed',
      'webhook.signature.scheme': 'v2',
      'webhook.endpoint.name': 'clips',
    };
    expect(found.map(({ attributes }) => attributes)).toEqual([
      { ...common, 'webhook.outcome': 'failed', 'error.type': 'handler_failed' },
      { ...common, 'webhook.outcome': 'discarded', 'error.type': 'permanent_failure' },
      { ...common, 'webhook.outcome': 'handled' },
    ]);
    for (const { value, unit } of found) expect([(value as Histogram).count, unit]).toEqual([1, 's']);
  });

  it('an event type that is new counts as _OTHER', async () => {
    const { process, job, points } = await metered({ '*': () => {} }, { type: 'song.completed' });
    await process(job, { attempt: 2 });
    expect(await points()).toMatchObject([{ attributes: { 'webhook.event.type': '_OTHER' } }]);
  });

  const waits = async (receivedAt: number, attempt = 1) => {
    const { process, job, points } = await metered();
    await process({ ...job, receivedAt }, { attempt });
    const [wait] = (await points()).filter(({ name }) => name === 'webhook.worker.time_in_queue');
    return wait;
  };

  it('the time in the queue is measured before the first run, without the outcome', async () => {
    vi.spyOn(Date, 'now').mockReturnValue(now() + 90_000);
    const wait = await waits(now());
    expect(wait).toMatchObject({ unit: 's', value: { count: 1, sum: 90 } });
    expect(wait?.attributes).toEqual({
      'webhook.event.type': 'stt.completed',
      'webhook.signature.scheme': 'v2',
      'webhook.endpoint.name': 'clips',
    });
  });

  it('the time in the queue is not measured again before a later run', async () => {
    expect(await waits(now(), 2)).toBeUndefined();
  });

  it.each([60_000, Number.MAX_VALUE])('a delivery of %d ms in the future has waited for 0 s', async (ms) => {
    vi.spyOn(Date, 'now').mockReturnValue(now());
    expect(await waits(now() + ms)).toMatchObject({ value: { count: 1, sum: 0 } });
  });

  it.each([0, -Number.MAX_VALUE])(
    'a delivery that was queued at the instant %d is not measured',
    async (receivedAt) => {
      expect(await waits(receivedAt)).toBeUndefined();
    },
  );

  it('a handler runs once where the meter throws', async () => {
    const handler = vi.fn();
    const broken = { getMeter: throwing };
    const { ended } = await through({ '*': handler }, workerTelemetry({ tracerProvider, meterProvider: broken }));
    expect(ended.as).toBe('done');
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('a caller that passes no attempt gets the duration alone', async () => {
    const { meterProvider, points } = collectedMetrics();
    const { job } = await metered();
    const ended = { as: 'done', decision: { kind: 'ignored', delivery: fromQueued(job) } } as const;
    expect(await workerTelemetry({ meterProvider }).record(job, async () => ended)).toBe(ended);
    expect(await points()).toMatchObject([{ name: 'webhook.worker.duration' }]);
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
  it('the gauges have the name of the queue and do not ask it, and health() has its state', async () => {
    const { meterProvider, points } = collectedMetrics();
    const stats = vi.fn(async () => ({ depth: 3, oldestMs: 0, dead: 0 }));
    const queue = { ...memoryQueue(), stats };
    const receiver = createReceiver({ secret: SECRET, now, queue, logger: false }, { tracerProvider, meterProvider });
    await receiver(aRequest());
    const found = await points();
    const names = found.map(({ name }) => name);
    const gauge = found.find(({ name }) => name === 'webhook.receiver.in_progress');
    expect(gauge?.attributes).toEqual({ 'webhook.endpoint.name': queue.name });
    expect(names).toContain('webhook.receiver.in_progress');
    expect(names.filter((name) => name.startsWith('webhook.queue'))).toEqual([]);
    expect(stats).not.toHaveBeenCalled();
    expect(await receiver.health()).toMatchObject({ queue: { depth: 3 } });
  });

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
