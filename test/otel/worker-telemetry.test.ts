import {
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { CompositePropagator, W3CBaggagePropagator, W3CTraceContextPropagator } from '@opentelemetry/core';
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
  // As the SDKs for Node register it.
  const propagators = [new W3CTraceContextPropagator(), new W3CBaggagePropagator()];
  propagation.setGlobalPropagator(new CompositePropagator({ propagators }));
});
afterAll(() => {
  context.disable();
  propagation.disable();
});
afterEach(() => spans.reset());

/** Queues a delivery through a traced receiver. */
async function aTracedJob(): Promise<QueuedDelivery> {
  const queue = memoryQueue();
  const receiver = createReceiver({ secret: SECRET, now, queue, logger: false }, { tracerProvider });
  expect(inShort(await receiver(aRequest()))).toBe('202 queued');
  const [job] = queue.jobs.values();
  return job?.value as QueuedDelivery;
}

/** Queues a delivery through a traced receiver and runs it in a worker. */
async function through(on: WorkerOptions['on'], telemetry = workerTelemetry({ tracerProvider })) {
  const job = await aTracedJob();
  const ended = await createProcessor({ on, telemetry, logger: false })(job, { attempt: 2 });
  return { ended, job, finished: spans.getFinishedSpans() };
}

/** Runs a job, in a context that is active around the worker, and returns the span of the run. */
async function ran(job: unknown, on: WorkerOptions['on'] = { '*': () => {} }, active: Context = ROOT_CONTEXT) {
  spans.reset();
  const process = createProcessor({ on, telemetry: workerTelemetry({ tracerProvider }), logger: false });
  const { as } = await context.with(active, () => process(job, { attempt: 1 }));
  expect(as).toBe('done');
  const [run, ...more] = spans.getFinishedSpans();
  expect(more).toEqual([]);
  return run ?? expect.fail('no span');
}

const anEngineSpan = () => tracerProvider.getTracer('an engine').startSpan('process');
const activeSpanId = () => trace.getActiveSpan()?.spanContext().spanId;

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

  it('the span of a run starts a trace and links to the span of the request', async () => {
    let inside: string | undefined;
    const handler = () => {
      inside = activeSpanId();
    };
    const { finished } = await through({ '*': handler });
    const [request, run] = finished;
    expect(finished).toHaveLength(2);
    const { traceId, spanId } = request?.spanContext() ?? {};
    expect(run?.links).toEqual([{ context: { traceId, spanId, traceFlags: 1, isRemote: true } }]);
    expect(run?.parentSpanContext).toBeUndefined();
    expect(run?.spanContext().traceId).not.toBe(traceId);
    expect(inside).toBe(run?.spanContext().spanId);
    expect(run).toMatchObject({ name: 'webhook job stt.completed', kind: SpanKind.CONSUMER });
    expect(run?.attributes).toMatchObject({
      'webhook.outcome': 'handled',
      'webhook.attempt': 2,
      'webhook.event.id': 'evt_1',
    });
    expect(request?.attributes).toMatchObject({ 'webhook.event.id': 'evt_1' });
  });

  it('the span of a run has the active span as its parent and links to the span of the request', async () => {
    const job = await aTracedJob();
    const [request] = spans.getFinishedSpans();
    const engine = anEngineSpan();
    const run = await ran(job, undefined, trace.setSpan(ROOT_CONTEXT, engine));
    expect(run.parentSpanContext).toEqual(engine.spanContext());
    expect(run.spanContext().traceId).toBe(engine.spanContext().traceId);
    expect(run.links).toMatchObject([{ context: { spanId: request?.spanContext().spanId } }]);
  });

  it('each attempt has a trace of its own and links to the same span of the request', async () => {
    const job = await aTracedJob();
    spans.reset();
    const process = createProcessor({
      on: { '*': vi.fn().mockRejectedValueOnce(new Error('no disk')) },
      telemetry: workerTelemetry({ tracerProvider }),
      logger: false,
    });
    for (const attempt of [1, 2]) await process(job, { attempt });
    const runs = spans.getFinishedSpans();
    expect(runs.map(({ attributes }) => attributes['webhook.outcome'])).toEqual(['failed', 'handled']);
    expect(new Set(runs.map((run) => run.spanContext().traceId)).size).toBe(2);
    expect(runs[0]?.links).toHaveLength(1);
    expect(runs[1]?.links).toEqual(runs[0]?.links);
  });

  it('each of the runs at the same time links to the request of its own job', async () => {
    const jobs = await Promise.all([aTracedJob(), aTracedJob()]);
    const requests = spans.getFinishedSpans().map((request) => request.spanContext().spanId);
    spans.reset();
    const telemetry = workerTelemetry({ tracerProvider });
    const process = createProcessor({ on: { '*': () => {} }, telemetry, logger: false });
    await Promise.all(jobs.map((job) => process(job, { attempt: 1 })));
    const linked = spans.getFinishedSpans().map(({ links }) => links.map((link) => link.context.spanId));
    expect(linked).toEqual(requests.map((spanId) => [spanId]));
  });

  const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
  const SPAN_ID = 'b7ad6b7169203331';
  const traceparent = `00-${TRACE_ID}-${SPAN_ID}-00`;

  it('the link has the flags and the trace state of the request', async () => {
    const job = { ...(await aTracedJob()), trace: { traceparent, tracestate: 'vendor=value' } };
    const { links } = await ran(job);
    expect(links).toMatchObject([{ context: { traceId: TRACE_ID, spanId: SPAN_ID, traceFlags: 0 } }]);
    expect(links[0]?.context.traceState?.serialize()).toBe('vendor=value');
  });

  it('a trace state that is too long is left out of the link', async () => {
    const job = { ...(await aTracedJob()), trace: { traceparent, tracestate: `vendor=${'x'.repeat(1_000_000)}` } };
    const { links } = await ran(job);
    expect(links).toMatchObject([{ context: { traceId: TRACE_ID, spanId: SPAN_ID } }]);
    expect(links[0]?.context.traceState?.serialize()).toBe('');
  });

  const throwingProxy = new Proxy({}, { get: throwing, ownKeys: throwing, has: throwing });

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 7],
    ['a text', traceparent],
    ['an empty object', {}],
    ['a list', [traceparent]],
    ['a Proxy that throws', throwingProxy],
    ['a traceparent that is a number', { traceparent: 7 }],
    ['a traceparent that is an object', { traceparent: { toString: 1 } }],
    ['a traceparent that is a Proxy', { traceparent: throwingProxy }],
    ['a traceparent of another form', { traceparent: 'yesterday' }],
    ['a traceparent of zeros', { traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01` }],
    ['a traceparent that is too long', { traceparent: traceparent + '-00'.repeat(1_000_000) }],
    ['a tracestate that is no text', { traceparent, tracestate: [{ toString: 1 }] }],
  ])('the handler runs once, in a span without a link, where the trace of the job is %s', async (_, forged) => {
    const job = { ...(await aTracedJob()), trace: forged };
    const handler = vi.fn();
    const engine = anEngineSpan();
    const run = await ran(job, { '*': handler }, trace.setSpan(ROOT_CONTEXT, engine));
    expect(handler).toHaveBeenCalledTimes(1);
    expect(run.parentSpanContext).toEqual(engine.spanContext());
    expect(run.links).toEqual([]);
  });

  it('the handler runs once, in a span without a link, where the job throws when its trace is read', async () => {
    const job = Object.defineProperty(await aTracedJob(), 'trace', { get: throwing });
    const handler = vi.fn();
    expect((await ran(job, { '*': handler })).links).toEqual([]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it.each<[string, () => Context]>([
    ['throws', throwing],
    ['finds an invalid span', () => trace.setSpanContext(ROOT_CONTEXT, INVALID_SPAN_CONTEXT)],
    ['finds a span whose ids are no text', () => trace.setSpanContext(ROOT_CONTEXT, { traceId: 7 } as never)],
  ])('the handler runs once, in a span without a link, where the propagator %s', async (_, extract) => {
    const job = await aTracedJob();
    vi.spyOn(propagation, 'extract').mockImplementation(extract);
    const handler = vi.fn();
    expect((await ran(job, { '*': handler })).links).toEqual([]);
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it('the handler has the baggage that is active around the worker, and not that of the request', async () => {
    const withBaggage = (name: string) =>
      propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ [name]: { value: 'yes' } }));
    const job = await context.with(withBaggage('request'), aTracedJob);
    expect(job.trace).toMatchObject({ baggage: 'request=yes' });
    let inside: string[] | undefined;
    const handler = () => {
      inside = propagation
        .getActiveBaggage()
        ?.getAllEntries()
        .map(([name]) => name);
    };
    await ran(job, { '*': handler }, withBaggage('worker'));
    expect(inside).toEqual(['worker']);
    await ran(job, { '*': handler });
    expect(inside).toBeUndefined();
  });

  it.each([
    ['failed', new Error('no disk'), SpanStatusCode.ERROR],
    ['discarded', new PermanentError('no clip'), SpanStatusCode.UNSET],
  ])('the span of a run has the outcome %s', async (outcome, error, code) => {
    const { finished } = await through({ '*': () => Promise.reject(error) });
    expect(finished[1]).toMatchObject({ status: { code }, attributes: { 'webhook.outcome': outcome } });
  });

  it('a handler runs once, in the active span, where the tracer throws', async () => {
    const inside = vi.fn(activeSpanId);
    const engine = anEngineSpan();
    const broken = workerTelemetry({ tracerProvider: { getTracer: throwing } });
    const active = trace.setSpan(ROOT_CONTEXT, engine);
    const { ended } = await context.with(active, () => through({ '*': () => void inside() }, broken));
    expect(ended.as).toBe('done');
    expect(inside.mock.results).toEqual([{ type: 'return', value: engine.spanContext().spanId }]);
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
