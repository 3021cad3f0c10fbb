import { createReceiver, type DedupeStore } from 'service-webhooks';
import { createJobs } from 'service-webhooks/jobs';
import { queueingTenants, tenants } from './apps.js';
import type { PlantedBug } from './planted-bugs.js';

const NAME = 'clips';
const withoutTenant = <Keyed extends { key: string }>(one: Keyed): Keyed => ({
  ...one,
  key: one.key.replace(/tenant=[^:]+:/, ''),
});

/** Returns a store that takes the events of all tenants for those of one. */
const sharedByTenants = (store: DedupeStore): DedupeStore => ({
  ...store,
  claim: (request) => store.claim(withoutTenant(request)),
  extend: (claim, options) => store.extend(withoutTenant(claim), options),
  complete: (claim, options) => store.complete(withoutTenant(claim), options),
  release: (claim) => store.release(withoutTenant(claim)),
});

/** Bugs by which an event of one tenant is taken for an event of another. */
export const PLANTED_TENANT_BUGS: Readonly<Record<string, PlantedBug>> = {
  'a dedupe key has no tenant': {
    app: {
      receiver: (world) => tenants.receiver({ ...world, store: sharedByTenants(world.store) }),
      options: { tenants: 2 },
    },
    rule: 'handled',
  },
  'an inbox ignores the tenant': {
    app: {
      receiver: ({ secrets, store, handlers, database }) =>
        createReceiver({
          secret: secrets,
          dedupe: { store, name: NAME },
          on: handlers({
            '*': (event) => database.transaction((tx) => database.inbox.once(tx, { event }, () => tx.write('credit'))),
          }),
        }),
      options: { tenants: 2 },
    },
    rule: 'once',
  },
  'the key of a queue has no tenant': {
    app: {
      receiver: ({ secrets, queue }) => {
        const put: typeof queue.put = (delivery, event) => queue.put(withoutTenant(delivery), event);
        return createReceiver({ secret: secrets, queue: { ...queue, put } });
      },
      options: { ...queueingTenants.options },
    },
    rule: 'handled',
  },
  'a job is expected without its tenant': {
    app: {
      receiver: ({ secrets, store, handlers, call, service }) => {
        const jobs = createJobs({ store });
        const on = handlers({ '*': () => call('save', () => {}) });
        service.onSubmitted(({ jobId, types }) => jobs.expect(jobId, { types, within: '1m' }));
        setInterval(() => void jobs.reconcile({ on, name: NAME, fetch: service.fetchJob }).catch(() => {}), 60_000);
        return createReceiver({ secret: secrets, on, jobs, dedupe: { store, name: NAME } });
      },
      options: { tenants: 2 },
    },
    rule: 'expected',
  },
};
