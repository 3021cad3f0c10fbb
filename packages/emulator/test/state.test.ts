import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Emulator, EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createWaitingReceiver, HOOK, START, startEmulator, startWithEndpoint } from './emulators.js';

const LIMITS = '/api/v1/account/api-limits';

/** The path for a state in a folder of its own. */
function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'state.json');
}

/** An emulator whose receiver acknowledges, with the state of another emulator, which a test may change. */
async function reload(before: Emulator, options: EmulatorOptions = {}, change: (state: Saved) => unknown = () => {}) {
  const path = newPath();
  await before.save(path);
  const state: Saved = JSON.parse(readFileSync(path, 'utf8'));
  change(state);
  writeFileSync(path, JSON.stringify(state));
  const after = startEmulator(options);
  after.receiver.status = 200;
  await after.emulator.load(path);
  return after;
}
type Saved = Record<'accounts' | 'keys' | 'endpoints' | 'events' | 'deliveries', Record<string, unknown>[]>;

async function emit(emulator: Emulator, ...types: string[]) {
  for (const type of types) await emulator.emit(type);
  await emulator.settled();
}

async function call(emulator: Emulator, key: string, path = LIMITS) {
  const { status, headers } = await emulator.fetch(new Request(`http://api${path}`, { headers: { 'x-api-key': key } }));
  return { status, used: headers.get('x-daily-requests-used') };
}

describe('an emulator that has loaded a saved state', () => {
  it('the time, endpoints, totals and retries go on as saved', async () => {
    const before = startWithEndpoint();
    await emit(before.emulator, 'stt.completed');
    await before.emulator.advance(40_000);
    const { emulator, receiver } = await reload(before.emulator, { startAt: undefined, seed: 'other' });
    expect(emulator.now()).toBe(START + 40_000);
    expect(emulator.endpoints.list()).toEqual(before.emulator.endpoints.list());
    expect(emulator.deliveries.list()).toEqual(before.emulator.deliveries.list());
    expect(emulator.totals).toEqual(before.emulator.totals);
    await emulator.advance(109_999);
    expect(receiver.requests).toHaveLength(0);
    await emulator.advance(1);
    const { headers } = receiver.requests[0] ?? expect.unreachable();
    expect([headers.get('x-service-attempt'), headers.get('x-service-webhook-id')]).toEqual(['3', before.id]);
  });

  it('an attempt that was running when it was saved is repeated under the same number', async () => {
    const before = startWithEndpoint({ fetch: createWaitingReceiver().fetch });
    await before.emulator.emit('stt.completed');
    expect(before.emulator.deliveries.list()).toMatchObject([{ state: 'sending', attempts: 1 }]);
    const { emulator, receiver } = await reload(before.emulator);
    await emulator.settled();
    expect(receiver.requests.map(({ headers }) => headers.get('x-service-attempt'))).toEqual(['1']);
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('pending events are delivered to their endpoints with their Idempotency-Keys', async () => {
    const before = startEmulator();
    for (const name of ['a', 'b']) {
      before.emulator.endpoints.create({ url: `${HOOK}/${name}`, events: ['stt.completed', `stt.${name}`] });
    }
    await emit(before.emulator, 'stt.a', 'stt.completed', 'stt.b');
    const after = await reload(before.emulator, {}, ({ events, deliveries }) =>
      expect([events.length, deliveries.length]).toEqual([3, 4]),
    );
    await after.emulator.runUntilIdle();
    const sent = ({ attempts }: Emulator) =>
      attempts.list().map(({ request }) => [request.url, request.headers['idempotency-key'], request.body]);
    expect(sent(after.emulator)).toEqual(sent(before.emulator));
    expect(after.emulator.attempts.list().map(({ number }) => number)).toEqual([2, 2, 2, 2]);
  });

  it('finished deliveries are not sent again, and dead ones can be redelivered', async () => {
    const before = startWithEndpoint();
    before.receiver.status = 200;
    await emit(before.emulator, 'stt.completed');
    before.receiver.status = 500;
    await emit(before.emulator, 'stt.completed');
    await before.emulator.runUntilIdle();
    const { emulator, receiver } = await reload(before.emulator, { maxPending: 1 });
    await emulator.runUntilIdle();
    expect(receiver.requests).toEqual([]);
    expect(emulator.deliveries.list()).toEqual(before.emulator.deliveries.list());
    emulator.deliveries.redeliver(emulator.deliveries.list()[1]?.id ?? '');
    await emulator.settled();
    expect(emulator.deliveries.list()).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  });

  it('a lost delivery stays lost, and can be redelivered', async () => {
    const before = startWithEndpoint({ faults: { never: 1 } });
    await emit(before.emulator, 'stt.completed');
    const { emulator, receiver } = await reload(before.emulator);
    await emulator.runUntilIdle();
    expect(receiver.requests).toEqual([]);
    expect(emulator.totals.lost).toBe(1);
    const [{ id, state, jobId } = expect.unreachable()] = emulator.deliveries.list();
    expect([state, jobId]).toEqual(['lost', before.emulator.deliveries.list()[0]?.jobId]);
    emulator.deliveries.redeliver(id);
    await emulator.settled();
    expect(emulator.deliveries.get(id)).toMatchObject({ state: 'delivered' });
  });

  it('a paused endpoint stays paused, with the deliveries it holds back', async () => {
    const before = startWithEndpoint();
    before.emulator.endpoints.pause(before.id);
    await emit(before.emulator, 'stt.completed');
    const { emulator } = await reload(before.emulator);
    await emulator.runUntilIdle();
    expect([emulator.endpoints.get(before.id)?.state, emulator.attempts.list()]).toEqual(['paused', []]);
    emulator.endpoints.enable(before.id);
    await emulator.settled();
    expect(emulator.totals.delivered).toBe(1);
  });

  it('everything from before load() is gone, except the first key', async () => {
    const path = newPath();
    await startEmulator({ seed: 'other' }).emulator.save(path);
    const { emulator, receiver } = startWithEndpoint();
    emulator.accounts.create();
    const key = emulator.keys.create();
    await emit(emulator, 'stt.completed');
    await emulator.load(path);
    await emulator.runUntilIdle();
    expect([emulator.endpoints.list(), emulator.deliveries.list(), emulator.attempts.list()]).toEqual([[], [], []]);
    expect([receiver.requests.length, emulator.totals.attempts, emulator.accounts.list().length]).toEqual([1, 0, 1]);
    expect([(await call(emulator, key)).status, (await call(emulator, emulator.apiKey)).status]).toEqual([401, 200]);
  });

  it('the same state can be loaded twice', async () => {
    const before = startWithEndpoint();
    await emit(before.emulator, 'stt.completed');
    await before.emulator.runUntilIdle();
    before.receiver.status = 200;
    await emit(before.emulator, 'stt.completed');
    before.receiver.status = 500;
    await emit(before.emulator, 'stt.completed');
    const { emulator } = await reload(before.emulator, { maxPending: 2, keep: { delivered: 1, dead: 1 } });
    const path = newPath();
    await emulator.save(path);
    await emulator.load(path);
    expect(emulator.deliveries.list()).toEqual(before.emulator.deliveries.list());
    await emulator.emit('stt.completed');
    await expect(emulator.emit('stt.completed')).rejects.toThrow('maxPending: 2 deliveries are pending');
  });

  it('a saved delivery whose event or endpoint is missing is left out', async () => {
    const before = startWithEndpoint();
    for (const id of ['evt_a', 'evt_b', 'evt_c']) await before.emulator.emit('stt.completed', { id });
    await before.emulator.settled();
    const { emulator } = await reload(before.emulator, {}, ({ deliveries }) => {
      Object.assign(deliveries[0] ?? {}, { event: 99 });
      Object.assign(deliveries[1] ?? {}, { endpointId: 'wh_0' });
    });
    await emulator.runUntilIdle();
    expect(emulator.deliveries.list()).toMatchObject([{ eventId: 'evt_c' }]);
  });
});

describe('the API keys of a loaded emulator state', () => {
  it('saved keys are accepted, revoked ones refused, and the counts of requests go on', async () => {
    const before = startEmulator();
    const [kept, revoked] = [before.emulator.keys.create({ scopes: [] }), before.emulator.keys.create()];
    expect(await call(before.emulator, revoked)).toEqual({ status: 200, used: '1' });
    before.emulator.keys.revoke(revoked);
    const { emulator } = await reload(before.emulator);
    expect(await call(emulator, revoked)).toMatchObject({ status: 401 });
    expect(await call(emulator, kept)).toEqual({ status: 200, used: '2' });
    expect(await call(emulator, kept, '/api/v1/usage')).toMatchObject({ status: 403 });
  });

  it('the first key of the emulator keeps the account and role that it has in the state', async () => {
    const before = startEmulator();
    const { id: account } = before.emulator.accounts.create();
    const apiKey = before.emulator.keys.create({ account, role: 'member' });
    const { emulator } = await reload(before.emulator, { apiKey });
    expect(await call(emulator, apiKey, '/api/v1/usage')).toEqual({ status: 403, used: '1' });
    expect(await call(emulator, before.emulator.apiKey)).toEqual({ status: 200, used: '1' });
  });

  it('a request with a key whose account is missing in the state is refused', async () => {
    const before = startEmulator();
    const key = before.emulator.keys.create();
    const { emulator } = await reload(before.emulator, {}, ({ keys }) => {
      for (const record of keys) record['accountId'] = 'acc_0';
    });
    expect((await call(emulator, key)).status).toBe(401);
  });
});

describe('a retry of a loaded emulator state on a real clock', () => {
  const fakeTime = () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now: START });
  };
  /** An emulator with a state that has 30 s left, which it loads that much later. */
  async function startAfter(ms: number, options: EmulatorOptions = {}) {
    fakeTime();
    const before = startWithEndpoint({ clock: 'real', ...options });
    await emit(before.emulator, 'stt.completed');
    const path = newPath();
    await before.emulator.save(path);
    await before.emulator.close();
    vi.setSystemTime(START + ms);
    const after = startEmulator({ clock: 'real', ...options });
    await after.emulator.load(path);
    return { ...after, nextAt: after.emulator.deliveries.list()[0]?.nextAt };
  }

  it.each<[ms: number, options: EmulatorOptions, nextAt: number]>([
    [20_000, {}, START + 30_000],
    [-60_000, {}, START - 30_000],
    [1_000, { speed: 10 }, START + 3_000],
  ])(
    'a state loaded %i ms after it was saved, with the options %j, has its retry at %i',
    async (ms, options, nextAt) => {
      expect((await startAfter(ms, options)).nextAt).toBe(nextAt);
    },
  );

  it('a retry that is due later is sent after the rest of its wait', async () => {
    const { emulator, receiver } = await startAfter(20_000);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(receiver.requests).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    await emulator.settled();
    expect(receiver.requests).toHaveLength(1);
  });

  it.each([30_000, 90_000])('a retry is sent at once if the state was saved %i ms ago', async (ms) => {
    const { emulator, receiver } = await startAfter(ms);
    await emulator.settled();
    expect(receiver.requests).toHaveLength(1);
  });

  it('a retry that was due before the save is due at once after load()', async () => {
    fakeTime();
    const { emulator, id } = startWithEndpoint({ clock: 'real' });
    await emit(emulator, 'stt.completed');
    emulator.endpoints.pause(id);
    await vi.advanceTimersByTimeAsync(90_000);
    await reload(emulator, {}, ({ deliveries }) => expect(deliveries).toMatchObject([{ dueInMs: 0 }]));
  });
});

describe('emulator.save', () => {
  it('the file replaces the old one completely, for its owner alone, and no other file is left', async () => {
    const path = newPath();
    writeFileSync(path, 'before'.repeat(10_000));
    const { emulator } = startEmulator();
    emulator.accounts.create();
    await emulator.save(path);
    expect(JSON.parse(readFileSync(path, 'utf8')).accounts).toHaveLength(2);
    expect([statSync(path).mode & 0o777, readdirSync(dirname(path))]).toEqual([0o600, ['state.json']]);
  });

  it('keys are saved as their hashes', async () => {
    const path = newPath();
    const { emulator } = startEmulator();
    const key = emulator.keys.create();
    await emulator.save(path);
    const text = readFileSync(path, 'utf8');
    expect([text.includes(key), text.includes(emulator.apiKey)]).toEqual([false, false]);
    expect(JSON.parse(text).keys[0].hash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('a path that cannot be opened rejects with the error of the file system', async () => {
    const path = newPath();
    const saved = startEmulator().emulator.save(join(path, 'state.json'));
    await expect(saved).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
    expect(readdirSync(dirname(path))).toEqual([]);
  });

  it('a temporary file that cannot be written is closed and removed', async () => {
    const path = newPath();
    const other = await open(process.execPath);
    await other.close();
    const written = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'writeFile');
    written.mockRejectedValue(new Error('no room'));
    await expect(startEmulator().emulator.save(path)).rejects.toThrow('no room');
    const [file] = written.mock.contexts as FileHandle[];
    expect([file?.fd, readdirSync(dirname(path))]).toEqual([-1, []]);
  });

  it('a temporary file that cannot be renamed is removed', async () => {
    const path = newPath();
    mkdirSync(path);
    await expect(startEmulator().emulator.save(path)).rejects.toMatchObject({ syscall: 'rename' });
    expect(readdirSync(dirname(path))).toEqual(['state.json']);
  });
});

describe('emulator.load of a file that is no saved state', () => {
  it.each([
    ['hello', 'path: the file is not a saved state of an emulator'],
    ['{"format":"x"}', 'path: the file is not a saved state of an emulator'],
    ['{"format":"service-webhooks emulator 1"}', 'path: the state is damaged in its accounts'],
  ])('a file with the text %j is refused and changes nothing in the emulator', async (text, message) => {
    const path = newPath();
    const { emulator, id } = startWithEndpoint();
    writeFileSync(path, text);
    await expect(emulator.load(path)).rejects.toThrow(message);
    expect(emulator.endpoints.list()).toMatchObject([{ id }]);
  });
});
