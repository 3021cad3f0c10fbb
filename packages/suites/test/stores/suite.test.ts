import { type DedupeStore, memoryStore } from 'service-webhooks';
import { type StoreSuiteOptions, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { describe, expect, it, vi } from 'vitest';
import { getThenSetStore } from './broken-store.js';
import { PLANTED_BUGS, PLANTED_VALUES, type Plant } from './planted-bugs.js';

/** What the cases have required so far, and what of it did not hold. */
const { required, broken } = vi.hoisted(() => {
  vi.resetModules(); // another file in this process may have loaded the suite, and then it is not mocked
  return { required: new Set<string>(), broken: new Set<string>() };
});

vi.mock('../../src/define-suite.js', async (original) => {
  const actual: DefineSuite = await original<DefineSuite>();
  const must: typeof actual.must = (holds, what, found) => {
    (holds ? required : broken).add(kindOf(what));
    actual.must(holds, what, found);
  };
  return { ...actual, must };
});

type DefineSuite = typeof import('../../src/define-suite.js');
type Made = StoreUnderTest & { clock: { now: number } };

describe('storeSuite on the memory store', () => {
  for (const { name, skip, run } of suiteOf(memory)) it.skipIf(skip)(name, run);
});

const AWAY = 'a claim rejects when the server cannot be reached';

describe('a store whose server is away', () => {
  it.each([
    ['answered', memoryStore().claim],
    ['rejected with no Error', () => Promise.reject('away')],
    ['hangs', () => new Promise<never>(() => {})],
  ])('the suite fails a claim that %s', async (found, claim) => {
    const unreachable = () => ({ ...memoryStore(), claim });
    const failure = await failureOf(AWAY, memoryStore(), { unreachable });
    expect(failure).toMatch(`a claim without a server rejects with an Error, got ${found} (R1: `);
  });

  it('the suite passes a claim that rejects with an Error, and closes the store', async () => {
    const close = vi.fn(async () => {});
    const claim = () => Promise.reject(new Error('away'));
    for (const more of [{}, { close }]) {
      const unreachable = () => ({ ...memoryStore(), claim, ...more });
      const failure = await failureOf(AWAY, memoryStore(), { unreachable });
      expect(failure).toBeUndefined();
    }
    expect(close).toHaveBeenCalledOnce();
  });

  it.each([
    [9_000, undefined],
    [11_000, expect.stringContaining('got Error: not connected (R2: ')],
  ])('the suite waits up to ten seconds for a new connection, which takes %d ms', async (ms, expected) => {
    const store = memoryStore();
    let backAt = 0;
    const connected = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
      return async (...args: A) =>
        performance.now() < backAt ? Promise.reject(new Error('not connected')) : call(...args);
    };
    const cut = { ...store, claim: connected(store.claim), complete: connected(store.complete) };
    const disconnect = () => {
      backAt = performance.now() + ms;
    };
    expect(
      await failureOf('a store whose connections were cut recovers and still knows its claims', cut, { disconnect }),
    ).toEqual(expected);
  });
});

describe('a store whose calls take longer than the shortest time of a case', () => {
  it.each([
    'a row is kept for as long as the lease that extend gave it',
    'a record without a dueAt is absent after its keepMs, and an open one stays',
  ])('the suite passes it: %s', async (name) => {
    const { extend, jobs, ...store } = memoryStore() as DedupeStore & Required<Pick<DedupeStore, 'jobs'>>;
    const late = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
      return async (...args: A): Promise<R> => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return call(...args);
      };
    };
    const slow = { ...store, extend: late(extend), jobs: { ...jobs, write: late(jobs.write) } };
    expect(await failureOf(name, slow)).toBeUndefined();
  });
});

describe('storeSuite on a faulty store', () => {
  it('a store that looks first and writes afterwards fails in every race and nowhere else', async () => {
    const cases = suiteOf(getThenSetStore, { without: ['inspect', 'purgeExpired', 'saveReport', 'jobs'], rounds: 10 });
    expect(Object.keys(await failuresOf(cases))).toEqual([
      'exactly one of 32 simultaneous claims acquires a new key',
      'exactly one of 32 simultaneous claims acquires a key whose lease is over, with a higher fence',
      'exactly one of 32 simultaneous claims acquires a released key',
      'either the late complete or the takeover wins, never both',
      'a complete is never undone by a release or a claim at the same time',
      'either the late extend or the takeover wins, never both',
      'claims that lost against a completed winner are answered completed',
      'exactly one of 32 simultaneous claims acquires an expired row in any state',
    ]);
  });

  for (const [bug, { plant, caughtBy }] of Object.entries(PLANTED_BUGS)) {
    it(`a store that ${bug} is caught`, async () => {
      const cases = suiteOf((now) => planted(plant, now));
      for (const caught of [caughtBy].flat()) {
        const found = cases.find(({ name }) => name === caught);
        await expect(found?.run()).rejects.toThrow(/ \(R\d+: .+\)$/);
      }
    });
  }

  it.each(PLANTED_VALUES)('the suite catches each variant of a store that $bug', async ({ plants, caughtBy }) => {
    for (const plant of plants) {
      const found = suiteOf((now) => planted(plant, now)).find(({ name }) => name === caughtBy);
      await expect(found?.run(), `${plants.indexOf(plant)}`).rejects.toThrow(/ \(R\d+: .+\)$/);
    }
  });

  const names = suiteOf(memory).flatMap(({ name }) => (name === AWAY ? [] : [name]));

  it.each(names)('each requirement has a planted bug that breaks it: %s', async (name) => {
    required.clear();
    expect(await failureOf(name, memoryStore())).toBeUndefined();
    broken.clear();
    for (const { plant } of Object.values(PLANTED_BUGS)) {
      await failureOf(
        name,
        planted(plant, () => performance.now()),
      );
    }
    expect([...required].filter((kind) => kind === '' || !broken.has(kind))).toEqual([]);
  });

  // Each requirement has a planted bug, but a requirement that is removed would not be missed there.
  it('no requirement is missing', async () => {
    const kinds = new Set<string>();
    for (const name of names) {
      required.clear();
      await failureOf(name, memoryStore());
      for (const kind of required) kinds.add(`${name}: ${kind}`);
    }
    expect(kinds.size).toBe(287);
  });

  it('clients that do not share their rows are caught where claims meet', async () => {
    const cases = storeSuite({ make: () => ({ store: memoryStore(), store2: memoryStore() }), rounds: 1 });
    const failures = await failuresOf(cases.filter(({ name }) => /^exactly one of 32 | lost against /.test(name)));
    expect(Object.entries(failures).map(([name, failure]) => `${name}: ${failure.split(',')[0]}`)).toEqual([
      'exactly one of 32 simultaneous claims acquires a new key: exactly one acquires',
      'exactly one of 32 simultaneous claims acquires a key whose lease is over, with a higher fence: exactly one acquires',
      'exactly one of 32 simultaneous claims acquires a released key: exactly one acquires',
      'claims that lost against a completed winner are answered completed: one winner',
      'exactly one of 32 simultaneous claims acquires an expired row in any state: exactly one acquires',
    ]);
  });

  it.each([
    ['Date.now()', () => Date.now()],
    ['new Date()', () => Date.parse(new Date().toISOString())],
  ])('a shared store that goes by the clock of the receiver is caught: %s', async (_, now) => {
    const cases = storeSuite({ make: () => ({ store: memoryStore({ now }) }), rounds: 1 });
    const failures = await failuresOf(cases.filter(({ group }) => group === 'clocks'));
    expect(Object.keys(failures)).toEqual([
      'a receiver whose clock is ahead does not acquire a key early',
      'a receiver whose clock is behind acquires a key whose lease is over',
    ]);
  });
});

function suiteOf(make: (now: () => number) => DedupeStore, options: Partial<StoreSuiteOptions<Made>> = {}) {
  return storeSuite<Made>({
    make() {
      const clock = { now: Date.UTC(2026, 0) };
      return { clock, store: make(() => clock.now) };
    },
    advance({ clock }, ms) {
      clock.now += ms;
    },
    evict: ({ store }, key) => store.forget?.(key),
    ...options,
  });
}

function memory(now: () => number): DedupeStore {
  return memoryStore({ now });
}

function planted(plant: Plant, now: () => number): DedupeStore {
  const store = memoryStore({ now }) as Parameters<Plant>[0];
  return { ...store, ...plant(store, now) };
}

/** What a case says of a store that goes by a timer which is faked, and that can be cut off and die. */
async function failureOf(
  name: string,
  store: DedupeStore,
  options: Partial<StoreSuiteOptions> = {},
): Promise<string | undefined> {
  vi.useFakeTimers();
  vi.advanceTimersByTime(60_000); // no clock begins with a test
  const cases = storeSuite({
    make: () => ({ store }),
    evict: (_, key) => store.forget?.(key),
    restart: () => store,
    disconnect: () => {},
    rounds: 2,
    ...options,
  });
  const { skip, run } = cases.find((one) => one.name === name) ?? {};
  let isOver = false;
  const failure = run?.().then(
    () => skip,
    (error: Error) => error.message,
  );
  failure?.finally(() => {
    isOver = true;
  });
  while (!isOver) await vi.advanceTimersByTimeAsync(1_000);
  vi.useRealTimers();
  return failure;
}

/** What is required, without the values of one run. */
function kindOf(what: string): string {
  return what
    .replace(/suite:.*(?= is )/, 'key')
    .replace(/\{.*\}/, '{}')
    .replace(/".*"/, 'text')
    .replace(/-?(\b[\d.]+|NaN|Infinity|undefined)\b/g, '0');
}

/** The message of each case that fails, by its name. */
async function failuresOf(cases: ReturnType<typeof storeSuite>): Promise<Record<string, string>> {
  const failures: Record<string, string> = {};
  for (const { name, skip, run } of cases) {
    if (skip !== undefined) continue;
    await run().catch((error: Error) => {
      failures[name] = error.message;
    });
  }
  return failures;
}
