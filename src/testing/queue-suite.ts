import { deadLetterCases } from './queue-cases/dead-letters.js';
import { failureCases } from './queue-cases/failures.js';
import { outageCases } from './queue-cases/outages.js';
import { ownershipCases } from './queue-cases/ownership.js';
import { putCases } from './queue-cases/puts.js';
import { type QueueRule, type QueueTrialCase, runQueueTrial } from './queue-cases/trial.js';
import { workCases } from './queue-cases/work.js';
import type { QueueSuiteOptions, QueueUnderTest } from './queue-under-test.js';

/** One case, for any test runner. */
export interface QueueCase {
  /** The name: a sentence about the behaviour of a queue. */
  name: string;
  /** The group of the case: puts, work, ... */
  group: string;
  /** The rules of `docs/add-a-queue.md` that it checks. */
  rules: readonly QueueRule[];
  /** Why the case cannot run with these options. */
  skip?: string | undefined;
  /** Rejects with an Error that names the broken rule. */
  run(): Promise<void>;
}

const GROUPS: Readonly<Record<string, readonly QueueTrialCase[]>> = {
  puts: putCases,
  work: workCases,
  failures: failureCases,
  'dead letters': deadLetterCases,
  ownership: ownershipCases,
  outages: outageCases,
};

/**
 * Returns the cases that a queue must pass. They work with any test runner.
 *
 * @example
 * import { test } from 'node:test';
 *
 * for (const { name, skip, run } of queueSuite({ make: makeQueue })) test(name, { skip: skip ?? false }, run);
 */
export function queueSuite<Made extends QueueUnderTest>(options: QueueSuiteOptions<Made>): readonly QueueCase[] {
  // A hook receives only what `make` of the same options has returned.
  const anyOptions = options as unknown as QueueSuiteOptions;
  return Object.entries(GROUPS).flatMap(([group, cases]) =>
    cases.map((one) => ({
      name: one.name,
      group,
      rules: one.rules,
      skip: one.skip?.(anyOptions),
      run: () => runQueueTrial(one, anyOptions),
    })),
  );
}
