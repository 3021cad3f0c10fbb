import { answers } from './adapter-cases/answers.js';
import { bodies } from './adapter-cases/bodies.js';
import { connections } from './adapter-cases/connections.js';
import { endings } from './adapter-cases/endings.js';
import { readers } from './adapter-cases/readers.js';
import { routes } from './adapter-cases/routes.js';
import { type Rule, runTrial, type TrialCase } from './adapter-cases/trial.js';
import type { AdapterSuiteOptions } from './adapter-under-test.js';

/** One case, for any test runner. */
export interface AdapterCase {
  /** The name: a sentence about the behaviour of an adapter. */
  name: string;
  /** The group of the case: bodies, answers, ... */
  group: string;
  /** The rules of `docs/add-an-adapter.md` that the case checks. */
  rules: readonly Rule[];
  /** Why the case cannot run with these options. */
  skip?: string | undefined;
  /** Rejects with an Error that names the broken rule. */
  run(): Promise<void>;
}

const GROUPS: Readonly<Record<string, readonly TrialCase[]>> = {
  bodies,
  answers,
  readers,
  connections,
  routes,
  endings,
};

/**
 * Returns the cases that an adapter must pass in its framework. They work with any test runner.
 *
 * @example
 * import { test } from 'node:test';
 *
 * for (const { name, skip, run } of adapterSuite({ form: 'handler', serve })) test(name, { skip: skip ?? false }, run);
 */
export function adapterSuite(options: AdapterSuiteOptions): readonly AdapterCase[] {
  return Object.entries(GROUPS).flatMap(([group, cases]) =>
    cases
      .filter(({ form = options.form }) => form === options.form)
      .map((one) => ({
        name: one.name,
        group,
        rules: one.rules,
        skip: (one.needs && options.without?.[one.needs]) ?? notPlayed(one, options),
        run: () => runTrial(one, options),
      })),
  );
}

function notPlayed({ ending }: TrialCase, { endings: played = [] }: AdapterSuiteOptions): string | undefined {
  return ending && !played.includes(ending) ? `serve() does not play '${ending}'` : undefined;
}
