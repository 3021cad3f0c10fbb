import { answers } from './adapter-cases/answers.js';
import { bodies } from './adapter-cases/bodies.js';
import { connections } from './adapter-cases/connections.js';
import { readers } from './adapter-cases/readers.js';
import { routes } from './adapter-cases/routes.js';
import { type Rule, runTrial, type TrialCase } from './adapter-cases/trial.js';
import type { AdapterSuiteOptions } from './adapter-under-test.js';

/** One case, for any test runner. */
export interface AdapterCase {
  /** A sentence about what an adapter does. */
  name: string;
  /** What it is about: bodies, answers, ... */
  group: string;
  /** Which rules of `docs/add-an-adapter.md` it holds the adapter to. */
  rules: readonly Rule[];
  /** Why it cannot run with these options. */
  skip?: string | undefined;
  /** Rejects with an Error that names the broken rule. */
  run(): Promise<void>;
}

const GROUPS: Readonly<Record<string, readonly TrialCase[]>> = { bodies, answers, readers, connections, routes };

/**
 * The cases that an adapter has to pass in the framework it is for. They belong to no test runner.
 *
 * @example
 * for (const { name, skip, run } of adapterSuite({ form: 'handler', serve })) test(name, { skip }, run); // node:test
 * for (const { name, skip, run } of adapterSuite({ form: 'handler', serve })) it.skipIf(skip)(name, run); // vitest
 */
export function adapterSuite(options: AdapterSuiteOptions): readonly AdapterCase[] {
  return Object.entries(GROUPS).flatMap(([group, cases]) =>
    cases
      .filter(({ form = options.form }) => form === options.form)
      .map((one) => ({
        name: one.name,
        group,
        rules: one.rules,
        skip: one.needs && options.without?.[one.needs],
        run: () => runTrial(one, options),
      })),
  );
}
