import { simulate } from 'service-webhooks-suites';
import { describe, expect, it } from 'vitest';
import { APPS, waiting } from './apps.js';

/** 10,000 in all with `npm run test:faults`. */
const SEEDS = process.env['FAULTS'] === 'full' ? 10_000 / Object.keys(APPS).length : 40;

describe('an app of the library in simulated worlds', () => {
  it.each(Object.entries(APPS))('the app "%s" breaks no rule', async (_, { receiver, options }) => {
    const report = await simulate(receiver, { ...options, seeds: SEEDS });
    console.log(report); // shown with the seeds a second by `--silent=false`
    expect(report).toMatchObject({ seeds: SEEDS });
  });

  it('the app "waiting" ends no wait for a job before its handler has returned', async () => {
    const report = await simulate(waiting.receiver, { ...waiting.options, seeds: SEEDS });
    console.log(report);
    expect(report).toMatchObject({ seeds: SEEDS });
  });
});
