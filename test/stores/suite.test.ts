import { setImmediate } from 'node:timers/promises';
import { type DedupeStore, memoryStore } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { type StoreUnderTest, storeSuite } from '../../src/testing/index.js';
import { getThenSetStore } from './broken-store.js';
import { PLANTED_BUGS, type Plant } from './planted-bugs.js';

type Made = StoreUnderTest & { clock: { now: number } };

describe('storeSuite on the memory store', () => {
  for (const { name, skip, run } of suiteOf(memory)) it.skipIf(skip)(name, run);
});

describe('storeSuite in real time, on a store whose calls take time', () => {
  const cases = storeSuite({ make: () => ({ store: slow(memoryStore()) }), rounds: 5 });
  for (const { name, skip, run } of cases) it.skipIf(skip)(name, run, 30_000);
});

describe('storeSuite', () => {
  it('fails the store that looks first and writes afterwards, in every race and nowhere else', async () => {
    const cases = suiteOf(getThenSetStore, ['inspect', 'purgeExpired']);
    expect(Object.keys(await failuresOf(cases))).toEqual([
      'gives a new key to exactly one of 32 simultaneous claims',
      'gives an expired lease to exactly one of 32 simultaneous claims, with the next fence',
      'gives a released key to exactly one of 32 simultaneous claims',
      'lets either the late complete or the takeover win, never both',
      'never undoes a complete, whoever releases and claims beside it',
      'lets either the late extend or the takeover win, never both',
      'tells those who lost against a completed winner that it is completed',
      'gives an expired row to exactly one of 32 simultaneous claims, whatever its state was',
    ]);
  });

  for (const [bug, { plant, caughtBy }] of Object.entries(PLANTED_BUGS)) {
    it(`catches a store that ${bug}`, async () => {
      const failures = await failuresOf(suiteOf((now) => planted(plant, now)));
      expect(Object.keys(failures)).toContain(caughtBy);
      expect(failures[caughtBy]).toMatch(/\(R\d+: .+\)$/);
    });
  }

  it.each([
    ['Date.now()', () => Date.now()],
    ['new Date()', () => Date.parse(new Date().toISOString())],
  ])('catches a shared store that goes by the clock of the receiver, by %s', async (_, now) => {
    const cases = storeSuite({ make: () => ({ store: memoryStore({ now }) }), rounds: 1 });
    const failures = await failuresOf(cases.filter(({ group }) => group === 'clocks'));
    expect(Object.keys(failures)).toEqual([
      'does not hand a key over early to a receiver whose clock is ahead',
      'hands a key over although the clock of the receiver is behind',
    ]);
  });
});

function suiteOf(
  make: (now: () => number) => DedupeStore,
  without: readonly ('inspect' | 'forget' | 'purgeExpired')[] = [],
) {
  return storeSuite<Made>({
    make() {
      const clock = { now: 0 };
      return { clock, store: make(() => clock.now) };
    },
    advance({ clock }, ms) {
      clock.now += ms;
    },
    evict: ({ store }, key) => store.forget?.(key),
    without,
  });
}

function memory(now: () => number): DedupeStore {
  return memoryStore({ now });
}

function planted(plant: Plant, now: () => number): DedupeStore {
  const store = memoryStore({ now }) as Parameters<Plant>[0];
  return { ...store, ...plant(store, now) };
}

/** Every call waits for the event loop before and after, so that calls overlap as they do over a network. */
function slow(store: DedupeStore): DedupeStore {
  const delayed = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      await setImmediate();
      const result = await call(...args);
      await setImmediate();
      return result;
    };
  };
  return {
    ...store,
    claim: delayed(store.claim),
    extend: delayed(store.extend),
    complete: delayed(store.complete),
    release: delayed(store.release),
  };
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
