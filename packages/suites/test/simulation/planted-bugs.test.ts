import { SimulationError, simulate } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.js';
import { PLANTED_NODE_BUGS } from './planted-node-bugs.js';

const MOST_SEEDS = 500;

describe('a planted bug is found by the simulation', () => {
  it.for(Object.entries({ ...PLANTED_BUGS, ...PLANTED_NODE_BUGS }))('%s', async ([name, { app, rule }], { task }) => {
    const found = await simulate(app.receiver, { ...app.options, seeds: MOST_SEEDS }).catch((error) => error);
    expect(found).toBeInstanceOf(SimulationError);
    expect(found).toMatchObject({ rule });
    Object.assign(task.meta, { plantedBug: { name, rule, seed: found.seed } });
  });
});
