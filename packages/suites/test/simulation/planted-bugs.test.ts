import { SimulationError, simulate } from 'service-webhooks-suites';
import { describe, expect, it, type TestContext } from 'vitest';
import type { App } from './apps.js';
import { PLANTED_BUGS } from './planted-bugs.js';
import { endingEarly, PLANTED_JOB_BUGS } from './planted-job-bugs.js';
import { PLANTED_NODE_BUGS } from './planted-node-bugs.js';
import { PLANTED_TENANT_BUGS } from './planted-tenant-bugs.js';

const MOST_SEEDS = 500;
const BUGS = { ...PLANTED_BUGS, ...PLANTED_NODE_BUGS, ...PLANTED_JOB_BUGS, ...PLANTED_TENANT_BUGS };

/** Requires that a bug is found by a rule, and records by which seed. */
async function find<State>(app: App<State>, rule: string, { task }: TestContext): Promise<void> {
  const found = await simulate(app.receiver, { ...app.options, seeds: MOST_SEEDS }).catch((error) => error);
  expect(found).toBeInstanceOf(SimulationError);
  expect(found).toMatchObject({ rule });
  Object.assign(task.meta, { plantedBug: { name: task.name, rule, seed: found.seed } });
}

describe('a planted bug is found by the simulation', () => {
  it.for(Object.entries(BUGS))('%s', ([, { app, rule }], test) => find(app, rule, test));

  it('a receiver ends a job before its handler has returned', (test) => find(endingEarly, 'yours', test));
});
