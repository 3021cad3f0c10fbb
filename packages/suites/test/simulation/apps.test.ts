import { simulate } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { APPS } from './apps.js';

const { FAULTS, SIMULATION_SEEDS = FAULTS === 'full' ? '10000' : '200' } = process.env;
const SEEDS_OF_APP = Math.ceil(Number(SIMULATION_SEEDS) / Object.keys(APPS).length);

describe('an app of the library in simulated worlds', () => {
  it.for(Object.entries(APPS))('the app "%s" breaks no rule', async ([name, { receiver, options }], { task }) => {
    const started = performance.now();
    const report = await simulate(receiver, { ...options, seeds: SEEDS_OF_APP });
    Object.assign(task.meta, { app: { name, ...report, seconds: (performance.now() - started) / 1000 } });
    expect(report).toMatchObject({ seeds: SEEDS_OF_APP });
  });
});
