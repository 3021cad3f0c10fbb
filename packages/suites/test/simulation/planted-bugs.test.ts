import { SimulationError, simulate } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { PLANTED_BUGS } from './planted-bugs.js';
import { endingEarly, PLANTED_JOB_BUGS } from './planted-job-bugs.js';
import { PLANTED_TENANT_BUGS } from './planted-tenant-bugs.js';

const MOST_SEEDS = 500;

describe('a planted bug is found by the simulation', () => {
  it.each(Object.entries({ ...PLANTED_BUGS, ...PLANTED_JOB_BUGS, ...PLANTED_TENANT_BUGS }))(
    '%s',
    async (name, { app, rule }) => {
      const found = await simulate(app.receiver, { ...app.options, seeds: MOST_SEEDS }).catch((error) => error);
      expect(found).toBeInstanceOf(SimulationError);
      console.log(`${name}: found by seed ${found.seed}`); // shown by `--silent=false`
      expect(found).toMatchObject({ rule });
    },
  );

  it('a receiver ends a job before its handler has returned', async () => {
    const seeds = MOST_SEEDS;
    const found = await simulate(endingEarly.receiver, { ...endingEarly.options, seeds }).catch((error) => error);
    expect(found).toBeInstanceOf(SimulationError);
    console.log(`a receiver ends a job early: found by seed ${found.seed}`);
    expect(found).toMatchObject({ rule: 'yours' });
  });
});
