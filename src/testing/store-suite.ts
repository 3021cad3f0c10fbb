import { clocks } from './store-cases/clocks.js';
import { fences } from './store-cases/fences.js';
import { leases } from './store-cases/leases.js';
import { operator } from './store-cases/operator.js';
import { outages } from './store-cases/outages.js';
import { races } from './store-cases/races.js';
import { reports } from './store-cases/reports.js';
import { retention } from './store-cases/retention.js';
import { states } from './store-cases/states.js';
import { type Rule, runTrial, type TrialCase } from './store-cases/trial.js';
import type { StoreSuiteOptions, StoreUnderTest } from './store-under-test.js';

/** One case, for any test runner. */
export interface StoreCase {
  /** The name: a sentence about the behaviour of a store. */
  name: string;
  /** The group of the case: states, races, ... */
  group: string;
  /** The rules of `docs/add-a-store.md` that it checks. */
  rules: readonly Rule[];
  /** Why the case cannot run with these options. */
  skip?: string | undefined;
  /** Rejects with an Error that names the broken rule. */
  run(): Promise<void>;
}

const GROUPS: Readonly<Record<string, readonly TrialCase[]>> = {
  states,
  races,
  leases,
  fences,
  retention,
  clocks,
  outages,
  operator,
  reports,
};

/**
 * Returns the cases that a dedupe store must pass. They work with any test runner.
 *
 * @example
 * import { test } from 'node:test';
 *
 * for (const { name, skip, run } of storeSuite({ make: makeStore })) test(name, { skip: skip ?? false }, run);
 */
export function storeSuite<Made extends StoreUnderTest>(options: StoreSuiteOptions<Made>): readonly StoreCase[] {
  // A hook receives only what `make` of the same options has returned.
  const anyOptions = options as unknown as StoreSuiteOptions;
  return Object.entries(GROUPS).flatMap(([group, cases]) =>
    cases.map((one) => ({
      name: one.name,
      group,
      rules: one.rules,
      skip: one.skip?.(anyOptions),
      run: () => runTrial(one, anyOptions),
    })),
  );
}
