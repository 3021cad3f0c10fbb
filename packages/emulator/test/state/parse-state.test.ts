import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmulator } from 'service-webhooks-emulator';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseState } from '../../src/state/parse-state.js';

type Fields = Record<string, unknown>;
const LISTS = ['accounts', 'keys', 'endpoints', 'events', 'deliveries'] as const;
type Saved = Record<(typeof LISTS)[number], Fields[]> & { format: unknown; savedAt: unknown; totals: unknown };

let text = '';
/** A state with two records of each kind. */
beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  const path = join(folder, 'state.json');
  const emulator = createEmulator({ seed: 'state', fetch: () => new Response(null, { status: 500 }) });
  emulator.accounts.create();
  emulator.keys.create();
  for (let i = 0; i < 2; i += 1) emulator.endpoints.create({ url: 'https://app.example/' });
  for (let i = 0; i < 2; i += 1) await emulator.emit('stt.completed');
  await emulator.save(path);
  text = readFileSync(path, 'utf8');
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
    return (error as Error).message.split('. ')[0];
  }
};
/** Two records each, because a check may look at the first or the last one only. */
const each = (change: (item: Fields) => void, list: (typeof LISTS)[number]) =>
  [0, 1].map((i) => refusal(damaged((state) => change(state[list][i] as Fields))));

describe('parseState of the emulator', () => {
  it('a saved state is accepted unchanged', () => {
    expect(parseState(text)).toEqual(JSON.parse(text));
    expect(parseState(text).format).toBe('service-webhooks emulator 1');
  });

  it.each(LISTS)('a state is refused if a field of its %s is missing or has another type', (list) => {
    const names = Object.keys((JSON.parse(text) as Saved)[list][0] ?? {});
    expect(names.length).toBeGreaterThan(2);
    for (const name of names) {
      const without = each((item) => delete item[name], list);
      const withNull = each((item) => Object.assign(item, { [name]: null }), list);
      expect([...without, ...withNull], name).toEqual(Array(4).fill(`path: the state is damaged in its ${list}`));
    }
  });

  it.each(LISTS)('a state is refused if its %s are no list of records', (list) => {
    for (const value of [undefined, null, {}, 'x', [null], [7], [[]], ['x']]) {
      expect(refusal(damaged((state) => Object.assign(state, { [list]: value })))).toContain(`in its ${list}`);
    }
  });

  it('a state with an array in place of an object, or the reverse, is refused', () => {
    expect(each((account) => Object.assign(account, { settings: [] }), 'accounts')[0]).toContain('accounts');
    expect(each((key) => Object.assign(key, { scopes: {} }), 'keys')[0]).toContain('keys');
  });

  it('a state without accounts is refused; one without keys, endpoints, events and deliveries is accepted', () => {
    const empty = { keys: [], endpoints: [], events: [], deliveries: [] };
    expect(refusal(damaged((state) => Object.assign(state, empty)))).toBe('taken');
    expect(refusal(damaged((state) => Object.assign(state, { accounts: [] })))).toContain('the state is damaged');
  });

  it('a state in which a total or a count of a rate limit is missing or no number is refused', () => {
    const { totals, accounts } = JSON.parse(text);
    for (const name of Object.keys(totals).filter((known) => known !== 'lost')) {
      expect(refusal(damaged((state) => delete (state.totals as Fields)[name])), name).toContain('damaged');
    }
    for (const name of Object.keys(accounts[0].windows)) {
      const without = each((account) => delete (account['windows'] as Fields)[name], 'accounts');
      expect(without, name).toEqual(Array(2).fill('path: the state is damaged'));
    }
    for (const value of [null, undefined, 7]) {
      expect(refusal(damaged((state) => Object.assign(state, { totals: value })))).toContain('damaged');
    }
  });

  it('a state of an earlier version, without a count of lost deliveries, has lost none', () => {
    const earlier = damaged((state) => delete (state.totals as Fields)['lost']);
    expect(parseState(earlier).totals.lost).toBe(0);
  });

  it.each(['savedAt', 'format'])('a state without a valid %s is refused', (name) => {
    for (const value of [undefined, null, 'yesterday', {}]) {
      expect(refusal(damaged((state) => Object.assign(state, { [name]: value })))).toMatch(/^path: /);
    }
  });

  it.each([
    ...['waiting', 'sending', 'delivered', 'dead'].map((state) => ['deliveries', state] as const),
    ...['active', 'paused'].map((state) => ['endpoints', state] as const),
  ])('a state whose %s have the state %s is accepted', (list, state) => {
    expect(each((item) => Object.assign(item, { state }), list)).toEqual(['taken', 'taken']);
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
  ] as const)('a state is refused if one of its %s has %j', (list, changes) => {
    const expected = Array(2).fill('path: the state is damaged');
    expect(each((item) => Object.assign(item, changes), list)).toEqual(expected);
  });

  it.each(['', '{', 'null', '7', '"x"', '[]', '{"format":null}'])(
    'the text %s is refused as no saved state',
    (other) => {
      expect(refusal(other)).toBe('path: the file is not a saved state of an emulator');
    },
  );
});
