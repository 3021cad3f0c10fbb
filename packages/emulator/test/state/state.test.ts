import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeStateFile } from '../../src/state/state.js';

const START = Date.UTC(2026, 6, 11, 9);
const URL = 'https://app.example/';

let folder: string;
let path: string;
const open: Emulator[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'state.json');
});
afterEach(async () => {
  vi.useRealTimers();
  for (const emulator of open.splice(0)) await emulator.close();
  rmSync(folder, { recursive: true });
});

/** An emulator and the requests that its receiver got. */
function create(answer: () => Response | Promise<Response>, options: EmulatorOptions = {}) {
  const sent: { key: string | null; attempt: string | null; url: string; body: string }[] = [];
  const emulator = createEmulator({
    startAt: START,
    seed: 'state',
    async fetch(request) {
      const { headers, url } = request;
      const [key, attempt] = [headers.get('idempotency-key'), headers.get('x-service-attempt')];
      sent.push({ key, attempt, url, body: await request.text() });
      return answer();
    },
    ...options,
  });
  open.push(emulator);
  return { emulator, sent };
}
const failing = () => new Response(null, { status: 500 });
const acknowledging = () => new Response();
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('restoreState', () => {
  it('an attempt that was running is repeated under the same number', async () => {
    const before = create(() => new Promise(() => {}));
    before.emulator.endpoints.create({ url: URL });
    await before.emulator.emit('stt.completed');
    await turn();
    expect(before.emulator.deliveries.list()).toMatchObject([{ state: 'sending', attempts: 1 }]);
    await before.emulator.save(path);
    const after = create(acknowledging);
    await after.emulator.load(path);
    await after.emulator.settled();
    expect(after.sent).toEqual(before.sent);
    expect(after.sent.map(({ attempt }) => attempt)).toEqual(['1']);
    expect(after.emulator.deliveries.list()).toMatchObject([{ state: 'delivered', attempts: 1 }]);
  });

  it('pending events continue to their endpoints, with their keys', async () => {
    const before = create(failing);
    for (const name of ['a', 'b']) {
      before.emulator.endpoints.create({ url: URL + name, events: ['stt.completed', `stt.${name}`] });
    }
    for (const type of ['stt.a', 'stt.completed', 'stt.b']) await before.emulator.emit(type);
    await before.emulator.settled();
    await before.emulator.save(path);
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    expect([saved.events.length, saved.deliveries.length]).toEqual([3, 4]);
    const after = create(acknowledging);
    await after.emulator.load(path);
    await after.emulator.runUntilIdle();
    expect(after.sent).toEqual(before.sent.map((request) => ({ ...request, attempt: '2' })));
  });

  it('finished deliveries are not sent again, and dead ones can be redelivered', async () => {
    let status = 200;
    const before = create(() => new Response(null, { status }));
    before.emulator.endpoints.create({ url: URL });
    await before.emulator.emit('stt.completed');
    await before.emulator.runUntilIdle();
    status = 500;
    await before.emulator.emit('stt.completed');
    await before.emulator.runUntilIdle();
    await before.emulator.save(path);
    const after = create(acknowledging, { maxPending: 1 });
    await after.emulator.load(path);
    await after.emulator.runUntilIdle();
    expect(after.sent).toEqual([]);
    expect(after.emulator.deliveries.list()).toEqual(before.emulator.deliveries.list());
    const [, dead] = after.emulator.deliveries.list();
    after.emulator.deliveries.redeliver(dead?.id ?? '');
    await after.emulator.settled();
    expect(after.emulator.deliveries.list().map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  it('deliveries from before the load have no effect', async () => {
    await create(failing).emulator.save(path);
    const { emulator, sent } = create(failing, { seed: 'other' });
    emulator.endpoints.create({ url: URL });
    const key = emulator.keys.create();
    await emulator.emit('stt.completed');
    await emulator.settled();
    await emulator.load(path);
    await emulator.runUntilIdle();
    expect([sent.length, emulator.totals.attempts, emulator.accounts.list().length]).toEqual([1, 0, 1]);
    const headers = { 'x-api-key': key };
    expect((await emulator.fetch(new Request('http://api/api/v1/usage', { headers }))).status).toBe(401);
  });

  it('a delivery without its event or endpoint is left out', async () => {
    const before = create(failing);
    before.emulator.endpoints.create({ url: URL });
    for (const id of ['evt_a', 'evt_b', 'evt_c']) await before.emulator.emit('stt.completed', { id });
    await before.emulator.settled();
    await before.emulator.save(path);
    const saved = JSON.parse(readFileSync(path, 'utf8'));
    saved.deliveries[0].event = 99;
    saved.deliveries[1].endpointId = 'wh_0';
    writeFileSync(path, JSON.stringify(saved));
    const after = create(acknowledging);
    await after.emulator.load(path);
    await after.emulator.runUntilIdle();
    expect(after.emulator.deliveries.list().map(({ eventId }) => eventId)).toEqual(['evt_c']);
  });

  it('the usage of accounts and revoked keys are restored', async () => {
    const before = create(failing);
    const key = before.emulator.keys.create();
    const call = async ({ emulator }: typeof before, key: string) => {
      const headers = { 'x-api-key': key };
      const request = new Request('http://api/api/v1/account/api-limits', { headers });
      return (await emulator.fetch(request)).headers.get('x-daily-requests-used');
    };
    expect(await call(before, key)).toBe('1');
    before.emulator.keys.revoke(key);
    await before.emulator.save(path);
    const after = create(failing);
    await after.emulator.load(path);
    expect([await call(after, key), await call(after, after.emulator.apiKey)]).toEqual(['0', '2']);
  });
});

describe('a restored wait on a real clock', () => {
  const fakeTime = (now: number) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'], now });
  };
  /** When the next attempt is due after a state with 30 s left was loaded that much later. */
  async function dueAfter(ms: number, options: EmulatorOptions = {}) {
    fakeTime(START);
    const before = create(failing, { clock: 'real', ...options });
    before.emulator.endpoints.create({ url: URL });
    await before.emulator.emit('stt.completed');
    await before.emulator.settled();
    await before.emulator.save(path);
    await before.emulator.close();
    vi.setSystemTime(START + ms);
    const after = create(acknowledging, { clock: 'real', ...options });
    await after.emulator.load(path);
    return { after, nextAt: after.emulator.deliveries.list()[0]?.nextAt };
  }

  it('the wait is shorter by the time since the state was saved', async () => {
    const { after, nextAt } = await dueAfter(20_000);
    expect(nextAt).toBe(START + 30_000);
    await vi.advanceTimersByTimeAsync(9_999);
    expect(after.sent).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(1);
    await after.emulator.settled();
    expect(after.sent).toHaveLength(1);
  });

  it.each([30_000, 90_000])('the wait is over if the state was saved %i ms ago', async (ms) => {
    const { after } = await dueAfter(ms);
    await after.emulator.settled();
    expect(after.sent).toHaveLength(1);
  });

  it('the wait does not get longer when the clock of the machine is set back', async () => {
    expect((await dueAfter(-60_000)).nextAt).toBe(START - 30_000);
  });

  it('the wait follows the speed of the clock', async () => {
    expect((await dueAfter(1_000, { speed: 10 })).nextAt).toBe(START + 3_000);
  });

  it('a wait that was over is not repeated', async () => {
    fakeTime(START);
    const before = create(failing, { clock: 'real' });
    const { id } = before.emulator.endpoints.create({ url: URL });
    await before.emulator.emit('stt.completed');
    await before.emulator.settled();
    before.emulator.endpoints.pause(id);
    await vi.advanceTimersByTimeAsync(90_000);
    await before.emulator.save(path);
    expect(JSON.parse(readFileSync(path, 'utf8')).deliveries[0].dueInMs).toBe(0);
  });
});

describe('writeStateFile', () => {
  it('the file replaces the old one completely, for its owner alone', async () => {
    writeFileSync(path, 'before, and longer');
    await writeStateFile(path, 'caf\u00e9');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual([
      'caf\u00e9',
      0o600,
      ['state.json'],
    ]);
  });

  it('a path that cannot be opened is reported', async () => {
    await expect(writeStateFile(join(folder, 'nowhere', 'state.json'), 'x')).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'open',
    });
  });

  it('a draft that cannot be written is closed and removed', async () => {
    const other = await openFile(process.execPath);
    await other.close();
    const written = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'writeFile');
    written.mockRejectedValue(new Error('no room'));
    await expect(writeStateFile(path, 'x')).rejects.toThrow('no room');
    const [file] = written.mock.contexts as FileHandle[];
    expect([file?.fd, readdirSync(folder)]).toEqual([-1, []]);
  });

  it('a draft that cannot be renamed is removed', async () => {
    mkdirSync(path);
    await expect(writeStateFile(path, 'x')).rejects.toMatchObject({ syscall: 'rename' });
    expect(readdirSync(folder)).toEqual(['state.json']);
  });
});
