import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_FILTER } from '../../../src/page/front/state.js';
import {
  applyChange,
  applySnapshot,
  compare,
  current,
  goTo,
  isNew,
  now,
  passTime,
  rowOf,
  say,
  select,
  setConnection,
  setFilter,
  setFound,
  step,
  subscribe,
} from '../../../src/page/front/store.js';
import type { DeliveryRow, Overview } from '../../../src/page/page-source.js';
import { aRow } from '../memory-source.js';

const initial = current();
const OVERVIEW: Overview = {
  now: Date.UTC(2026, 6, 11, 12),
  speed: 0,
  endpoints: [{ id: 'wh_1', url: 'http://127.0.0.1:3000/Hooks', state: 'active', deadInARow: 0, pausesAfter: 20 }],
  failing: 0,
};
const START = { text: 'Start with:', command: 'npx service-webhooks-cli dev 3000' };
const begin = (...deliveries: DeliveryRow[]) =>
  applySnapshot({ title: 'Deliveries', start: START, offers: ['send'], overview: OVERVIEW, deliveries });
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
  setFilter(NO_FILTER);
  select(undefined);
});

it('the store of the page is empty at first', () => {
  expect(initial).toEqual({
    ...{ title: '', offers: [], connection: 'opening', total: 0, dead: 0, visible: [], start: undefined },
    ...{ arrivals: 0, revision: 0, found: undefined, compared: undefined },
    ...{ query: '', only: 'all', type: '', since: 0 },
    ...{ overviewAt: expect.any(Number), selected: undefined, attempt: undefined, message: undefined },
    overview: { now: expect.any(Number), speed: 1, endpoints: [], failing: 0 },
  });
});

describe('the rows of the list', () => {
  it('a snapshot replaces all rows, the newest first', () => {
    begin(aRow(1), aRow(2));
    expect(current()).toMatchObject({ title: 'Deliveries', offers: ['send'], connection: 'open', overview: OVERVIEW });
    expect([visible(), current().total]).toEqual([['dlv_2', 'dlv_1'], 2]);
    begin(aRow(3));
    expect([visible(), current().total]).toEqual([['dlv_3'], 1]);
  });

  it('a change updates rows in place, adds at the top, and removes', () => {
    begin(aRow(1), aRow(2));
    change([aRow(1, { state: 'dead' }), aRow(3)]);
    expect(visible()).toEqual(['dlv_3', 'dlv_2', 'dlv_1']);
    expect(rowOf('dlv_1')?.state).toBe('dead');
    change([], ['dlv_1', 'dlv_3']);
    expect([visible(), current().total]).toEqual([['dlv_2'], 1]);
    expect([rowOf('dlv_1'), rowOf(undefined)]).toEqual([undefined, undefined]);
  });

  it('a change of the overview alone keeps the same list', () => {
    begin(aRow(1));
    const before = current().visible;
    change([], [], { ...OVERVIEW, failing: 2 });
    expect(current().overview.failing).toBe(2);
    expect(current().visible).toBe(before);
    change([aRow(1)], ['dlv_2']);
    expect(current().visible).not.toBe(before);
  });
});

describe('the words of the filter', () => {
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
    ['the address that it was sent to', '9321/hook'],
    ['the verdict on its signature', 'signature_mismatch'],
    ['the cause of a refusal', 'parsed and written'],
    ['several of these, however they are spaced', '  wh_2   503 '],
  ])('%s finds a delivery', (_, query) => {
    const endpoints = [...OVERVIEW.endpoints, { ...OVERVIEW.endpoints[0], id: 'wh_2', url: 'http://a.example/Other' }];
    begin(
      aRow(1, {
        ...{ type: 'dubbing.failed', endpointId: 'wh_2', state: 'dead', test: true },
        ...{ status: 503, problem: 'ECONNREFUSED', url: 'http://127.0.0.1:9321/Hook' },
        ...{ verdict: 'signature_mismatch', cause: 'body_reserialised The body was parsed and written again.' },
      }),
      aRow(2),
    );
    change([], [], { ...OVERVIEW, endpoints: endpoints as Overview['endpoints'] });
    setFilter({ query });
    expect([visible(), current().total]).toEqual([['dlv_1'], 2]);
  });

  it('every word must match, and a missing value matches nothing', () => {
    begin(aRow(1), aRow(2, { status: undefined, endpointId: 'wh_gone' }));
    for (const query of ['dlv_1 dlv_2', 'undefined', '!', 'evt_1dlv_1']) {
      setFilter({ query });
      expect(visible(), query).toEqual([]);
    }
    setFilter({ query: 'hooks' });
    expect(visible()).toEqual(['dlv_1']);
  });

  it('a state filters in addition to the words', () => {
    begin(aRow(1), aRow(2, { state: 'dead' }), aRow(3, { state: 'dead' }));
    setFilter({ only: 'dead' });
    expect(visible()).toEqual(['dlv_3', 'dlv_2']);
    setFilter({ query: 'dlv_2' });
    expect(visible()).toEqual(['dlv_2']);
    change([aRow(3), aRow(2, { state: 'delivered' })]);
    expect(visible()).toEqual([]);
  });

  it('an endpoint that comes later or moves is found by its new address', () => {
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

describe('the filter by type and time', () => {
  it('a type shows its deliveries alone', () => {
    begin(aRow(1), aRow(2, { type: 'dubbing.failed' }));
    setFilter({ type: 'dubbing.failed' });
    expect(visible()).toEqual(['dlv_2']);
    change([aRow(3, { type: 'dubbing.failed' }), aRow(4)]);
    expect(visible()).toEqual(['dlv_3', 'dlv_2']);
  });

  it('a time span shows the deliveries within it, by the clock of the source', () => {
    const at = (minutes: number) => ({ createdAt: OVERVIEW.now - minutes * 60_000 });
    begin(aRow(1, at(61)), aRow(2, at(60)), aRow(3, at(4)));
    setFilter({ since: 3_600_000 });
    expect(visible()).toEqual(['dlv_3', 'dlv_2']);
    change([], [], { ...OVERVIEW, now: OVERVIEW.now + 60_000 });
    expect(visible()).toEqual(['dlv_3']);
  });

  it('listeners are called when a delivery leaves the time span as the clock runs', () => {
    vi.useFakeTimers();
    const running = { ...OVERVIEW, speed: 1 };
    begin(aRow(1, { createdAt: OVERVIEW.now - 295_000 }));
    change([], [], running);
    expect(heard(passTime)).toBe(0);
    setFilter({ since: 300_000 });
    vi.advanceTimersByTime(4_000);
    expect(heard(passTime)).toBe(0);
    expect(visible()).toEqual(['dlv_1']);
    vi.advanceTimersByTime(2_000);
    expect(heard(passTime)).toBe(1);
    expect(visible()).toEqual([]);
  });
});

describe('the deliveries that the server has found', () => {
  it('those of the query are shown, with those whose row has the words', () => {
    begin(aRow(1), aRow(2, { type: 'dubbing.failed' }), aRow(3));
    setFilter({ query: ' dubbing ' });
    setFound('dubbing', ['dlv_3', 'dlv_gone']);
    expect(visible()).toEqual(['dlv_3', 'dlv_2']);
    setFilter({ only: 'dead' });
    expect(visible()).toEqual([]);
  });

  it('those of an earlier query are dropped', () => {
    begin(aRow(1), aRow(2));
    setFilter({ query: 'noise' });
    expect(heard(() => setFound('nois', ['dlv_1']))).toBe(0);
    expect(visible()).toEqual([]);
    setFound('noise', ['dlv_1']);
    setFilter({ query: 'noise!' });
    expect(visible()).toEqual([]);
  });
});

it('the deliveries that failed at least once include those that were delivered later', () => {
  begin(aRow(1, { hasFailed: true }), aRow(2), aRow(3, { state: 'dead', hasFailed: true }));
  setFilter({ only: 'has-failed' });
  expect(visible()).toEqual(['dlv_3', 'dlv_1']);
});

it('a delivery that comes is new for two seconds, and counts as an arrival', () => {
  vi.useFakeTimers({ now: Date.now() + 60_000 }); // what came before is not new any more
  begin(aRow(1));
  const { arrivals } = current();
  change([aRow(1, { state: 'dead' }), aRow(2)]);
  expect([isNew('dlv_1'), isNew('dlv_2'), current().arrivals - arrivals]).toEqual([false, true, 1]);
  vi.advanceTimersByTime(2_000);
  expect(isNew('dlv_2')).toBe(false);
});

it('another attempt is compared until one is selected', () => {
  select('dlv_1', '7');
  compare('7', '6');
  expect(current()).toMatchObject({ attempt: '7', compared: '6' });
  select('dlv_1', '7');
  expect(current()).toMatchObject({ attempt: '7', compared: undefined });
});

it('the dead deliveries are counted, whatever the filter shows', () => {
  begin(aRow(1, { state: 'dead' }), aRow(2), aRow(3, { state: 'dead' }));
  setFilter({ only: 'delivered' });
  expect(current().dead).toBe(2);
});

it('the word duplicate finds the deliveries that were sent twice', () => {
  begin(aRow(1, { duplicates: 1 }), aRow(2));
  setFilter({ query: 'duplicate' });
  expect(visible()).toEqual(['dlv_1']);
});

describe('the selection in the list', () => {
  it('a step moves the selection, as far as the list goes', () => {
    begin(aRow(1), aRow(2), aRow(3));
    const walked = [1, 1, -1, 5, -9].map((by) => {
      step(by);
      return current().selected;
    });
    expect(walked).toEqual(['dlv_3', 'dlv_2', 'dlv_3', 'dlv_1', 'dlv_3']);
    setFilter({ query: 'nothing like it' });
    step(1);
    expect(current().selected).toBeUndefined();
  });

  it('the newest attempt is shown until another one is named', () => {
    select('dlv_1', '7');
    expect(current()).toMatchObject({ selected: 'dlv_1', attempt: '7' });
    select('dlv_1');
    expect(current().attempt).toBeUndefined();
    goTo({ ...NO_FILTER, only: 'dead', selected: 'dlv_2', attempt: '8', compared: undefined });
    expect(current()).toMatchObject({ selected: 'dlv_2', attempt: '8', only: 'dead' });
  });
});

describe('the listeners of the store', () => {
  it('each change calls a listener once, until it stops', () => {
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

  it('a value that is already set calls no listener', () => {
    setConnection('lost');
    select('dlv_1');
    expect(heard(() => setConnection('lost'))).toBe(0);
    expect(heard(() => select('dlv_1'))).toBe(0);
    expect(current()).toMatchObject({ connection: 'lost', selected: 'dlv_1' });
  });

  it('a message has the text of an action, and whether it failed', () => {
    say('It is paused.');
    expect(current().message).toEqual({ text: 'It is paused.', failed: false });
    say('It cannot be.', true);
    expect(current().message).toEqual({ text: 'It cannot be.', failed: true });
  });
});

it('the clock of the source stands at speed 0, and runs otherwise', () => {
  vi.useFakeTimers();
  begin();
  vi.advanceTimersByTime(5_000);
  expect(now()).toBe(OVERVIEW.now);
  change([], [], { ...OVERVIEW, speed: 60 });
  expect(now()).toBe(OVERVIEW.now);
  vi.advanceTimersByTime(5_000);
  expect(now()).toBe(OVERVIEW.now + 5_000);
});
