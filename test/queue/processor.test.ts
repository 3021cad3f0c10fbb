import {
  type DeadLetterCause,
  type Handlers,
  memoryStore,
  type Outcome,
  PermanentError,
  verify,
  WebhookError,
  type WebhookErrorCode,
} from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { describe, expect, it, vi } from 'vitest';
import { createProcessor, type Ended, type JobRun, toQueued, type WorkerOptions } from '../../src/queue/index.js';
import { aDelivery, anEvent, later, now, refusal, SECRET } from '../support/deliveries.js';

const queuedOf = (event?: Record<string, unknown>) =>
  toQueued(verify({ ...aDelivery({ event: event ?? {} }), secret: SECRET, now }), 'test:evt_1', 1);

/** Runs one job, with every outcome that was observed. */
async function run(options: Partial<WorkerOptions>, job: unknown = queuedOf(), jobRun: JobRun = { attempt: 1 }) {
  const outcomes: Outcome[] = [];
  const process = createProcessor({
    on: { '*': () => {} },
    logger: false,
    observe: (outcome) => outcomes.push(outcome),
    ...options,
  });
  return { ended: await process(job, jobRun), outcomes };
}

const throwing = (error: unknown): Handlers => ({
  '*': () => {
    throw error;
  },
});

describe('the processor of a job', () => {
  it('the handler of the type gets the event and the context of the run', async () => {
    const handler = vi.fn();
    const { signal } = new AbortController();
    const on = { 'stt.completed': handler, '*': expect.fail };
    const { ended } = await run({ on }, queuedOf(), { attempt: 3, fence: 7, signal });
    expect(ended.as).toBe('done');
    const [event, context] = handler.mock.lastCall ?? [];
    expect(event).toMatchObject({ id: 'evt_1', type: 'stt.completed' });
    expect(context).toMatchObject({
      attempt: 3,
      fence: 7,
      endpoint: 'test',
      delivery: { event, scheme: 'v2', secretIndex: 0 },
    });
    expect(context.signal).toBe(signal);
  });

  it('a handler gets a signal and the fence 0 where the engine has none', async () => {
    const handler = vi.fn();
    await run({ on: { '*': handler } });
    const [, context] = handler.mock.lastCall ?? [];
    expect(context).toMatchObject({ fence: 0, attempt: 1 });
    expect(context.signal.aborted).toBe(false);
  });

  it('a handler gets no endpoint where the key of its job has no name', async () => {
    const handler = vi.fn();
    await run({ on: { '*': handler } }, { ...queuedOf(), key: 'evt_1' });
    expect(handler.mock.lastCall?.[1]).toHaveProperty('endpoint', undefined);
  });

  it('an event without a handler is done', async () => {
    expect(await run({ on: {} })).toMatchObject({ ended: { as: 'done' }, outcomes: [{ kind: 'ignored' }] });
  });

  const FAILED = ['failed', 'failed', 'handler_failed'] as const;
  const IN_PROGRESS = ['failed', 'in_progress', 'delivery_in_progress'] as const;
  const DISCARDED = ['dead', 'discarded', 'permanent_failure'] as const;
  const [BUSY, AWAY] = [new WebhookError('delivery_in_progress'), new WebhookError('store_unavailable')];
  const GONE = new Error('gone');
  const UNPRINTABLE = 'The thrown value cannot be printed.';

  it.each<[string, unknown, string, readonly [Ended['as'], Outcome['kind'], WebhookErrorCode]]>([
    ['an error', new Error('no disk'), 'no disk', FAILED],
    ['text', 'no disk', 'no disk', FAILED],
    ['empty text', '', 'The handler gave no reason.', FAILED],
    ['undefined', undefined, 'undefined', FAILED],
    ['an error without a message', new TypeError(), 'TypeError', FAILED],
    ['what an inbox throws', BUSY, BUSY.message, IN_PROGRESS],
    ['another WebhookError', AWAY, AWAY.message, FAILED],
    ['a PermanentError with a reason', new PermanentError('the clip is gone'), 'the clip is gone', DISCARDED],
    ['a PermanentError without a reason', new PermanentError(), 'The handler gave no reason.', DISCARDED],
    ['a PermanentError with an empty reason', new PermanentError(''), 'The handler gave no reason.', DISCARDED],
    ['a PermanentError with a cause', new PermanentError(undefined, { cause: GONE }), 'gone', DISCARDED],
    ['a PermanentError with a cause and empty reason', new PermanentError('', { cause: GONE }), 'gone', DISCARDED],
    ['a PermanentError with an error', new PermanentError(GONE as never), 'gone', DISCARDED],
    ['a text that a database refuses', new Error('a\0b\ud800'), 'a\\u0000b\\ud800', FAILED],
    ['a long text', new Error('x'.repeat(5_000)), 'x'.repeat(1_000), FAILED],
    ['a value that cannot be printed', Object.create(null), UNPRINTABLE, FAILED],
    ['a Proxy that was revoked', revokedProxy(), UNPRINTABLE, FAILED],
    ['a Proxy whose prototype cannot be read', new Proxy({}, { getPrototypeOf: throwAlways }), UNPRINTABLE, FAILED],
    ['a Proxy that throws', new Proxy({}, { get: throwAlways, getPrototypeOf: throwAlways }), UNPRINTABLE, FAILED],
  ])('engine and operator learn what happened after a handler throws %s', async (_, thrown, reason, decided) => {
    const [as, kind, code] = decided;
    expect(await run({ on: throwing(thrown) })).toMatchObject({
      ended: { as, reason, error: expect.any(Error) },
      outcomes: [{ kind, error: { code } }],
    });
  });

  it('an event whose job was reconciled is done as a duplicate, and its handler does not run', async () => {
    const store = memoryStore();
    const jobs = createJobs({ store });
    await jobs.expect('clip_1', { within: 1 });
    await expect.poll(() => jobs.overdue()).toHaveLength(1);
    const fetch = async () => ({ type: 'stt.completed', data: {} });
    await jobs.reconcile({ on: { '*': () => {} }, fetch, name: 'test', logger: false });
    const handler = vi.fn();
    expect(await run({ on: { '*': handler }, jobs })).toMatchObject({
      ended: { as: 'done' },
      outcomes: [{ kind: 'duplicate' }],
    });
    expect(handler).not.toHaveBeenCalled();
  });

  it('an event waits in the worker while another process works on its job', async () => {
    const store = memoryStore();
    const jobs = createJobs({ store, leaseMs: 60 });
    const [running, work] = [later(), later()];
    const on = {
      '*': () => {
        running.resolve();
        return work.promise;
      },
    };
    const first = run({ on, jobs });
    await running.promise;
    const second = run({ on, jobs }, queuedOf({ id: 'evt_2' }));
    const isDone = vi.fn();
    second.then(isDone);
    expect(isDone).not.toHaveBeenCalled();
    work.resolve();
    expect(await first).toMatchObject({ ended: { as: 'done' } });
    expect(await second).toMatchObject({ ended: { as: 'done' }, outcomes: [{ kind: 'handled' }] });
  });

  it('a store of jobs that is down fails the attempt, and the reason says so', async () => {
    const store = { ...memoryStore(), claim: () => Promise.reject(new Error('no route to Redis')) };
    const handler = vi.fn();
    const { ended, outcomes } = await run({ on: { '*': handler }, jobs: createJobs({ store }) });
    expect(ended).toMatchObject({ as: 'failed', error: { code: 'store_unavailable' } });
    expect(outcomes).toMatchObject([{ kind: 'store_error', operation: 'claim' }, { kind: 'failed' }]);
    expect(handler).not.toHaveBeenCalled();
  });

  it('a status that a handler returns counts as in a receiver', async () => {
    expect(await run({ on: { '*': () => ({ status: 202 }) } })).toMatchObject({ ended: { as: 'done' } });
    const { ended } = await run({ on: { '*': () => ({ status: 500 }) } });
    expect(ended).toMatchObject({ as: 'failed', reason: expect.stringContaining('status 500, which is not 2xx') });
  });

  it('no handler runs with data that its types do not promise', async () => {
    const event = anEvent({ type: 'generation.completed', data: { clipId: 1 } });
    expect(await run({ on: { 'generation.completed': expect.fail } }, queuedOf(event))).toMatchObject({
      ended: { as: 'failed' },
      outcomes: [{ kind: 'failed', error: { code: 'unexpected_data' } }],
    });
  });

  it('a job of another version stays in the queue', async () => {
    const { ended, outcomes } = await run({ on: { '*': expect.fail } }, { ...queuedOf(), v: 2 });
    expect(ended).toMatchObject({ as: 'unreadable', error: { code: 'unreadable_job' } });
    expect(outcomes).toMatchObject([{ kind: 'failed', error: { code: 'unreadable_job' } }]);
  });

  it('a failure is logged with its cause, although observer and logger throw', async () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    await run({ on: throwing(new Error('no disk')), logger });
    expect(logger.error.mock.calls[0]?.[0]).toContain('no disk');
    const { ended } = await run({
      on: throwing('x'),
      logger: { error: throwAlways, warn: throwAlways },
      observe: throwAlways,
    });
    expect(ended.as).toBe('failed');
  });

  it('the failure of the last attempt makes the job dead, with the error that was thrown', async () => {
    const error = new Error('no disk');
    const on = throwing(error);
    const second = await run({ on }, queuedOf(), { attempt: 2, attempts: 3 });
    expect(second.ended.as).toBe('failed');
    const { ended } = await run({ on }, queuedOf(), { attempt: 3, attempts: 3 });
    expect(ended).toMatchObject({ as: 'dead', attempts: 3, reason: 'no disk', error, decision: { kind: 'failed' } });
  });

  const NO_DATA = new WebhookError('unexpected_data');

  it.each<[DeadLetterCause, unknown, JobRun]>([
    ['permanent_failure', new PermanentError('no clip'), { attempt: 1, attempts: 3 }],
    ['attempts_used', new Error('no disk'), { attempt: 3, attempts: 3 }],
    ['attempts_used', new Error('The worker died during the last attempt.'), { attempt: 3, attempts: 3 }],
    ['unexpected_data', NO_DATA, { attempt: 3, attempts: 3 }],
    ['worker_died', undefined, { attempt: 4, attempts: 3 }],
  ])('a dead letter has the cause %s, whatever the text of its error', async (cause, error, jobRun) => {
    const outcomes: Outcome[] = [];
    const process = createProcessor({
      on: throwing(error),
      logger: false,
      observe: (outcome) => outcomes.push(outcome),
    });
    const ended = await process(queuedOf(), jobRun);
    if (ended.as !== 'dead') expect.fail(ended.as);
    process.deadLetter(queuedOf(), ended);
    expect(outcomes.at(-1)).toMatchObject({ kind: 'dead_letter', cause });
  });

  it('a dead letter goes to the observer, the log and the telemetry', () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    const observe = vi.fn();
    const telemetry = { record: vi.fn(), deadLetter: vi.fn() };
    const process = createProcessor({ on: {}, logger, observe, telemetry });
    process.deadLetter(queuedOf(), { attempts: 3, reason: 'no disk' });
    const expected = { kind: 'dead_letter', type: 'stt.completed', reason: 'no disk', attempts: 3, name: 'test' };
    expect(observe.mock.lastCall?.[0]).toMatchObject({ ...expected, delivery: { event: { id: 'evt_1' } } });
    expect(telemetry.deadLetter.mock.lastCall?.[0]).toMatchObject(expected);
    expect(logger.error.mock.lastCall).toEqual([
      'service-webhooks: stt.completed evt_1, attempt 3: The delivery is a dead letter after 3 attempts. Remove the cause, then retry or discard it (npx service-webhooks-cli queue). Its reason: no disk (dead_letter)',
      { code: 'dead_letter', eventId: 'evt_1', eventType: 'stt.completed', attempt: 3 },
    ]);
  });

  it('a line of the log has the number of the run', async () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    const process = createProcessor({ on: throwing(new Error('no disk')), logger });
    await process(queuedOf(), { attempt: 3, attempts: 10 });
    const [line, fields] = logger.error.mock.lastCall ?? [];
    expect(line).toMatch(/^service-webhooks: stt.completed evt_1, attempt 3: Your handler failed/);
    expect(fields).toMatchObject({ code: 'handler_failed', attempt: 3 });
  });

  it('a dead letter in an unknown form is reported, although the telemetry throws', () => {
    const observe = vi.fn();
    const telemetry: WorkerOptions['telemetry'] = { record: (_, call) => call(), deadLetter: throwAlways };
    const process = createProcessor({ on: {}, logger: false, observe, telemetry });
    process.deadLetter({ v: 2 }, { attempts: 1, reason: 'no disk' });
    const unknown = { type: undefined, name: undefined, delivery: undefined };
    expect(observe.mock.lastCall?.[0]).toEqual({ kind: 'dead_letter', reason: 'no disk', attempts: 1, ...unknown });
  });

  it('the telemetry surrounds the run of a handler', async () => {
    const calls: unknown[] = [];
    const telemetry: WorkerOptions['telemetry'] = {
      async record(queued, runJob, job) {
        calls.push(queued.trace, job);
        const ended = await runJob();
        calls.push(ended.as);
        return ended;
      },
    };
    const job = { ...queuedOf(), trace: { traceparent: '00-1-2-01' } };
    await run({ telemetry, on: { '*': () => void calls.push('handler') } }, job, { attempt: 2 });
    expect(calls).toEqual([job.trace, { attempt: 2 }, 'handler', 'done']);
  });

  it.each<[string, NonNullable<WorkerOptions['telemetry']>['record']]>([
    ['rejects after the run', (_, call) => call().then(throwAlways)],
    ['rejects before the run', async () => throwAlways()],
    ['throws', throwAlways],
  ])('a handler runs once where the telemetry %s', async (_, record) => {
    const handler = vi.fn();
    const { ended } = await run({ telemetry: { record }, on: { '*': handler } });
    expect(ended.as).toBe('done');
    expect(handler).toHaveBeenCalledTimes(1);
  });

  it.each<[string, unknown]>([
    ["Did you mean 'on'?", { handlers: {} }],
    ["Did you mean 'logger'?", { on: {}, log: console }],
    ['on must be an object', {}],
    ['options must be an object', undefined],
    ['logger has no method error()', { on: {}, logger: {} }],
    ['observe must be a function', { on: {}, observe: 1 }],
    ['telemetry has no method record()', { on: {}, telemetry: {} }],
    ["on['stt.complete'] is not an event type", { on: { 'stt.complete': () => {} } }],
  ])('options that are wrong are refused with %j', (message, options) => {
    const error = refusal(() => createProcessor(options as WorkerOptions));
    expect(error.code).toBe('invalid_option');
    expect(error.message).toContain(message);
  });
});

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function throwAlways(): never {
  throw new Error('broken');
}
