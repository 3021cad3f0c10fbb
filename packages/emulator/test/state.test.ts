import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator, type Emulator, type EmulatorOptions } from 'service-webhooks-emulator';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const START = Date.UTC(2026, 6, 11, 9);
let folder: string;
let path: string;
const open: Emulator[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'state.json');
});
afterEach(async () => {
  for (const emulator of open.splice(0)) await emulator.close();
  rmSync(folder, { recursive: true });
});

function create(answer: () => Response, options: EmulatorOptions = {}): Emulator {
  const emulator = createEmulator({ startAt: START, seed: 'state', fetch: answer, ...options });
  open.push(emulator);
  return emulator;
}
const failing = () => new Response(null, { status: 500 });

describe('emulator.save and emulator.load', () => {
  it('loading a state does not end the iterators of attempts', async () => {
    const emulator = create(failing);
    emulator.endpoints.create({ url: 'https://app.example/' });
    await emulator.save(path);
    const attempts = emulator.attempts[Symbol.asyncIterator]();
    await emulator.emit('stt.completed');
    expect((await attempts.next()).value?.type).toBe('stt.completed');
    await emulator.load(path);
    const next = attempts.next();
    await emulator.emit('stt.failed');
    expect((await next).value?.type).toBe('stt.failed');
  });

  it('a loaded state continues: endpoints, secrets, keys and retries', async () => {
    const before = create(failing);
    const endpoint = before.endpoints.create({ url: 'https://app.example/', events: ['stt.completed'] });
    const key = before.keys.create({ scopes: ['webhooks:read'] });
    await before.emit('stt.completed', { id: 'evt_a' });
    await before.advance(40_000);
    await before.save(path);

    const seen: Request[] = [];
    const after = createEmulator({
      fetch: (request) => {
        seen.push(request);
        return new Response();
      },
    });
    open.push(after);
    await after.load(path);
    expect(after.now()).toBe(START + 40_000);
    expect(after.endpoints.list()).toEqual(before.endpoints.list());
    expect(after.deliveries.list()).toEqual(before.deliveries.list());
    expect(after.totals).toEqual(before.totals);
    await after.advance(109_999);
    expect(seen).toHaveLength(0);
    await after.advance(1);
    await after.settled();
    expect(seen.map(({ headers }) => headers.get('x-service-attempt'))).toEqual(['3']);
    expect(seen[0]?.headers.get('x-service-webhook-id')).toBe(endpoint.id);
    const headers = { 'x-api-key': key };
    expect((await after.fetch(new Request('http://api/api/v1/account/webhooks', { headers }))).status).toBe(200);
  });

  it('a paused endpoint stays paused, with the deliveries it holds back', async () => {
    const before = create(failing);
    const { id } = before.endpoints.create({ url: 'https://app.example/' });
    before.endpoints.pause(id);
    await before.emit('stt.completed');
    await before.save(path);
    const after = create(() => new Response());
    await after.load(path);
    await after.runUntilIdle();
    expect([after.endpoints.get(id)?.state, after.attempts.list()]).toEqual(['paused', []]);
    after.endpoints.enable(id);
    await after.settled();
    expect(after.totals.delivered).toBe(1);
  });

  it('a loaded state replaces everything', async () => {
    const before = create(failing);
    await before.save(path);
    const after = create(failing, { seed: 'other' });
    after.endpoints.create({ url: 'https://app.example/' });
    await after.emit('stt.completed');
    await after.settled();
    await after.load(path);
    expect([after.endpoints.list(), after.deliveries.list(), after.attempts.list()]).toEqual([[], [], []]);
    const headers = { 'x-api-key': after.apiKey };
    expect((await after.fetch(new Request('http://api/api/v1/account/api-limits', { headers }))).status).toBe(200);
  });

  it('only the owner can read the file, and no other file is left', async () => {
    const emulator = create(failing);
    await emulator.save(path);
    await emulator.save(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['state.json']);
  });

  it('a state that cannot be written leaves the old file unchanged', async () => {
    const emulator = create(failing);
    await expect(emulator.save(join(folder, 'nowhere', 'state.json'))).rejects.toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each([
    ['no JSON', 'hello'],
    ['null', 'null'],
    ['of something else', '{"format":"x"}'],
    ['without its lists', '{"format":"service-webhooks emulator 1"}'],
  ])('a file that is %s is refused and changes nothing', async (_, text) => {
    const emulator = create(failing);
    const { id } = emulator.endpoints.create({ url: 'https://app.example/' });
    writeFileSync(path, text);
    await expect(emulator.load(path)).rejects.toThrow(/^path/);
    expect(emulator.endpoints.list().map((endpoint) => endpoint.id)).toEqual([id]);
  });

  it.each<[what: string, damage: (state: Saved) => void]>([
    ['without an account', (state) => state.accounts.splice(0)],
    ['with a key that has no scopes', (state) => delete state.keys[0]?.['scopes']],
    ['with an endpoint in no state', (state) => Object.assign(state.endpoints[0] ?? {}, { state: 'gone' })],
    ['with an endpoint that has no URL', (state) => Object.assign(state.endpoints[0] ?? {}, { url: 'gone' })],
    ['with an endpoint that has no secret', (state) => Object.assign(state.endpoints[0] ?? {}, { secret: '' })],
    ['with a delivery in no state', (state) => Object.assign(state.deliveries[0] ?? {}, { state: 'gone' })],
    ['with a delivery that is null', (state) => state.deliveries.push(null as never)],
    ['with an event that has no body', (state) => delete state.events[0]?.['body']],
    ['with a window that is none', (state) => Object.assign(state.accounts[0] ?? {}, { windows: { inMinute: 'x' } })],
    ['with a total that is missing', (state) => delete state.totals['requests']],
    ['of no time', (state) => Object.assign(state, { savedAt: null })],
  ])('a damaged state, %s, is refused and changes nothing', async (_, damage) => {
    const emulator = create(failing);
    const { id } = emulator.endpoints.create({ url: 'https://app.example/' });
    await emulator.emit('stt.completed');
    await emulator.save(path);
    const state: Saved = JSON.parse(readFileSync(path, 'utf8'));
    damage(state);
    writeFileSync(path, JSON.stringify(state));
    await expect(emulator.load(path)).rejects.toThrow(/^path: the state is damaged/);
    expect(emulator.endpoints.list().map((endpoint) => endpoint.id)).toEqual([id]);
  });
});

type Saved = Record<'accounts' | 'keys' | 'endpoints' | 'events' | 'deliveries', Record<string, unknown>[]> & {
  totals: Record<string, unknown>;
};
