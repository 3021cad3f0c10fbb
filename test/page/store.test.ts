import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  applyChange,
  applySnapshot,
  current,
  now,
  rowOf,
  say,
  select,
  setConnection,
  setFilter,
  subscribe,
} from '../../src/page/front/store.js';
import type { DeliveryRow, Overview } from '../../src/page/page-source.js';
import { aRow } from './memory-source.js';

const initial = current();
const OVERVIEW: Overview = {
  now: Date.UTC(2026, 6, 11, 12),
  speed: 0,
  endpoints: [{ id: 'wh_1', url: 'http://127.0.0.1:3000/Hooks', state: 'active', deadInARow: 0, pausesAfter: 20 }],
  failing: 0,
};
const begin = (...deliveries: DeliveryRow[]) =>
  applySnapshot({ title: 'Deliveries', offers: ['send'], overview: OVERVIEW, deliveries });
const change = (deliveries: DeliveryRow[], removed: string[] = [], overview = OVERVIEW) =>
  applyChange({ overview, deliveries, removed });
const visible = () => current().visible.map(({ id }) => id);

/** How often someone who listens was called back. */
function heard(doing: () => void): number {
  const listener = vi.fn();
  const stop = subscribe(listener);
  doing();
  stop();
  return listener.mock.calls.length;
}

beforeEach(() => {
  begin();
  setFilter({ query: '', only: 'all' });
  select(undefined);
});

it('the page begins with nothing in it', () => {
  expect(initial).toEqual({
    ...{ title: '', offers: [], connection: 'opening', total: 0, visible: [], query: '', only: 'all' },
    ...{ overviewAt: expect.any(Number), selected: undefined, message: undefined },
    overview: { now: expect.any(Number), speed: 1, endpoints: [], failing: 0 },
  });
});

describe('the deliveries', () => {
  it('are those of the snapshot, the newest first', () => {
    begin(aRow(1), aRow(2));
    expect(current()).toMatchObject({ title: 'Deliveries', offers: ['send'], connection: 'open', overview: OVERVIEW });
    expect([visible(), current().total]).toEqual([['dlv_2', 'dlv_1'], 2]);
    begin(aRow(3));
    expect([visible(), current().total]).toEqual([['dlv_3'], 1]);
  });

  it('change where they stand, come at the top, and go', () => {
    begin(aRow(1), aRow(2));
    change([aRow(1, { state: 'dead' }), aRow(3)]);
    expect(visible()).toEqual(['dlv_3', 'dlv_2', 'dlv_1']);
    expect(rowOf('dlv_1')?.state).toBe('dead');
    change([], ['dlv_1', 'dlv_3']);
    expect([visible(), current().total]).toEqual([['dlv_2'], 1]);
    expect([rowOf('dlv_1'), rowOf(undefined)]).toEqual([undefined, undefined]);
  });

  it('are the same list where only the overview changes', () => {
    begin(aRow(1));
    const before = current().visible;
    change([], [], { ...OVERVIEW, failing: 2 });
    expect(current().overview.failing).toBe(2);
    expect(current().visible).toBe(before);
    change([aRow(1)], ['dlv_2']);
    expect(current().visible).not.toBe(before);
  });
});

describe('the filter', () => {
  it.each([
    ['an id of a delivery', 'DLV_1'],
    ['an id of an event', 'evt_1'],
    ['a type', 'dubbing'],
    ['an id of an endpoint', 'wh_2'],
    ['a status', '503'],
    ['what went wrong', 'refused'],
    ['a state', 'dead'],
    ['a word for a test', 'test'],
    ['the address of an endpoint', '/other'],
    ['several of these, however they are spaced', '  wh_2   503 '],
  ])('finds by %s', (_, query) => {
    const endpoints = [...OVERVIEW.endpoints, { ...OVERVIEW.endpoints[0], id: 'wh_2', url: 'http://a.example/Other' }];
    begin(
      aRow(1, {
        ...{ type: 'dubbing.failed', endpointId: 'wh_2', state: 'dead', test: true },
        ...{ status: 503, problem: 'ECONNREFUSED' },
      }),
      aRow(2),
    );
    change([], [], { ...OVERVIEW, endpoints: endpoints as Overview['endpoints'] });
    setFilter({ query });
    expect([visible(), current().total]).toEqual([['dlv_1'], 2]);
  });

  it('has every word of it in a delivery, and takes what is not there for nothing', () => {
    begin(aRow(1), aRow(2, { status: undefined, endpointId: 'wh_gone' }));
    for (const query of ['dlv_1 dlv_2', 'undefined', '!', 'evt_1dlv_1']) {
      setFilter({ query });
      expect(visible(), query).toEqual([]);
    }
    setFilter({ query: 'hooks' });
    expect(visible()).toEqual(['dlv_1']);
  });

  it('shows one state, beside the words', () => {
    begin(aRow(1), aRow(2, { state: 'dead' }), aRow(3, { state: 'dead' }));
    setFilter({ only: 'dead' });
    expect(visible()).toEqual(['dlv_3', 'dlv_2']);
    setFilter({ query: 'dlv_2' });
    expect(visible()).toEqual(['dlv_2']);
    change([aRow(3), aRow(2, { state: 'delivered' })]);
    expect(visible()).toEqual([]);
  });

  it('finds a delivery by the address of an endpoint that comes with it, or that has moved', () => {
    const [endpoint] = OVERVIEW.endpoints;
    const at = (url: string) => ({ ...OVERVIEW, endpoints: [{ ...endpoint, id: 'wh_2', url }] }) as Overview;
    setFilter({ query: 'new.example' });
    change([aRow(1, { endpointId: 'wh_2' })], [], at('https://new.example/'));
    expect(visible()).toEqual(['dlv_1']);
    change([aRow(2)], [], at('https://moved.example/'));
    expect(visible()).toEqual([]);
    setFilter({ query: 'moved.example' });
    expect(visible()).toEqual(['dlv_1']);
  });
});

describe('whoever listens', () => {
  it('is called back once for each change, until it stops', () => {
    const doing = [
      () => begin(aRow(1)),
      () => change([aRow(2)]),
      () => setFilter({ query: 'a' }),
      () => select('dlv_1'),
      () => setConnection('lost'),
      () => say('done'),
    ];
    expect(doing.map(heard)).toEqual([1, 1, 1, 1, 1, 1]);
    const listener = vi.fn();
    subscribe(listener)();
    say('done');
    expect(listener).not.toHaveBeenCalled();
  });

  it('is not called back for what is so already', () => {
    setConnection('lost');
    select('dlv_1');
    expect(heard(() => setConnection('lost'))).toBe(0);
    expect(heard(() => select('dlv_1'))).toBe(0);
    expect(current()).toMatchObject({ connection: 'lost', selected: 'dlv_1' });
  });

  it('hears what was done, and whether it failed', () => {
    say('It is paused.');
    expect(current().message).toEqual({ text: 'It is paused.', failed: false });
    say('It cannot be.', true);
    expect(current().message).toEqual({ text: 'It cannot be.', failed: true });
  });
});

it('the time stands where it only passes by hand, and else goes on from when it was told', () => {
  vi.useFakeTimers();
  begin();
  vi.advanceTimersByTime(5_000);
  expect(now()).toBe(OVERVIEW.now);
  change([], [], { ...OVERVIEW, speed: 60 });
  expect(now()).toBe(OVERVIEW.now);
  vi.advanceTimersByTime(5_000);
  expect(now()).toBe(OVERVIEW.now + 5_000);
});
