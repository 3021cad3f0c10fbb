import { simulate } from 'service-webhooks-suites';
import { describe, expect, it, type TestContext } from 'vitest';
import { APPS, type App, waiting } from './apps.js';

const { FAULTS, SIMULATION_SEEDS = FAULTS === 'full' ? '10000' : '200' } = process.env;
const SEEDS_OF_APP = Math.ceil(Number(SIMULATION_SEEDS) / (Object.keys(APPS).length + 1));

async function play<State>(name: string, { receiver, options }: App<State>, { task }: TestContext): Promise<void> {
  const started = performance.now();
  const report = await simulate(receiver, { ...options, seeds: SEEDS_OF_APP });
  Object.assign(task.meta, { app: { name, ...report, seconds: (performance.now() - started) / 1000 } });
  expect(report).toMatchObject({ seeds: SEEDS_OF_APP });
}

describe('an app of the library in simulated worlds', () => {
  it.for(Object.entries(APPS))('the app "%s" breaks no rule', ([name, app], test) => play(name, app, test));

  it('the app "waiting" ends no wait for a job before its handler has returned', (test) =>
    play('waiting', waiting, test));
});
