import { memoryStore } from 'service-webhooks';
import { createJobs, type JobStats } from 'service-webhooks/jobs';
import { observeJobs } from 'service-webhooks/otel';
import { describe, expect, it } from 'vitest';
import { refusal } from '../support/deliveries.js';
import { collectedMetrics } from './collected-metrics.js';

function collected() {
  const { meterProvider, points } = collectedMetrics();
  const values = async () =>
    Object.fromEntries((await points()).map(({ name, unit, value }) => [`${name} ${unit}`, value]));
  return { meterProvider, points, values };
}

describe('observeJobs', () => {
  it('three gauges have the number of jobs, of overdue ones, and the age of the oldest', async () => {
    let time = 1_000_000;
    const jobs = createJobs({ store: memoryStore({ now: () => time }) });
    const { meterProvider, values } = collected();
    observeJobs(jobs, { meterProvider });
    expect(await values()).toEqual({
      'webhook.jobs.expected {job}': 0,
      'webhook.jobs.overdue {job}': 0,
      'webhook.jobs.oldest_overdue s': 0,
    });
    await jobs.expect('clip_1', { within: '1m' });
    await jobs.expect('clip_2', { within: '1h' });
    time += 150_000;
    expect(await values()).toEqual({
      'webhook.jobs.expected {job}': 2,
      'webhook.jobs.overdue {job}': 1,
      'webhook.jobs.oldest_overdue s': 90,
    });
  });

  it('a store that does not answer costs only these gauges, and the end of them ends the calls', async () => {
    let calls = 0;
    const stats = async (): Promise<JobStats> => {
      calls += 1;
      throw new Error('away');
    };
    const { meterProvider, values, points } = collected();
    const end = observeJobs({ stats }, { meterProvider, name: 'clips' });
    expect(await values()).toEqual({});
    end();
    await points();
    expect(calls).toBe(1);
  });

  it('a value that is no jobs and an unknown option are refused', () => {
    expect(refusal(() => observeJobs({} as never)).message).toContain('jobs must be the result of createJobs()');
    const stats = async (): Promise<JobStats> => ({ expected: 0, overdue: 0, oldestMs: undefined });
    expect(refusal(() => observeJobs({ stats }, { title: 'clips' } as never)).message).toContain("'title'");
  });
});
