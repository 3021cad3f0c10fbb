import { context, type MeterProvider, SpanKind, SpanStatusCode, type TracerProvider, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { PermanentError, type ReceiverOptions } from 'service-webhooks';
import { createReceiver } from 'service-webhooks/otel';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { aRequest, aStore, never, now, refusal, SECRET } from '../support/deliveries.js';
import { collectedMetrics } from './collected-metrics.js';

const spans = new InMemorySpanExporter();
const tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });

beforeEach(() => void useContextManager());
afterEach(() => {
  spans.reset();
  context.disable();
});

/** Spans find their parents by the context manager; some tests break theirs. */
function useContextManager(): AsyncLocalStorageContextManager {
  context.disable();
  const manager = new AsyncLocalStorageContextManager().enable();
  context.setGlobalContextManager(manager);
  return manager;
}

/** A receiver with spans and metrics, and what is collected of these. */
function metered(options: Partial<ReceiverOptions> = {}) {
  const { meterProvider, ...collected } = collectedMetrics();
  const telemetry = { tracerProvider, meterProvider };
  return {
    receiver: createReceiver({ secret: SECRET, now, on: { '*': () => {} }, ...options }, telemetry),
    ...collected,
  };
}

const traced = (options?: Partial<ReceiverOptions>) => metered(options).receiver;

const onlySpan = (): ReadableSpan => {
  const [span, ...more] = spans.getFinishedSpans();
  expect(more).toEqual([]);
  return span ?? expect.fail('no span');
};

const failing = () => {
  throw new Error('no');
};

describe('the span of a delivery', () => {
  it('attributes say what was decided about which event', async () => {
    await traced()(aRequest());
    const span = onlySpan();
    expect(span.name).toBe('webhook stt.completed');
    expect(span.kind).toBe(SpanKind.CONSUMER);
    expect(span.instrumentationScope.name).toBe('service-webhooks');
    expect(span.status.code).toBe(SpanStatusCode.UNSET);
    expect(span.attributes).toEqual({
      'http.response.status_code': 200,
      'webhook.outcome': 'handled',
      'webhook.event.id': 'evt_1',
      'webhook.event.type': 'stt.completed',
      'webhook.event.version': '2026-07-11',
      'webhook.signature.scheme': 'v2',
      'webhook.secret.index': 0,
      'webhook.attempt': 1,
    });
  });

  it('an attribute names the tenant where there are tenants', async () => {
    await traced({ secret: { acme: SECRET } })(aRequest());
    expect(onlySpan().attributes).toMatchObject({ 'webhook.tenant': 'acme', 'webhook.secret.index': 0 });
  });

  it.each<[string, number, string, Partial<ReceiverOptions>]>([
    ['handled', 202, 'UNSET', { on: { '*': () => ({ status: 202 }) } }],
    ['ignored', 200, 'UNSET', { on: {} }],
    ['discarded permanent_failure', 200, 'UNSET', { on: { '*': () => Promise.reject(new PermanentError()) } }],
    ['rejected signature_mismatch', 401, 'UNSET', { secret: 'another' }],
    ['failed handler_failed', 500, 'ERROR', { on: { '*': failing } }],
    ['failed store_unavailable', 503, 'ERROR', { dedupe: { store: aStore({ claim: failing }) } }],
  ])('an event that is %s has the answer %i and the status %s', async (shown, status, spanStatus, options) => {
    await traced(options)(aRequest());
    const { attributes, status: ended } = onlySpan();
    const [kind, code] = shown.split(' ');
    expect(attributes).toMatchObject({ 'webhook.outcome': kind, 'http.response.status_code': status });
    expect(attributes['error.type']).toBe(code);
    expect(ended).toEqual({
      code: SpanStatusCode[spanStatus as 'UNSET'],
      ...(spanStatus === 'ERROR' && { message: code }),
    });
  });

  it('an answer at the deadline is an error, although the handler still runs', async () => {
    vi.useFakeTimers();
    const answer = traced({ on: { '*': () => never() }, deadlineMs: 1_000 })(aRequest());
    await vi.advanceTimersByTimeAsync(1_000);
    await answer;
    expect(onlySpan()).toMatchObject({
      attributes: { 'webhook.outcome': 'past_deadline', 'error.type': 'handler_timeout' },
      status: { code: SpanStatusCode.ERROR },
    });
  });

  it('its parent is the span of the server, and its children are those of the handler', async () => {
    const tracer = tracerProvider.getTracer('app');
    const receiver = traced({ on: { '*': async () => tracer.startSpan('inside').end() } });
    await tracer.startActiveSpan('server', async (server) => {
      await receiver(aRequest());
      server.end();
    });
    const [inside, webhook, server] = spans.getFinishedSpans();
    expect([inside?.name, webhook?.name, server?.name]).toEqual(['inside', 'webhook stt.completed', 'server']);
    expect(inside?.parentSpanContext?.spanId).toBe(webhook?.spanContext().spanId);
    expect(webhook?.parentSpanContext?.spanId).toBe(server?.spanContext().spanId);
  });

  it('each of many spans at once has the outcome of its own delivery', async () => {
    const ids = Array.from({ length: 90 }, (_, i) => `evt_${i}`);
    const fails = (id: string) => id.endsWith('0');
    const receiver = traced({ on: { '*': ({ id }) => (fails(id) ? failing() : Promise.resolve()) } });
    await Promise.all(ids.map((id) => receiver(aRequest({ event: { id } }))));
    const shown = spans.getFinishedSpans().map(({ attributes: of }) => [of['webhook.event.id'], of['webhook.outcome']]);
    expect(Object.fromEntries(shown)).toEqual(
      Object.fromEntries(ids.map((id) => [id, fails(id) ? 'failed' : 'handled'])),
    );
  });

  it('notices are events of the span', async () => {
    await traced()(aRequest({ event: { version: '2027-01-01' } }));
    expect(onlySpan().events).toMatchObject([{ name: 'unknown_version' }]);
  });

  it('a middleware ends the span with the response, which is counted once', async () => {
    const { receiver, counted } = metered();
    const begun = await receiver.begin(aRequest());
    expect(spans.getFinishedSpans()).toEqual([]);
    if ('settle' in begun) await Promise.all([begun.settle('ok'), begun.settle('unknown')]);
    expect(onlySpan().attributes).toMatchObject({ 'webhook.outcome': 'handled', 'http.response.status_code': 200 });
    expect(await counted()).toMatchObject([{ value: { count: 1 } }]);
  });

  it('a middleware has a span for what it refuses', async () => {
    const begun = await traced({ secret: 'another' }).begin(aRequest());
    expect(begun).toMatchObject({ response: { status: 401 } });
    expect(onlySpan().attributes).toMatchObject({ 'error.type': 'signature_mismatch' });
  });
});

describe('the metrics', () => {
  it('answers are timed, and notices are counted', async () => {
    const { receiver, counted } = metered();
    await receiver(aRequest());
    await receiver(aRequest());
    await receiver(aRequest({ event: { id: 'evt_2', type: 'a.future.type', version: '2027-01-01' } }));
    await receiver(aRequest({ secret: 'another' }));
    const all = await counted();
    const verified = { 'webhook.signature.scheme': 'v2' };
    expect(all).toMatchObject([
      ...[
        { 'webhook.outcome': 'handled', 'webhook.event.type': 'stt.completed', ...verified },
        { 'webhook.outcome': 'duplicate', 'webhook.event.type': 'stt.completed', ...verified },
        { 'webhook.outcome': 'handled', 'webhook.event.type': '_OTHER', ...verified },
        { 'webhook.outcome': 'rejected', 'error.type': 'signature_mismatch' },
      ].map((attributes) => ({ name: 'webhook.receiver.duration', unit: 's', attributes, value: { count: 1 } })),
      {
        name: 'webhook.receiver.notices',
        attributes: { 'webhook.outcome': 'unknown_version', 'webhook.event.type': '_OTHER' },
        value: 1,
      },
    ]);
    expect(JSON.stringify(all)).not.toContain('evt_');
  });

  it('each instrument has a description, a unit and its buckets', async () => {
    const { receiver, counted } = metered();
    await receiver(aRequest({ event: { version: '2027-01-01' } }));
    const boundaries = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 20];
    expect(await counted()).toMatchObject([
      {
        description: 'From the request to the answer that was decided on.',
        unit: 's',
        value: { buckets: { boundaries } },
      },
      { description: 'What was reported next to the answers.', unit: '{notice}' },
    ]);
  });

  it('the time of an answer is in seconds', async () => {
    vi.useFakeTimers();
    vi.advanceTimersByTime(500);
    const { receiver, counted } = metered({ on: { '*': () => never() }, deadlineMs: 2_000 });
    const answer = receiver(aRequest());
    await vi.advanceTimersByTimeAsync(2_000);
    await answer;
    vi.useRealTimers();
    expect(await counted()).toMatchObject([{ value: { count: 1, sum: 2 } }]);
  });

  it('a notice has the operation of the store that failed', async () => {
    const { receiver, counted } = metered({ dedupe: { store: aStore({ claim: failing }) } });
    await receiver(aRequest());
    const notices = (await counted()).filter(({ name }) => name === 'webhook.receiver.notices');
    const attributes = { 'webhook.outcome': 'store_error', 'webhook.store.operation': 'claim' };
    expect(notices).toContainEqual(expect.objectContaining({ attributes: expect.objectContaining(attributes) }));
  });
});

it('telemetry has nothing of payloads, headers, secrets or thrown errors', async () => {
  const { meterProvider, counted } = collectedMetrics();
  const throwing = () => {
    throw new Error('CANARY');
  };
  const secret = 'whsec_CANARY';
  const parts = {
    secret,
    headers: { 'idempotency-key': 'CANARY', 'x-service-webhook-id': 'CANARY', 'x-other': 'CANARY' },
    event: { jobId: 'CANARY', data: { CANARY: 'CANARY' }, more: 'CANARY', version: '2027-01-01' },
  };
  const telemetry = { tracerProvider, meterProvider };
  for (const options of [{ on: { '*': throwing } }, { dedupe: { store: aStore({ claim: throwing }) } }, {}]) {
    const receiver = createReceiver({ now, on: { '*': () => {} }, ...options, secret }, telemetry);
    await receiver(aRequest(parts));
    await receiver(aRequest({ ...parts, body: '{"CANARY":' }));
    await receiver(aRequest({ ...parts, headers: { 'x-service-signature-v2': 'CANARY' } }));
  }
  const shown = spans
    .getFinishedSpans()
    .map(({ name, attributes, events, status }) => [name, attributes, events, status]);
  expect(shown).toHaveLength(9);
  expect(JSON.stringify([shown, await counted()])).not.toContain('CANARY');
});

describe('the gauges', () => {
  const valuesOf = (points: { name: string; value: unknown; attributes: unknown }[]) =>
    Object.fromEntries(points.map(({ name, value }) => [name.replace('webhook.receiver.', ''), value]));

  it('a collection has the health of the receiver at that moment', async () => {
    vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
    const { receiver, gauges } = metered({ on: { 'stt.failed': failing, '*': () => {} } });
    await receiver(aRequest());
    vi.setSystemTime(1_030_000);
    await receiver(aRequest({ secret: 'another', headers: { 'x-service-attempt': '6' } }));
    await receiver(aRequest({ secret: 'another' }));
    await receiver(aRequest({ event: { id: 'evt_2', type: 'stt.failed' }, headers: { 'x-service-attempt': '6' } }));
    const begun = await receiver.begin(aRequest({ event: { id: 'evt_3' } }));
    const found = await gauges();
    expect(valuesOf(found)).toEqual({
      in_progress: 1,
      refusals_in_a_row: 2,
      failures_in_a_row: 1,
      dead_in_a_row_estimate: 1,
      since_last_accepted: 30,
    });
    expect(found.every(({ description, unit }) => description !== '' && unit !== '')).toBe(true);
    if ('settle' in begun) await begun.settle('ok');
  });

  it('each point names the endpoint, and a time that has not come is left out', async () => {
    const { receiver, gauges } = metered({ dedupe: { name: 'clips' } });
    await receiver(aRequest({ secret: 'another' }));
    const found = await gauges();
    expect(valuesOf(found)).not.toHaveProperty('since_last_accepted');
    expect(found).toHaveLength(4);
    for (const { attributes } of found) expect(attributes).toEqual({ 'webhook.endpoint.name': 'clips' });
  });

  it('a receiver is observed once, from its first request on', async () => {
    const addBatchObservableCallback = vi.fn();
    const none = () => ({});
    const instruments = { createHistogram: none, createCounter: none, createObservableGauge: none };
    const meter = { ...instruments, addBatchObservableCallback };
    const meterProvider = { getMeter: () => meter } as unknown as MeterProvider;
    const receiver = createReceiver({ secret: SECRET, now, on: {}, logger: false }, { meterProvider });
    expect(addBatchObservableCallback).not.toHaveBeenCalled();
    for (let i = 0; i < 3; i += 1) await receiver(aRequest({ secret: 'another' }));
    await receiver.begin(aRequest({ secret: 'another' }));
    expect(addBatchObservableCallback).toHaveBeenCalledOnce();
  });
});

describe('a telemetry that fails', () => {
  const broken = <T>(): T => new Proxy({}, { get: () => failing }) as T;
  const brokenLater = (method: string): TracerProvider => ({
    getTracer: () =>
      ({
        startSpan: () => {
          const span = tracerProvider.getTracer('').startSpan('');
          return Object.assign(span, { [method]: failing });
        },
      }) as unknown as ReturnType<TracerProvider['getTracer']>,
  });
  const noInstruments: MeterProvider = { getMeter: () => broken() };
  const brokenInstruments = {
    getMeter: () => ({ createHistogram: () => broken(), createCounter: () => broken() }),
  } as unknown as MeterProvider;

  it.each<[string, { tracerProvider?: TracerProvider; meterProvider?: MeterProvider }]>([
    ['that gives no tracer', { tracerProvider: broken() }],
    ['that starts no span', { tracerProvider: { getTracer: () => broken() } }],
    ...['setAttributes', 'setStatus', 'updateName', 'addEvent', 'end', 'spanContext'].map(
      (method) => [`whose span cannot ${method}`, { tracerProvider: brokenLater(method) }] as [string, object],
    ),
    ['that gives no meter', { meterProvider: broken() }],
    ['that makes no instruments', { meterProvider: noInstruments }],
    ['whose instruments fail', { meterProvider: brokenInstruments }],
  ])('%s touches no delivery', async (_, telemetry) => {
    const handled: string[] = [];
    const seen: string[] = [];
    const receiver = createReceiver(
      { secret: SECRET, now, on: { '*': ({ id }) => void handled.push(id) }, observe: ({ kind }) => seen.push(kind) },
      telemetry,
    );
    const request = () => aRequest({ event: { version: '2027-01-01' } });
    const answers = [await receiver(request()), await receiver(request()), await receiver(aRequest({ secret: 'no' }))];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 401]);
    expect(handled).toEqual(['evt_1']);
    expect(seen).toEqual(['unknown_version', 'handled', 'unknown_version', 'duplicate', 'rejected']);
  });

  it.each<[string, TracerProvider, { active?: () => never }]>([
    ['the context is not known', tracerProvider, { active: failing }],
    ['no span can be started', broken(), {}],
  ])('a handler stays in the span of the server where %s', async (_, broken, failure) => {
    const manager = useContextManager();
    const { active } = manager;
    const server = tracerProvider.getTracer('app').startSpan('server');
    let inside: unknown;
    const on = {
      '*': () => {
        Object.assign(manager, { active });
        inside = trace.getActiveSpan();
      },
    };
    const receiver = createReceiver({ secret: SECRET, now, on }, { tracerProvider: broken });
    const { status } = await context.with(trace.setSpan(context.active(), server), () => {
      Object.assign(manager, failure);
      return receiver(aRequest());
    });
    expect([status, inside]).toEqual([200, server]);
  });

  it.each(['before', 'behind'])('a handler runs once although the context fails %s its work', async (when) => {
    const manager = useContextManager();
    const { with: right } = manager;
    manager.with = (...args) => {
      if (when === 'behind') right.apply(manager, args as never);
      throw new Error('no');
    };
    const handled: string[] = [];
    const { status } = await traced({ on: { '*': ({ id }) => void handled.push(id) } })(aRequest());
    expect([status, handled]).toEqual([200, ['evt_1']]);
  });
});

it('a receiver without a context manager has the status in a span, and observes', async () => {
  context.disable();
  const seen: string[] = [];
  await traced({ observe: ({ kind }) => seen.push(kind) })(aRequest({ event: { version: '2027-01-01' } }));
  expect(onlySpan()).toMatchObject({ name: 'webhook', attributes: { 'http.response.status_code': 200 } });
  expect(seen).toEqual(['unknown_version', 'handled']);
});

it('a receiver without a registered SDK handles its events', async () => {
  expect(trace.getActiveSpan()).toBeUndefined();
  const receiver = createReceiver({ secret: SECRET, now, on: { '*': () => {} } });
  expect((await receiver(aRequest())).status).toBe(200);
});

it('the observer of the user gets every outcome, and may fail', async () => {
  const seen: string[] = [];
  const receiver = traced({
    observe({ kind }) {
      seen.push(kind);
      throw new Error('mine');
    },
  });
  expect((await receiver(aRequest())).status).toBe(200);
  expect(seen).toEqual(['handled']);
  expect(onlySpan().attributes['webhook.outcome']).toBe('handled');
});

it('an observer that flushes exports the span of its own delivery, behind a middleware too', async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  onTestFinished(() => provider.shutdown());
  const passed: Promise<unknown>[] = [];
  const waitUntil = (work: Promise<unknown>) => void passed.push(work);
  const observe = () => provider.forceFlush();
  const options = { secret: SECRET, now, dedupe: false, waitUntil, observe } as const;
  const receiver = createReceiver({ ...options, on: { '*': () => {} } }, { tracerProvider: provider });
  await receiver(aRequest());
  await Promise.all(passed);
  expect(exporter.getFinishedSpans()).toHaveLength(1);
  const begun = await createReceiver(options, { tracerProvider: provider }).begin(aRequest());
  if ('response' in begun) return expect.fail(begun.response.body);
  await begun.settle('ok');
  await Promise.all(passed);
  expect(passed).toHaveLength(2);
  expect(exporter.getFinishedSpans().map((span) => span.attributes['webhook.outcome'])).toEqual(['handled', 'handled']);
});

it('wrong options are refused as without telemetry', () => {
  expect(refusal(() => createReceiver({ secret: '' })).code).toBe('invalid_secret');
  expect(refusal(() => createReceiver(undefined as never)).code).toBe('invalid_secret');
  expect(refusal(() => createReceiver({ secret: SECRET, observe: 'log' as never })).message).toContain(
    'observe must be a function',
  );
});
