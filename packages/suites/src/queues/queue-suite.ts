import { defineSuite, type SuiteCase } from '../define-suite.js';
import { deadLetters } from './cases/dead-letters.js';
import { failures } from './cases/failures.js';
import { outages } from './cases/outages.js';
import { ownership } from './cases/ownership.js';
import { puts } from './cases/puts.js';
import { work } from './cases/work.js';
import type { QueueSuiteOptions, QueueUnderTest } from './queue-under-test.js';
import { QUEUE_RULES, type QueueRule, queueTrial } from './trial.js';

/** One case about the behaviour of a queue, for any test runner. Its rules are those of `docs/add-a-queue.md`. */
export type QueueCase = SuiteCase<QueueRule>;

const GROUPS = { puts, work, failures, 'dead letters': deadLetters, ownership, outages };
const casesFor = defineSuite(QUEUE_RULES, GROUPS, queueTrial);

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
  return casesFor(options as unknown as QueueSuiteOptions);
}
