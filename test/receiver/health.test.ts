import {
  createReceiver,
  type DedupeStore,
  memoryStore,
  type QueueStats,
  type Receiver,
  type ReceiverOptions,
  type WebhookRequest,
} from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, later, NOW, never, now, SECRET } from '../support/deliveries.js';
import { begin } from './answers.js';
import { throwing } from './traps.js';

const anEvent = (id = 'evt_1', headers: Record<string, string> = {}) => aRequest({ event: { id }, headers });
const aForgery = (attempt = '1') => aRequest({ secret: 'a guess', headers: { 'x-service-attempt': attempt } });
const SIXTH = { 'x-service-attempt': '6' };

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});

describe('health() of a receiver', () => {
  it('a new receiver has the time of its start, no last events and counts of 0', async () => {
    const { receiver } = aReceiver();
    vi.setSystemTime(NOW + 5_000);
    expect(await receiver.health()).toEqual({
      receivers: 1,
      since: NOW,
      lastAcceptedAt: undefined,
      lastRefused: undefined,
      lastFailed: undefined,
      refusalsInARow: 0,
      failuresInARow: 0,
      inProgress: 0,
      deadInARowEstimate: 0,
      deadInARowLimit: 20,
    });
  });

  it('an accepted delivery resets the counts, and the last refusal and failure stay in the report', async () => {
    const handler = vi.fn().mockImplementationOnce(throwing);
    const { receiver } = aReceiver({ on: { '*': handler } });
    const last = {
      lastRefused: { at: NOW, code: 'signature_mismatch' },
      lastFailed: { at: NOW + 1_000, code: 'handler_failed' },
    };
    await receiver(aForgery());
    await receiver(aForgery());
    vi.setSystemTime(NOW + 1_000);
    await receiver(anEvent());
    const failing = { lastAcceptedAt: undefined, refusalsInARow: 2, failuresInARow: 1 };
    expect(await receiver.health()).toMatchObject({ ...last, ...failing });
    vi.setSystemTime(NOW + 2_000);
    await receiver(anEvent());
    const recovered = { lastAcceptedAt: NOW + 2_000, refusalsInARow: 0, failuresInARow: 0 };
    expect(await receiver.health()).toMatchObject({ ...last, ...recovered });
  });

  it.each<[what: string, options: Partial<ReceiverOptions>]>([
    ['an ignored event', { on: {} }],
    ['a duplicate', {}],
  ])('%s counts as an accepted delivery', async (_, options) => {
    const { receiver } = aReceiver(options);
    await receiver(anEvent());
    vi.setSystemTime(NOW + 1_000);
    await receiver(anEvent());
    expect(await receiver.health()).toMatchObject({ lastAcceptedAt: NOW + 1_000 });
  });

  it('a delivery counts as in progress until its handler has ended, also after the deadline', async () => {
    const work = later();
    const { receiver } = aReceiver({ on: { '*': () => work.promise }, deadlineMs: 1_000 });
    const answer = receiver(anEvent());
    await vi.advanceTimersByTimeAsync(10);
    expect(await receiver.health()).toMatchObject({ inProgress: 1, failuresInARow: 0 });
    await vi.advanceTimersByTimeAsync(1_000);
    await answer;
    const late = { inProgress: 1, failuresInARow: 1, lastFailed: { code: 'handler_timeout' } };
    expect(await receiver.health()).toMatchObject(late);
    await receiver(anEvent()); // 409: neither accepted nor failed
    expect(await receiver.health()).toMatchObject({ ...late, lastAcceptedAt: undefined });
    work.resolve();
    await vi.advanceTimersByTimeAsync(10);
    expect(await receiver.health()).toMatchObject({ inProgress: 0 });
  });

  it.each(['ok', 'failed', 'unknown'] as const)(
    'a delivery behind a middleware counts as in progress until its response has ended: %s',
    async (how) => {
      const { receiver } = aReceiver();
      const { settle } = await begin(receiver);
      expect(await receiver.health()).toMatchObject({ inProgress: 1 });
      await Promise.all([settle(how), settle('ok')]);
      expect(await receiver.health()).toMatchObject({ inProgress: 0 });
    },
  );
});

describe('the estimate of dead deliveries in health()', () => {
  it('a sixth attempt that fails counts as dead until a delivery is accepted', async () => {
    const { receiver } = aReceiver({ on: { 'stt.failed': () => {}, '*': throwing } });
    for (const attempt of ['5', '6', 'six'])
      await receiver(anEvent(`evt_${attempt}`, { 'x-service-attempt': attempt }));
    expect(await receiver.health()).toMatchObject({ deadInARowEstimate: 1 });
    await receiver(aRequest({ event: { id: 'evt_good', type: 'stt.failed' } }));
    expect(await receiver.health()).toMatchObject({ deadInARowEstimate: 0 });
  });

  it.each<[string, WebhookRequest]>([
    ['a forgery', aForgery('6')],
    ['a request without a signature', { ...aRequest(), headers: SIXTH }],
    ['an old delivery', aRequest({ at: NOW - 301_000, headers: SIXTH })],
  ])('a sixth attempt without a valid signature does not count: %s', async (_, request) => {
    const { receiver } = aReceiver();
    for (let sent = 0; sent < 20; sent += 1) await receiver(request);
    expect(await receiver.health()).toMatchObject({ refusalsInARow: 20, failuresInARow: 0, deadInARowEstimate: 0 });
  });

  it('a sixth attempt that fails before its signature is verified does not count', async () => {
    const { receiver } = aReceiver({ secret: throwing });
    await receiver(aForgery('6'));
    const lastFailed = { code: 'secret_unavailable' };
    expect(await receiver.health()).toMatchObject({ failuresInARow: 1, lastFailed, deadInARowEstimate: 0 });
  });

  it.each([
    ['invalid_encoding', Uint8Array.of(0xff)],
    ['invalid_json', '{'],
    ['invalid_envelope', '{}'],
  ])('a sixth attempt that is refused with %s after its signature was verified counts', async (code, body) => {
    const { receiver } = aReceiver();
    await receiver(aRequest({ body, headers: SIXTH }));
    expect(await receiver.health()).toMatchObject({ lastRefused: { code }, deadInARowEstimate: 1 });
  });
});

describe('health() of several receivers on one store', () => {
  const pair = (names = ['clips', 'clips'], store = memoryStore()) => {
    const on = { 'stt.failed': throwing, '*': () => {} };
    return names.map((name) => aReceiver({ dedupe: { store, name }, on }).receiver) as [Receiver, Receiver];
  };
  const aFailure = (id: string, headers = {}) => aRequest({ event: { id, type: 'stt.failed' }, headers });

  it('each receiver has the counts of all once the others have written their next report', async () => {
    const [one, two] = pair();
    await one(anEvent());
    vi.setSystemTime(NOW + 1_000);
    await two(aFailure('evt_2'));
    await two(aForgery());
    await one(aFailure('evt_3'));
    await vi.advanceTimersByTimeAsync(10_000);
    const expected = {
      receivers: 2,
      since: NOW,
      lastAcceptedAt: NOW,
      lastRefused: { at: NOW + 1_000, code: 'signature_mismatch' },
      lastFailed: { at: NOW + 1_000, code: 'handler_failed' },
      refusalsInARow: 1,
      failuresInARow: 2,
      inProgress: 0,
    };
    for (const receiver of [one, two]) expect(await receiver.health()).toMatchObject(expected);
  });

  it.each([0, 1_000])('a delivery accepted by one receiver %d ms later resets the counts of another', async (ms) => {
    const [one, two] = pair();
    await two(aFailure('evt_2'));
    await two(aForgery());
    vi.setSystemTime(NOW + ms);
    await one(anEvent());
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await one.health()).toMatchObject({ refusalsInARow: 0, failuresInARow: 0, deadInARowEstimate: 0 });
  });

  it('since is the start of the first receiver, and the last refusal is the latest of all', async () => {
    const store = memoryStore();
    const [one] = pair(['clips'], store);
    vi.setSystemTime(NOW + 1_000);
    const [two, three] = pair(['clips', 'clips'], store);
    await two({ ...aForgery(), method: 'GET' });
    vi.setSystemTime(NOW + 2_000);
    await three(aForgery());
    await one(aFailure('evt_1'));
    await vi.advanceTimersByTimeAsync(10_000);
    const lastRefused = { at: NOW + 2_000, code: 'signature_mismatch' };
    for (const receiver of [one, two, three]) {
      expect(await receiver.health()).toMatchObject({ receivers: 3, since: NOW, lastRefused, refusalsInARow: 2 });
    }
  });

  it('after an accepted delivery, a forgery does not bring back the dead of before', async () => {
    const [one, two] = pair();
    await two(aFailure('evt_2', SIXTH));
    await two.health(); // writes its report
    expect(await one.health()).toMatchObject({ deadInARowEstimate: 1 });
    vi.setSystemTime(NOW + 1_000);
    await one(anEvent());
    vi.setSystemTime(NOW + 2_000);
    await two(aForgery('6'));
    await two.health();
    expect(await one.health()).toMatchObject({ refusalsInARow: 1, deadInARowEstimate: 0 });
  });

  it('a receiver of another name is not counted', async () => {
    const [one, two] = pair(['clips', 'billing']);
    await two(aForgery());
    await two.health();
    expect(await one.health()).toMatchObject({ receivers: 1, refusalsInARow: 0 });
  });

  it('a receiver that has ended is not counted after ten minutes', async () => {
    const [one, two] = pair();
    await two(aForgery());
    await two.health();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await one.health()).toMatchObject({ receivers: 2 });
    // The one whose report is asked for writes it again; the other has no timer left once it was written.
    await vi.advanceTimersByTimeAsync(620_000);
    expect(await one.health()).toMatchObject({ receivers: 1 });
  });
});

describe('the health report that a receiver saves in its store', () => {
  const withStore = (methods: { [Method in keyof DedupeStore]?: DedupeStore[Method] | undefined }) => {
    const store = aStore({ ...memoryStore(), ...methods } as Partial<DedupeStore>);
    return aReceiver({ dedupe: { store, name: 'clips' } }).receiver;
  };

  it('saveReport is called at most once in ten seconds, with a short text', async () => {
    const saveReport = vi.fn<NonNullable<DedupeStore['saveReport']>>(async () => {});
    const receiver = withStore({ saveReport });
    for (let i = 0; i < 50; i += 1) await receiver(anEvent(`evt_${i}`));
    expect(saveReport).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(10_000);
    await receiver(anEvent('evt_later'));
    await vi.advanceTimersByTimeAsync(10_000);
    const reports = saveReport.mock.calls.map(([report]) => report);
    const { instance, text } = reports[0] ?? expect.fail('no report');
    expect(reports).toMatchObject(Array(2).fill({ name: 'clips', instance: expect.any(String), ttlMs: 600_000 }));
    expect(reports[1]?.instance).toBe(instance);
    expect(text.length).toBeLessThan(2_000);
  });

  it.each<[string, Parameters<typeof withStore>[0]]>([
    ['has no reports', { saveReport: undefined, loadReports: undefined }],
    ['fails to save', { saveReport: () => Promise.reject(new Error('down')) }],
    ['fails to load', { loadReports: () => Promise.reject(new Error('down')) }],
    ['throws', { loadReports: throwing }],
    ['returns no JSON', { loadReports: async () => ['{'] }],
    ['returns nothing', { loadReports: async () => [] }],
  ])('health() has the counts of this receiver alone where the store %s', async (_, methods) => {
    const receiver = withStore(methods);
    await receiver(aForgery());
    expect(await receiver.health()).toMatchObject({ receivers: 1, refusalsInARow: 1, since: NOW });
  });

  it('health() has the reports of a store that saves none', async () => {
    const report = JSON.stringify({
      ...(await aReceiver().receiver.health()),
      refusalsInARow: 7,
      lastRefused: { at: NOW },
    });
    const receiver = withStore({ saveReport: undefined, loadReports: async () => [report] });
    expect(await receiver.health()).toMatchObject({ refusalsInARow: 7 });
  });

  it('after two seconds, health() has the counts of this receiver alone where the store hangs', async () => {
    const found = vi.fn();
    withStore({ loadReports: never }).health().then(found);
    await vi.advanceTimersByTimeAsync(1_999);
    expect(found).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(found).toHaveBeenCalledWith(expect.objectContaining({ receivers: 1 }));
  });
});

describe('the queue in health()', () => {
  const STATS = { depth: 3, oldestMs: 90_500, dead: 2 };
  const withQueue = (stats: unknown, store?: DedupeStore) => {
    const queue = { name: 'clips', put: async () => 'queued' as const, stats: stats as () => Promise<QueueStats> };
    return aReceiver({ queue, on: undefined, ...(store && { dedupe: { store, name: 'clips' } }) }).receiver;
  };

  it('the state of the queue is in the report, with the time at which the engine answered', async () => {
    const health = await withQueue(async () => STATS).health();
    expect(health).toMatchObject({ queue: { at: NOW, ...STATS } });
  });

  it('an age that the engine does not know is undefined', async () => {
    const health = await withQueue(async () => ({ depth: 1, dead: 0 })).health();
    expect(health.queue).toEqual({ at: NOW, depth: 1, oldestMs: undefined, dead: 0 });
  });

  it('queue: false does not ask the engine', async () => {
    const stats = vi.fn(async () => STATS);
    expect(await withQueue(stats).health({ queue: false })).toMatchObject({ queue: undefined });
    expect(stats).not.toHaveBeenCalled();
  });

  it.each<[string, unknown]>([
    ['has no stats()', undefined],
    ['has a stats() that is no function', 'stats'],
    ['throws', throwing],
    ['rejects', () => Promise.reject(new Error('away'))],
    ['resolves to nothing', async () => undefined],
    ['resolves to text', async () => 'depth'],
    ['has a depth below 0', async () => ({ ...STATS, depth: -1 })],
    ['has a depth as text', async () => ({ ...STATS, depth: '3' })],
    ['has a fraction of a dead letter', async () => ({ ...STATS, dead: 0.5 })],
    ['has an age of null', async () => ({ ...STATS, oldestMs: null })],
    ['has an endless age', async () => ({ ...STATS, oldestMs: Number.POSITIVE_INFINITY })],
    [
      'has a property that throws',
      async () => Object.defineProperty({ ...STATS }, 'dead', { get: throwing, enumerable: true }),
    ],
  ])('the queue is left out where it %s', async (_, stats) => {
    expect(await withQueue(stats).health()).toMatchObject({ receivers: 1, queue: undefined });
  });

  it('after two seconds the queue is left out where the engine hangs, and it is asked again after a minute', async () => {
    const stats = vi.fn<() => Promise<QueueStats>>().mockImplementationOnce(never).mockResolvedValue(STATS);
    const receiver = withQueue(stats);
    const both = [receiver.health(), receiver.health()];
    await vi.advanceTimersByTimeAsync(2_000);
    for (const health of await Promise.all(both)) expect(health).toMatchObject({ queue: undefined });
    const third = receiver.health();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await third).toMatchObject({ queue: undefined });
    expect(stats).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await receiver.health()).toMatchObject({ queue: STATS });
  });

  it('a receiver without access shows the newest state that another one has read, for ten minutes', async () => {
    const store = memoryStore();
    const away = () => Promise.reject(new Error('away'));
    const [one, two, three] = [
      withQueue(async () => STATS, store),
      withQueue(async () => ({ ...STATS, depth: 4 }), store),
      withQueue(vi.fn<() => Promise<QueueStats>>(away).mockResolvedValueOnce({ ...STATS, depth: 1 }), store),
    ] as const;
    await three.health();
    await two.health();
    vi.setSystemTime(NOW + 1_000);
    await one.health();
    expect(await three.health()).toMatchObject({ receivers: 3, queue: { at: NOW + 1_000, ...STATS } });
    vi.setSystemTime(NOW + 602_000);
    expect(await three.health()).toMatchObject({ queue: undefined });
  });

  it.each<[string, unknown]>([
    ['of another form', { at: NOW, depth: 'many' }],
    ['of the distant future', { at: NOW + 86_400_000, ...STATS }],
    ['of an hour ago', { at: NOW - 3_600_000, ...STATS }],
    ['that is no object', 'depth'],
  ])('the state of a queue %s in a report is left out', async (_, queue) => {
    const report = JSON.stringify({ ...(await aReceiver().receiver.health()), queue });
    const store = aStore({ ...memoryStore(), saveReport: undefined, loadReports: async () => [report] } as never);
    expect(await aReceiver({ dedupe: { store, name: 'clips' } }).receiver.health()).toMatchObject({ queue: undefined });
  });
});

describe("the receiver's option silentAfterMs", () => {
  it('one notice is given after that time without an accepted delivery, and not repeated', async () => {
    const { receiver, notices, find } = aReceiver({ silentAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(notices()).toEqual([]);
    await vi.advanceTimersByTimeAsync(600_001);
    expect(notices()).toEqual(['silent']);
    expect(find('silent')).toEqual({ kind: 'silent', sinceMs: 60_000 });
    await receiver(anEvent());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(notices()).toEqual(['silent', 'silent']);
  });

  it('an accepted delivery starts the time again, and a refused one does not', async () => {
    const { receiver, notices } = aReceiver({ silentAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(50_000);
    await receiver(anEvent());
    await vi.advanceTimersByTimeAsync(50_000);
    await receiver(aForgery());
    expect(notices()).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(notices()).toEqual(['silent']);
  });

  it('no notice is given without the option', async () => {
    const { notices } = aReceiver();
    await vi.advanceTimersByTimeAsync(365 * 24 * 3_600_000);
    expect(notices()).toEqual([]);
  });

  it('the notice is logged as a warning that names the time and what to check', async () => {
    const warn = vi.fn();
    createReceiver({ secret: SECRET, now, on: {}, logger: { error() {}, warn }, silentAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      "service-webhooks: No delivery was accepted for 60 s. Check the endpoint's state at the service. (silent)",
      { code: 'silent' },
    );
  });
});
