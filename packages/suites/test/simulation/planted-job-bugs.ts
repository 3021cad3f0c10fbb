import { createReceiver, type Handlers } from 'service-webhooks';
import { createJobs, type JobClaims, type Jobs } from 'service-webhooks/jobs';
import { sampleEvent } from 'service-webhooks/testing';
import type { World } from 'service-webhooks-suites';
import { type App, waitingWith } from './apps.js';
import type { PlantedBug } from './planted-bugs.js';

const NAME = 'clips';

/** The right receiver with a reconciliation that is wrong. */
const withReconciliation = (reconcile: (jobs: Jobs, on: Handlers, world: World) => Promise<unknown>): App => ({
  receiver(world) {
    const { secret, store, service, handlers, call } = world;
    const jobs = createJobs({ store });
    const on = handlers({ '*': () => call('save', () => {}) });
    service.onSubmitted(({ jobId, types }) => jobs.expect(jobId, { types, within: '1m' }));
    setInterval(() => void reconcile(jobs, on, world).catch(() => {}), 60_000);
    return createReceiver({ secret, on, jobs, dedupe: { store, name: NAME } });
  },
});

/** Bugs of apps whose webhooks may never come. */
export const PLANTED_JOB_BUGS: Readonly<Record<string, PlantedBug>> = {
  'a reconciliation does not claim the job': {
    app: withReconciliation(async (jobs, _, { service, work, call }) => {
      for (const job of await jobs.overdue()) {
        const { signal } = new AbortController();
        const found = await service.fetchJob(job, { signal });
        if (found === undefined) continue;
        const { jobId } = job;
        const event = sampleEvent('stt.completed', { id: `evt_of_${jobId}`, jobId });
        await work({ event }, () => call('save', () => {}));
        await jobs.forget(jobId);
      }
    }),
    rule: 'reconciled',
  },
  'a reconciliation forgets a job whose handler threw': {
    app: withReconciliation((jobs, on, { service }) =>
      jobs.reconcile({
        name: NAME,
        fetch: service.fetchJob,
        on: {
          async '*'(event, context) {
            try {
              await on['*']?.(event, context);
            } catch (error) {
              await jobs.forget(event.jobId ?? '');
              throw error;
            }
          },
        },
      }),
    ),
    rule: 'expected',
  },
};

/** A receiver that ends a job before its handler has returned. */
export const endingEarly = waitingWith(
  (jobs): JobClaims => ({
    claimsFor(endpoint) {
      const claimJob = jobs.claimsFor(endpoint);
      return async (delivery, lease, run) => {
        const nothing = { ...lease, complete: async () => {}, release: async () => {}, abandon: () => {} };
        const claim = await claimJob(delivery, nothing, run);
        if (claim.status !== 'acquired') return claim;
        await claim.lease.complete('handled');
        return { status: 'acquired', lease };
      };
    },
  }),
);
