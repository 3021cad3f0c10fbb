import { clocks } from './store-cases/clocks.js';
import { leases } from './store-cases/leases.js';
import { operator } from './store-cases/operator.js';
import { outages } from './store-cases/outages.js';
import { races } from './store-cases/races.js';
import { retention } from './store-cases/retention.js';
import { states } from './store-cases/states.js';
import { type Rule, runTrial, type TrialCase } from './store-cases/trial.js';
import type { StoreSuiteOptions, StoreUnderTest } from './store-under-test.js';

/** One case, for any test runner. */
export interface StoreCase {
  /** A sentence about what a store does. */
  name: string;
  /** What it is about: states, races, ... */
  group: string;
  /** Which rules of `docs/add-a-store.md` it holds the store to. */
  rules: readonly Rule[];
  /** Why it cannot run with these options. */
  skip?: string | undefined;
  /** Rejects with an Error that names the broken rule. */
  run(): Promise<void>;
}

const GROUPS: Readonly<Record<string, readonly TrialCase[]>> = {
  states,
  races,
  leases,
  retention,
  clocks,
  outages,
  operator,
};

/**
 * The cases that a dedupe store has to pass. They belong to no test runner.
 *
 * @example
 * for (const { name, skip, run } of storeSuite({ make })) test(name, { skip }, run); // node:test
 * for (const { name, skip, run } of storeSuite({ make })) it.skipIf(skip)(name, run, 30_000); // vitest
 */
export function storeSuite<Made extends StoreUnderTest>(options: StoreSuiteOptions<Made>): readonly StoreCase[] {
  // A hook only ever gets what `make` of the same options has made.
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
