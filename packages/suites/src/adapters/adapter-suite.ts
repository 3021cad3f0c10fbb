import { defineSuite, type SuiteCase } from '../define-suite.js';
import type { AdapterSuiteOptions } from './adapter-under-test.js';
import { answers } from './cases/answers.js';
import { bodies } from './cases/bodies.js';
import { connections } from './cases/connections.js';
import { endings } from './cases/endings.js';
import { readers } from './cases/readers.js';
import { routes } from './cases/routes.js';
import { ADAPTER_RULES, type AdapterRule, adapterTrial } from './trial.js';

/** One case about the behaviour of an adapter, for any test runner. Its rules are those of `docs/add-an-adapter.md`. */
export type AdapterCase = SuiteCase<AdapterRule>;

const GROUPS = { bodies, answers, readers, connections, routes, endings };
const casesFor = defineSuite(ADAPTER_RULES, GROUPS, adapterTrial);

/**
 * Returns the cases that an adapter must pass in its framework. They work with any test runner.
 *
 * @example
 * import { test } from 'node:test';
 *
 * for (const { name, skip, run } of adapterSuite({ form: 'handler', serve })) test(name, { skip: skip ?? false }, run);
 */
export function adapterSuite(options: AdapterSuiteOptions): readonly AdapterCase[] {
  return casesFor(options);
}
