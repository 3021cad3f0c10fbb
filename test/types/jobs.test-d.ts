import { createReceiver, type Delivery, memoryStore, type WebhookEvent } from 'service-webhooks';
import { createClient } from 'service-webhooks/client';
import { createJobs, type Job, type Jobs, type Reconciliation } from 'service-webhooks/jobs';
import { createProcessor } from 'service-webhooks/queue';
import { describe, expectTypeOf, it } from 'vitest';

const jobs: Jobs = createJobs({ store: memoryStore() });
const fetch = async () => undefined;

describe('jobs', () => {
  it('receivers and workers take the result of createJobs', () => {
    createReceiver({ secret: 'whsec_1', on: {}, jobs });
    createProcessor({ on: {}, jobs });
  });

  it('a job, the event that has ended it and the counts have their types', () => {
    expectTypeOf(jobs.expect('clip_1', { within: '2h' })).resolves.toEqualTypeOf<Job>();
    expectTypeOf(jobs.ended('clip_1')).resolves.toEqualTypeOf<WebhookEvent>();
    expectTypeOf(jobs.overdue()).resolves.toEqualTypeOf<Job[]>();
    expectTypeOf(jobs.reconcile({ on: {}, fetch })).resolves.toEqualTypeOf<Reconciliation>();
    expectTypeOf<Delivery['scheme']>().toEqualTypeOf<'v2' | 'legacy' | 'reconciled'>();
  });

  it('a client of the package fits, and fetch may be synchronous', () => {
    const client = createClient({ apiKey: 'key_1', baseUrl: 'https://api.example.com' });
    void jobs.reconcile({ on: {}, client, read: () => undefined });
    void jobs.reconcile({ on: {}, fetch: ({ jobId }) => ({ type: 'stt.completed', data: { jobId } }) });
  });

  it('a job without a time, and options that do not exist, do not compile', () => {
    // @ts-expect-error within is missing
    void jobs.expect('clip_1', {});
    // @ts-expect-error the option is timeoutMs
    void jobs.ended('clip_1', { timeout: 5 });
    // @ts-expect-error an event needs its type and its data
    void jobs.reconcile({ on: {}, fetch: async () => ({ kind: 'stt.completed' }) });
  });
});
