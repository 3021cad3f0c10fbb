import { type DedupeStore, memoryStore } from 'service-webhooks';
import { type StoreSuiteOptions, storeSuite } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';

const right: StoreSuiteOptions = { make: () => ({ store: memoryStore() }) };

describe('the cases for a store', () => {
  it('are about one thing each, and hold it to a rule', () => {
    const cases = storeSuite(right);
    expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    for (const { rules } of cases) expect(rules[0]).toMatch(/^R\d+$/);
    expect(new Set(cases.map(({ group }) => group))).toEqual(
      new Set(['states', 'races', 'leases', 'retention', 'clocks', 'outages', 'operator']),
    );
  });

  it('are skipped where they need what there is not, with the reason', () => {
    const skips = (options: Partial<StoreSuiteOptions>) =>
      storeSuite({ ...right, ...options }).flatMap(({ skip }) => skip ?? []);
    expect(skips({})).not.toContain('has no forget');
    expect(skips({ without: ['forget'] })).toContain('has no forget');
    expect(skips({})).toContain('needs evict');
    expect(skips({ evict: () => {} })).not.toContain('needs evict');
  });

  it('pass where it keeps the rules, and else name the one that is broken', async () => {
    const name = 'acquires a new key with fence 1 and attempt 1';
    const run = (options: StoreSuiteOptions) =>
      storeSuite(options)
        .find((one) => one.name === name)
        ?.run();
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
});
