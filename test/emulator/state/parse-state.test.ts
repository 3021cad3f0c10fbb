import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator } from 'service-webhooks/emulator';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseState } from '../../../src/emulator/state/parse-state.js';

type Fields = Record<string, unknown>;
const LISTS = ['accounts', 'keys', 'endpoints', 'events', 'deliveries'] as const;
type Saved = Record<(typeof LISTS)[number], Fields[]> & { format: unknown; savedAt: unknown; totals: unknown };

let text = '';
/** A state with two of everything. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  const emulator = createEmulator({ seed: 'state', fetch: () => new Response(null, { status: 500 }) });
  emulator.accounts.create();
  emulator.keys.create();
  for (let i = 0; i < 2; i += 1) emulator.endpoints.create({ url: 'https://app.example/' });
  await emulator.emit('stt.completed');
  await emulator.emit('stt.completed');
  await emulator.settled();
  await emulator.save(join(folder, 'state.json'));
  text = readFileSync(join(folder, 'state.json'), 'utf8');
  await emulator.close();
  rmSync(folder, { recursive: true });
});

function damaged(damage: (state: Saved) => void): string {
  const state: Saved = JSON.parse(text);
  damage(state);
  return JSON.stringify(state);
}
const refusal = (changed: string) => {
  try {
    parseState(changed);
    return 'taken';
  } catch (error) {
    return (error as Error).message;
  }
};
/** Of each two, since what is looked at may be the first or the last. */
const each = (change: (item: Fields) => void, list: (typeof LISTS)[number]) =>
  [0, 1].map((i) => refusal(damaged((state) => change(state[list][i] as Fields))));

describe('a state', () => {
  it('is taken as it was saved', () => {
    expect(parseState(text)).toEqual(JSON.parse(text));
    expect(parseState(text).format).toBe('service-webhooks emulator 1');
  });

  it.each(LISTS)('of which a field of its %s is missing, or of another kind, is refused', (list) => {
    const names = Object.keys((JSON.parse(text) as Saved)[list][0] ?? {});
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) {
      const expected = Array(2).fill(`invalid_option: path: the state is damaged, in its ${list}`);
      expect(
        each((item) => delete item[name], list),
        name,
      ).toEqual(expected);
      expect(
        each((item) => Object.assign(item, { [name]: null }), list),
        name,
      ).toEqual(expected);
    }
  });

  it.each(LISTS)('whose %s are no list, or hold what is no record, is refused', (list) => {
    for (const value of [undefined, null, {}, 'x', [null], [7], [[]], ['x']]) {
      expect(refusal(damaged((state) => Object.assign(state, { [list]: value })))).toContain(`in its ${list}`);
    }
  });

  it('with an array where there should be an object, or the reverse, is refused', () => {
    expect(refusal(damaged(({ accounts }) => Object.assign(accounts[0] ?? {}, { settings: [] })))).toContain(
      'accounts',
    );
    expect(refusal(damaged(({ keys }) => Object.assign(keys[0] ?? {}, { scopes: {} })))).toContain('keys');
  });

  it('may have no keys, endpoints, events and deliveries, but has an account', () => {
    const empty = { keys: [], endpoints: [], events: [], deliveries: [] };
    expect(refusal(damaged((state) => Object.assign(state, empty)))).toBe('taken');
    expect(refusal(damaged((state) => Object.assign(state, { accounts: [] })))).toContain('the state is damaged');
  });

  it('needs all of its totals and windows, as numbers', () => {
    const { totals, accounts } = JSON.parse(text);
    for (const name of Object.keys(totals)) {
      expect(refusal(damaged((state) => delete (state.totals as Fields)[name])), name).toContain('damaged');
    }
    for (const name of Object.keys(accounts[0].windows)) {
      const without = each((account) => delete (account['windows'] as Fields)[name], 'accounts');
      expect(without, name).toEqual(Array(2).fill('invalid_option: path: the state is damaged'));
    }
    for (const value of [null, undefined, 7]) {
      expect(refusal(damaged((state) => Object.assign(state, { totals: value })))).toContain('damaged');
    }
  });

  it.each(['savedAt', 'format'])('needs its %s', (name) => {
    for (const value of [undefined, null, 'yesterday', {}]) {
      expect(refusal(damaged((state) => Object.assign(state, { [name]: value })))).toMatch(/^invalid_option: path: /);
    }
  });

  it.each(['waiting', 'sending', 'delivered', 'dead'])('may have a delivery that is %s', (name) => {
    expect(each((delivery) => Object.assign(delivery, { state: name }), 'deliveries')).toEqual(['taken', 'taken']);
  });

  it.each(['active', 'paused'])('may have an endpoint that is %s', (name) => {
    expect(each((endpoint) => Object.assign(endpoint, { state: name }), 'endpoints')).toEqual(['taken', 'taken']);
  });

  it.each([
    ['deliveries', { state: '' }],
    ['deliveries', { state: 'paused' }],
    ['endpoints', { state: 'waiting' }],
    ['endpoints', { url: 'app.example' }],
    ['endpoints', { secret: '' }],
    ['endpoints', { secret: ' a' }],
    ['endpoints', { secret: 'a ' }],
    ['endpoints', { secret: 'a b' }],
  ] as const)('may have none of its %s with %j', (list, changes) => {
    const expected = Array(2).fill('invalid_option: path: the state is damaged');
    expect(each((item) => Object.assign(item, changes), list)).toEqual(expected);
  });

  it.each(['', '{', 'null', '7', '"x"', '[]', '{"format":null}'])('is none of an emulator: %s', (other) => {
    expect(refusal(other)).toBe('invalid_option: path: it is no state of an emulator');
  });
});
