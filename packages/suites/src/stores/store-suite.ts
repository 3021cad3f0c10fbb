import { defineSuite, type SuiteCase } from '../define-suite.js';
import { clocks } from './cases/clocks.js';
import { fences } from './cases/fences.js';
import { jobLists } from './cases/job-lists.js';
import { jobRecords } from './cases/job-records.js';
import { jobWrites } from './cases/job-writes.js';
import { leases } from './cases/leases.js';
import { operator } from './cases/operator.js';
import { outages } from './cases/outages.js';
import { races } from './cases/races.js';
import { reports } from './cases/reports.js';
import { retention } from './cases/retention.js';
import { states } from './cases/states.js';
import type { StoreSuiteOptions, StoreUnderTest } from './store-under-test.js';
import { STORE_RULES, type StoreRule, storeTrial } from './trial.js';

/** One case about the behaviour of a store, for any test runner. Its rules are those of `docs/add-a-store.md`. */
export type StoreCase = SuiteCase<StoreRule>;

const jobs = [...jobRecords, ...jobWrites, ...jobLists];
const GROUPS = { states, races, leases, fences, retention, clocks, outages, operator, reports, jobs };
const casesFor = defineSuite(STORE_RULES, GROUPS, storeTrial);

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
  return casesFor(options as unknown as StoreSuiteOptions);
}
