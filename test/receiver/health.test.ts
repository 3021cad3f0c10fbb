import { createReceiver, type DedupeStore, type Health, memoryStore, type ReceiverOptions } from 'service-webhooks';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aReceiver, aRequest, aStore, NOW, now, SECRET } from '../support/deliveries.js';

const failing = () => {
  throw new Error('no');
};
const anEvent = (id: string, headers: Record<string, string> = {}) => aRequest({ event: { id }, headers });
const aForgery = (attempt = '1') => aRequest({ secret: 'a guess', headers: { 'x-service-attempt': attempt } });

beforeEach(() => {
  vi.useFakeTimers({ now: NOW });
});

describe('the health of a receiver', () => {
  it('a new receiver reports since when it is there, and nothing else', async () => {
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

  it('refusals and failures are counted until a delivery is accepted, and the last of each is kept', async () => {
    const fails = vi.fn(failing);
    const { receiver } = aReceiver({ on: { '*': fails } });
    await receiver(aForgery());
    await receiver(aForgery());
    vi.setSystemTime(NOW + 1_000);
    await receiver(anEvent('evt_1'));
    expect(await receiver.health()).toMatchObject({
      lastAcceptedAt: undefined,
      lastRefused: { at: NOW, code: 'signature_mismatch' },
      lastFailed: { at: NOW + 1_000, code: 'handler_failed' },
      refusalsInARow: 2,
      failuresInARow: 1,
    });
    vi.setSystemTime(NOW + 2_000);
    fails.mockImplementation(() => undefined as never);
    await receiver(anEvent('evt_1'));
    expect(await receiver.health()).toMatchObject({
      lastAcceptedAt: NOW + 2_000,
      lastRefused: { at: NOW, code: 'signature_mismatch' },
      lastFailed: { at: NOW + 1_000, code: 'handler_failed' },
      refusalsInARow: 0,
      failuresInARow: 0,
    });
  });

  it.each<[what: string, options: Partial<ReceiverOptions>]>([
    ['an ignored event', { on: {} }],
    ['a duplicate', {}],
  ])('%s counts as accepted', async (_, options) => {
    const { receiver } = aReceiver(options);
    await receiver(anEvent('evt_1'));
    vi.setSystemTime(NOW + 1_000);
    await receiver(anEvent('evt_1'));
    expect(await receiver.health()).toMatchObject({ lastAcceptedAt: NOW + 1_000 });
  });

  it('a delivery is in progress from its claim until its handler has ended, also past the deadline', async () => {
    let end = () => {};
    const handler = () =>
      new Promise<void>((resolve) => {
        end = resolve;
      });
    const { receiver } = aReceiver({ on: { '*': handler }, deadlineMs: 1_000 });
    const answer = receiver(anEvent('evt_1'));
    await vi.advanceTimersByTimeAsync(10);
    expect(await receiver.health()).toMatchObject({ inProgress: 1, failuresInARow: 0 });
    await vi.advanceTimersByTimeAsync(1_000);
    await answer;
    expect(await receiver.health()).toMatchObject({
      inProgress: 1,
      failuresInARow: 1,
      lastFailed: { code: 'handler_timeout' },
    });
    await receiver(anEvent('evt_1')); // 409: neither accepted nor failed
    expect(await receiver.health()).toMatchObject({ lastAcceptedAt: undefined, failuresInARow: 1 });
    end();
    await vi.advanceTimersByTimeAsync(10);
    expect(await receiver.health()).toMatchObject({ inProgress: 0 });
  });

  it.each(['ok', 'failed', 'unknown'] as const)(
    'a delivery behind a middleware is in progress until its response has ended: %s',
    async (how) => {
      const { receiver } = aReceiver();
      const begun = await receiver.begin(anEvent('evt_1'));
      expect(await receiver.health()).toMatchObject({ inProgress: 1 });
      if ('settle' in begun) await Promise.all([begun.settle(how), begun.settle('ok')]);
      expect(await receiver.health()).toMatchObject({ inProgress: 0 });
    },
  );

  it('sixth attempts that are not accepted estimate the dead deliveries, until one is accepted', async () => {
    const { receiver } = aReceiver({ on: { 'stt.failed': () => {}, '*': failing } });
    for (const attempt of ['5', '6', 'six']) {
      await receiver(anEvent(`evt_${attempt}`, { 'x-service-attempt': attempt }));
    }
    expect(await receiver.health()).toMatchObject({ deadInARowEstimate: 1 });
    await receiver(aRequest({ event: { id: 'evt_good', type: 'stt.failed' } }));
    expect(await receiver.health()).toMatchObject({ deadInARowEstimate: 0 });
  });

  it.each([
    ['a forgery', (headers: Record<string, string>) => aRequest({ secret: 'a guess', headers })],
    ['a request without a signature', (headers: Record<string, string>) => ({ ...aRequest(), headers })],
    ['an old delivery', (headers: Record<string, string>) => aRequest({ at: NOW - 301_000, headers })],
  ])('a sixth attempt is not counted as dead where its signature is not valid: %s', async (_, requestWith) => {
    const { receiver } = aReceiver();
    for (let sent = 0; sent < 20; sent += 1) await receiver(requestWith({ 'x-service-attempt': '6' }));
    expect(await receiver.health()).toMatchObject({ refusalsInARow: 20, failuresInARow: 0, deadInARowEstimate: 0 });
  });

  it('a sixth attempt that fails before its signature is verified is not counted as dead', async () => {
    const { receiver } = aReceiver({ secret: failing });
    await receiver(aForgery('6'));
    expect(await receiver.health()).toMatchObject({
      failuresInARow: 1,
      lastFailed: { code: 'secret_unavailable' },
      deadInARowEstimate: 0,
    });
  });

  it.each([
    ['invalid_encoding', Uint8Array.of(0xff)],
    ['invalid_json', '{'],
    ['invalid_envelope', '{}'],
  ])('a signed sixth attempt whose body is no event is counted as dead: %s', async (code, body) => {
    const { receiver } = aReceiver();
    await receiver(aRequest({ body, headers: { 'x-service-attempt': '6' } }));
    expect(await receiver.health()).toMatchObject({ lastRefused: { code }, deadInARowEstimate: 1 });
  });
});

describe('the health of several receivers on one store', () => {
  const pair = (store: DedupeStore, names = ['clips', 'clips']) =>
    names.map((name) => aReceiver({ dedupe: { store, name }, on: { 'stt.failed': failing, '*': () => {} } }).receiver);
  const aFailure = (id: string) => aRequest({ event: { id, type: 'stt.failed' } });

  it('each receiver reports them all, once they have written their reports', async () => {
    const [one, two] = pair(memoryStore()) as [ReturnType<typeof createReceiver>, ReturnType<typeof createReceiver>];
    await one(anEvent('evt_1'));
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
    expect(await one.health()).toMatchObject(expected);
    expect(await two.health()).toMatchObject(expected);
  });

  it('what one receiver accepts ends the row of another', async () => {
    const [one, two] = pair(memoryStore()) as [ReturnType<typeof createReceiver>, ReturnType<typeof createReceiver>];
    await two(aFailure('evt_2'));
    await two(aForgery());
    vi.setSystemTime(NOW + 1_000);
    await one(anEvent('evt_1'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await one.health()).toMatchObject({ refusalsInARow: 0, failuresInARow: 0, deadInARowEstimate: 0 });
  });

  it('dead deliveries before the last accepted one are not counted again after a forgery', async () => {
    const [one, two] = pair(memoryStore()) as [ReturnType<typeof createReceiver>, ReturnType<typeof createReceiver>];
    await two(aRequest({ event: { id: 'evt_2', type: 'stt.failed' }, headers: { 'x-service-attempt': '6' } }));
    await two.health(); // writes its report
    expect(await one.health()).toMatchObject({ deadInARowEstimate: 1 });
    vi.setSystemTime(NOW + 1_000);
    await one(anEvent('evt_1'));
    vi.setSystemTime(NOW + 2_000);
    await two(aForgery('6'));
    await two.health();
    expect(await one.health()).toMatchObject({ refusalsInARow: 1, deadInARowEstimate: 0 });
  });

  it('endpoints of other names are not reported', async () => {
    const [one, two] = pair(memoryStore(), ['clips', 'billing']) as [
      ReturnType<typeof createReceiver>,
      ReturnType<typeof createReceiver>,
    ];
    await two(aForgery());
    await two.health();
    expect(await one.health()).toMatchObject({ receivers: 1, refusalsInARow: 0 });
  });

  it('a receiver that has ended is left out after ten minutes', async () => {
    const store = memoryStore();
    const [one, two] = pair(store) as [ReturnType<typeof createReceiver>, ReturnType<typeof createReceiver>];
    await two(aForgery());
    await two.health();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await one.health()).toMatchObject({ receivers: 2 });
    // The one whose report is asked for writes it again; the other has no timer left once it was written.
    await vi.advanceTimersByTimeAsync(620_000);
    expect(await one.health()).toMatchObject({ receivers: 1 });
  });

  it('a report is written at most once in ten seconds, within the limit of the contract', async () => {
    const saveReport = vi.fn<NonNullable<DedupeStore['saveReport']>>(async () => {});
    const { receiver } = aReceiver({ dedupe: { store: { ...memoryStore(), saveReport }, name: 'clips' } });
    for (let i = 0; i < 50; i += 1) await receiver(anEvent(`evt_${i}`));
    expect(saveReport).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(saveReport).toHaveBeenCalledOnce();
    const [[report] = []] = saveReport.mock.calls;
    expect(report).toMatchObject({ name: 'clips', instance: expect.any(String), ttlMs: 600_000 });
    expect(report?.text.length).toBeLessThan(2_000);
    await receiver(anEvent('evt_later'));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(saveReport).toHaveBeenCalledTimes(2);
    expect(saveReport.mock.calls[1]?.[0].instance).toBe(report?.instance);
  });

  it.each<[string, { [Method in keyof DedupeStore]?: DedupeStore[Method] | undefined }]>([
    ['has no reports', { saveReport: undefined, loadReports: undefined }],
    ['fails to save', { saveReport: () => Promise.reject(new Error('down')) }],
    ['fails to load', { loadReports: () => Promise.reject(new Error('down')) }],
    ['throws', { loadReports: failing }],
    ['returns what is no JSON', { loadReports: async () => ['{'] }],
    ['returns nothing', { loadReports: async () => [] }],
  ])('a receiver reports itself where the store %s', async (_, methods) => {
    const store = aStore({ ...memoryStore(), ...methods } as Partial<DedupeStore>);
    const { receiver } = aReceiver({ dedupe: { store, name: 'clips' } });
    await receiver(aForgery());
    expect(await receiver.health()).toMatchObject({ receivers: 1, refusalsInARow: 1, since: NOW });
  });

  it('a receiver waits two seconds for a store that hangs, and then reports itself', async () => {
    const store = { ...memoryStore(), loadReports: () => new Promise<never>(() => {}) };
    const { receiver } = aReceiver({ dedupe: { store, name: 'clips' } });
    let health: Health | undefined;
    receiver.health().then((found) => {
      health = found;
    });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(health).toBeUndefined();
    await vi.advanceTimersByTimeAsync(1);
    expect(health).toMatchObject({ receivers: 1 });
  });
});

describe('the notice of silence', () => {
  it('is called once when nothing was accepted for silentAfterMs, and again after the next silence', async () => {
    const { receiver, notices, find } = aReceiver({ silentAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(notices()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(notices()).toEqual(['silent']);
    expect(find('silent')).toEqual({ kind: 'silent', sinceMs: 60_000 });
    await receiver(anEvent('evt_1'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(notices()).toEqual(['silent', 'silent']);
  });

  it('an accepted delivery puts it off, a refused one does not', async () => {
    const { receiver, notices } = aReceiver({ silentAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(50_000);
    await receiver(anEvent('evt_1'));
    await vi.advanceTimersByTimeAsync(50_000);
    await receiver(aForgery());
    expect(notices()).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(notices()).toEqual(['silent']);
  });

  it('a receiver without silentAfterMs never reports silence', async () => {
    const { notices } = aReceiver();
    await vi.advanceTimersByTimeAsync(365 * 24 * 3_600_000);
    expect(notices()).toEqual([]);
  });

  it('the log says it in words', async () => {
    const warn = vi.fn();
    createReceiver({ secret: SECRET, now, on: {}, logger: { error() {}, warn }, silentAfterMs: 60_000 });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      "service-webhooks: No delivery was accepted for 60 s. Check the endpoint's state at the service.",
      { code: 'silent' },
    );
  });
});
