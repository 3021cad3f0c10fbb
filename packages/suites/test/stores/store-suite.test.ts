import { type DedupeStore, memoryStore } from 'service-webhooks';
import { type StoreSuiteOptions, type StoreUnderTest, storeSuite } from 'service-webhooks-suites';
import { describe, expect, it, vi } from 'vitest';

const FIRST = 'the first claim acquires a new key with attempt 1';
const right: StoreSuiteOptions = { make: () => ({ store: memoryStore() }) };

describe('storeSuite', () => {
  it('each case has a name of its own and at least one rule', () => {
    const cases = storeSuite(right);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    for (const { name, rules } of cases) expect(`${name} ${rules}`).toMatch(/^[a-z].+ R\d+(,R\d+)*$/);
    expect(new Set(cases.map(({ group }) => group))).toEqual(
      new Set(['states', 'races', 'leases', 'fences', 'retention', 'clocks', 'outages', 'operator', 'reports', 'jobs']),
    );
  });

  it('a case that needs a missing hook or method has the reason in skip', () => {
    const skips = (options: Partial<StoreSuiteOptions>) =>
      storeSuite({ ...right, ...options }).flatMap(({ skip }) => skip ?? []);
    const hooks = ['needs evict', 'needs restart', 'needs disconnect', 'needs unreachable'];
    expect(new Set(skips({}))).toEqual(new Set(hooks));
    const { store } = right.make() as StoreUnderTest;
    const given = { evict: () => {}, restart: () => store, disconnect: () => {}, unreachable: () => store };
    expect(skips(given)).toEqual([]);
    expect(new Set(skips({ ...given, without: ['inspect', 'forget', 'purgeExpired', 'saveReport', 'jobs'] }))).toEqual(
      new Set(['has no inspect', 'has no forget', 'has no purgeExpired', 'has no saveReport', 'has no jobs']),
    );
    expect(skips({ ...given, without: ['inspect'] })).toEqual(['has no inspect', 'has no inspect']);
  });

  it('an error names the rule that is broken', async () => {
    await expect(run(right)).resolves.toBeUndefined();
    const store = memoryStore();
    const busy: DedupeStore = {
      ...store,
      claim: async () => ({ status: 'in_progress', fence: 1, retryAfterMs: 1, seen: { fingerprint: '' } }),
    };
    await expect(run({ make: () => ({ store: busy }) })).rejects.toThrow(
      /a free key must be acquired, got .+ \(R1: .+\)$/,
    );
  });

  it('a store without jobs that does not say so fails with what to pass', async () => {
    const { jobs: _, ...store } = memoryStore();
    const name = 'init may be called again and by several clients at once, and keeps the records';
    await expect(run({ make: () => ({ store }) }, name)).rejects.toThrow("pass without: ['jobs']");
  });

  it('a case about clocks says why it cannot run', () => {
    const skips = (options: Partial<StoreSuiteOptions>) =>
      storeSuite({ ...right, ...options })
        .filter(({ group }) => group === 'clocks')
        .map(({ skip }) => skip);
    const [moved, clients] = ['its clock is moved by advance', 'goes by the clocks of clients'];
    expect(skips({})).toEqual([undefined, undefined, undefined, undefined]);
    expect(skips({ advance: () => {} })).toEqual([moved, moved, undefined, undefined]);
    expect(skips({ clockSkewMs: 1_000 })).toEqual([undefined, clients, undefined, undefined]);
  });

  it('clocks are as far apart as clockSkewMs, by default ten minutes', async () => {
    const times: number[] = [];
    const make = () => ({ store: { ...memoryStore(), claim: () => Promise.reject(new Error(`${Date.now()}`)) } });
    vi.useFakeTimers({ now: 1_000_000 });
    const name = 'a receiver whose clock is ahead does not acquire a key early';
    for (const clockSkewMs of [undefined, 1_000]) {
      await run({ make, clockSkewMs }, name).catch(({ message }) => times.push(1_000_000 - Number(message)));
    }
    expect(times).toEqual([600_000, 1_000]);
    expect(Date.now()).toBe(1_000_000);
  });

  it('clients are set up before a case and closed after it fails', async () => {
    const calls: string[] = [];
    const client = (name: string): DedupeStore => ({
      ...memoryStore(),
      init: async () => void calls.push(`init ${name}`),
      claim: () => Promise.reject(new Error('a fault of its own')),
    });
    const close = () => void calls.push('close');
    const failed = run({ make: () => ({ store: client('1'), store2: client('2'), close }) });
    await expect(failed).rejects.toThrow(/^a fault of its own$/);
    expect(calls).toEqual(['init 1', 'init 2', 'close']);
  });

  it('a shared store needs a second client', async () => {
    const store = memoryStore();
    for (const scope of ['shared', 'host'] as const) {
      await expect(run({ make: () => ({ store: { ...store, scope } }) })).rejects.toThrow(
        `a store of scope '${scope}' needs a store2 with a client of its own`,
      );
      await expect(run({ make: () => ({ store: { ...store, scope }, store2: { ...store, scope } }) })).resolves.toBe(
        undefined,
      );
    }
  });

  it('a row is compared through raw, and without it through inspect', async () => {
    const name = 'a token that does not own the row is answered lost, and nothing is written';
    let fence = 0;
    const changing = async () => {
      fence += 1;
      return { fence } as never;
    };
    await expect(run({ ...right, raw: changing }, name)).rejects.toThrow(
      'the row stays {"fence":1}, got {"fence":2} (R5: ',
    );
    const make = () => ({ store: { ...memoryStore(), inspect: changing } });
    await expect(run({ make }, name)).rejects.toThrow('the row stays {"fence":3}, got {"fence":4}');
    await expect(run({ make, without: ['inspect'] }, name)).resolves.toBeUndefined();
    const { inspect: _, ...store } = memoryStore();
    await expect(run({ make: () => ({ store }) }, name)).resolves.toBeUndefined();
  });

  it('a race has 200 rounds, or as many as the option says', async () => {
    const racesOf = async (rounds?: number) => {
      const keys = new Set<string>();
      const store = memoryStore();
      const claim: DedupeStore['claim'] = (request) => {
        keys.add(request.key);
        return store.claim(request);
      };
      await run(
        { make: () => ({ store: { ...store, claim } }), rounds },
        'exactly one of 32 simultaneous claims acquires a new key',
      );
      return keys.size;
    };
    expect(await racesOf()).toBe(200);
    expect(await racesOf(3)).toBe(3);
  });
});

async function run(options: StoreSuiteOptions, name = FIRST): Promise<void> {
  await storeSuite(options)
    .find((one) => one.name === name)
    ?.run();
}
