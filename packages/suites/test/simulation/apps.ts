import express from 'express';
import { createReceiver } from 'service-webhooks';
import * as onExpress from 'service-webhooks/express';
import { webhookMiddleware } from 'service-webhooks/fetch';
import { createJobs, type JobClaims, type Jobs, type ReconcileOptions } from 'service-webhooks/jobs';
import { webhookHandler } from 'service-webhooks/node';
import type { ReceiverProcess, SimulationOptions, World } from 'service-webhooks-suites';

/** An app of the kind that users write, for the simulated world. */
export interface App<State = undefined> {
  receiver: (world: World<State>) => ReceiverProcess;
  options?: SimulationOptions<State>;
}

export const NAME = 'clips';

/** Handlers in the receiver, with a dedupe store. */
const receiving: App = {
  receiver: ({ secret, store, handlers, call }) =>
    createReceiver({
      secret,
      dedupe: { store, name: NAME },
      on: handlers({ 'generation.completed': () => call('save the clip', () => {}) }),
    }),
};

/** A handler that writes in a transaction with an inbox. */
const withInbox: App = {
  receiver: ({ secret, store, handlers, database }) =>
    createReceiver({
      secret,
      dedupe: { store, name: NAME },
      on: handlers({
        '*': (_, { delivery }) =>
          database.transaction((tx) => database.inbox.once(tx, delivery, () => tx.write('credit'))),
      }),
    }),
};

/** A receiver that queues, and workers that run the jobs. */
const queueing: App = {
  receiver: ({ secret, queue }) => createReceiver({ secret, queue }),
  options: {
    worker: ({ handlers, call }) => ({ on: handlers({ 'stt.completed': () => call('save the text', () => {}) }) }),
  },
};

/** A queue behind a dedupe store, and a worker with an inbox. */
const queueingWithInbox: App = {
  receiver: ({ secret, store, queue }) => createReceiver({ secret, queue, dedupe: { store, name: NAME } }),
  options: {
    worker: ({ handlers, database }) => ({
      on: handlers({
        '*': (_, { delivery }) =>
          database.transaction((tx) => database.inbox.once(tx, delivery, () => tx.write('credit'))),
      }),
    }),
  },
};

/** A route behind a middleware, which does its work while it sends its answer. */
const streaming: App = {
  receiver: ({ secret, store, work, call }) => ({
    fetch: webhookMiddleware({ secret, dedupe: { store, name: NAME } }, (_, delivery) =>
      answerWhile(() => work(delivery, () => call('save the clip', () => {}))),
    ),
  }),
};

/** Returns an answer whose body ends when the work is done. */
export function answerWhile(work: () => Promise<unknown>): Response {
  const body = new ReadableStream({
    async start(controller) {
      controller.enqueue(new TextEncoder().encode('working'));
    },
    async pull(controller) {
      await work();
      controller.close();
    },
  });
  return new Response(body);
}

/** Handlers in an app of Express. */
const expressHandler: App = {
  receiver: ({ secret, store, handlers, call }) => {
    const receiver = createReceiver({
      secret,
      dedupe: { store, name: NAME },
      on: handlers({ 'generation.completed': () => call('save the clip', () => {}) }),
    });
    return { listener: express().post('/webhooks', onExpress.webhookHandler(receiver)) };
  },
};

/** A route of Express that answers after its work. */
const expressRoute: App = {
  receiver: ({ secret, store, work, call }) => {
    const app = express();
    app.post('/webhooks', onExpress.webhookMiddleware({ secret, dedupe: { store, name: NAME } }), async (req, res) => {
      if (req.webhook) await work(req.webhook, () => call('save the clip', () => {}));
      res.sendStatus(204);
    });
    return { listener: app };
  },
};

/** A route of Express that does its work while it sends its answer. */
const expressStreaming: App = {
  receiver: ({ secret, store, work, call }) => {
    const app = express();
    app.post('/webhooks', onExpress.webhookMiddleware({ secret, dedupe: { store, name: NAME } }), async (req, res) => {
      res.write('working');
      if (req.webhook) await work(req.webhook, () => call('save the clip', () => {}));
      res.end();
    });
    return { listener: app };
  },
};

/** A receiver on Node's own server that queues, and workers that run the jobs. */
const nodeQueueing: App = {
  receiver: ({ secret, store, queue }) => ({
    listener: webhookHandler(createReceiver({ secret, queue, dedupe: { store, name: NAME } })),
  }),
  options: {
    worker: ({ handlers, call }) => ({ on: handlers({ '*': () => call('save the text', () => {}) }) }),
  },
};

/** The apps whose requests run through Node's HTTP. */
export const NODE_APPS = { expressHandler, expressRoute, expressStreaming, nodeQueueing };

/** Expects the jobs that a process submits, and asks every few minutes for those that are overdue. */
function reconcileRegularly({ service }: World, jobs: Jobs, options: Pick<ReconcileOptions, 'on' | 'name'>) {
  service.onSubmitted(({ jobId, ...job }) => jobs.expect(jobId, { ...job, within: '1m' }));
  const reconcile = () => jobs.reconcile({ ...options, fetch: service.fetchJob });
  setInterval(() => void reconcile().catch(() => {}), 60_000);
}

/** Jobs whose webhook may never come. */
const reconciling: App = {
  receiver: (world) => {
    const { secret, store, handlers, call } = world;
    const jobs = createJobs({ store });
    const on = handlers({ '*': () => call('save', () => {}) });
    reconcileRegularly(world, jobs, { on, name: NAME });
    return createReceiver({ secret, on, jobs, dedupe: { store, name: NAME } });
  },
};

/** The same with an inbox that records the job in place of the event. */
const reconcilingWithInbox: App = {
  receiver: (world) => {
    const { secret, store, handlers, database } = world;
    const jobs = createJobs({ store });
    const on = handlers({
      '*': (event, { delivery }) => {
        const id = event.jobId === null ? event.id : `${event.jobId}/${event.type}`;
        const job = { ...delivery, event: { ...event, id } };
        return database.transaction((tx) => database.inbox.once(tx, job, () => tx.write('credit')));
      },
    });
    reconcileRegularly(world, jobs, { on, name: NAME });
    return createReceiver({ secret, on, jobs, dedupe: { store, name: NAME } });
  },
};

/** Workers that run the jobs of a queue, and reconcile those of the service. */
const reconcilingWorkers: App = {
  receiver: ({ secret, queue }) => createReceiver({ secret, queue }),
  options: {
    worker: (world) => {
      const { store, queue, handlers, call } = world;
      const jobs = createJobs({ store });
      const on = handlers({ '*': () => call('save', () => {}) });
      reconcileRegularly(world, jobs, { on, name: queue.name });
      return { on, jobs };
    },
  },
};

/** Several tenants on one URL, whose events have the same ids. */
export const tenants: App = {
  receiver: ({ secrets, store, handlers, database }) =>
    createReceiver({
      secret: secrets,
      dedupe: { store, name: NAME },
      on: handlers({
        '*': (_, { delivery }) =>
          database.transaction((tx) => database.inbox.once(tx, delivery, () => tx.write('credit'))),
      }),
    }),
  options: { tenants: 2 },
};

/** The same with a queue. */
export const queueingTenants: App = {
  receiver: ({ secrets, queue }) => createReceiver({ secret: secrets, queue }),
  options: { ...queueingWithInbox.options, tenants: 2 },
};

/** Tenants whose jobs have the same ids, and whose webhooks may never come. */
const reconcilingTenants: App = {
  receiver: (world) => {
    const { secrets, store, handlers, call } = world;
    const jobs = createJobs({ store });
    const on = handlers({ '*': () => call('save', () => {}) });
    reconcileRegularly(world, jobs, { on, name: NAME });
    return createReceiver({ secret: secrets, on, jobs, dedupe: { store, name: NAME } });
  },
  options: { tenants: 2 },
};

/** What the processes of {@link waiting} have seen. */
export interface Waits {
  /** The jobs whose handlers have returned. */
  readonly handled: Set<string | null>;
  /** The jobs whose waits have ended before. */
  readonly early: string[];
}

/** A process that waits for each job that it has submitted. `jobsOf` returns the jobs that its receiver has. */
export const waitingWith = (jobsOf: (jobs: Jobs) => JobClaims): App<Waits> => ({
  receiver: (world) => {
    const { secret, store, handlers, call, service, state } = world;
    const jobs = createJobs({ store, pollMs: 10_000 });
    const on = handlers({
      async '*'({ jobId }) {
        await call('save', () => {});
        state.handled.add(jobId);
      },
    });
    service.onSubmitted(async ({ jobId, types }) => {
      await jobs.expect(jobId, { types, within: '1m' });
      const hasEnded = () => {
        if (!state.handled.has(jobId)) state.early.push(jobId);
      };
      jobs.ended(jobId).then(hasEnded, () => {}); // it rejects where the store fails for a minute
    });
    setInterval(() => void jobs.reconcile({ on, name: NAME, fetch: service.fetchJob }).catch(() => {}), 60_000);
    return createReceiver({ secret, on, jobs: jobsOf(jobs), dedupe: { store, name: NAME } });
  },
  options: {
    state: () => ({ handled: new Set(), early: [] }),
    check({ state: { early } }) {
      if (early.length > 0) throw new Error(`the wait for ${early} has ended before its handler has returned`);
    },
  },
});

export const waiting = waitingWith((jobs) => jobs);

export const APPS = {
  receiving,
  withInbox,
  queueing,
  queueingWithInbox,
  streaming,
  reconciling,
  reconcilingWithInbox,
  reconcilingWorkers,
  tenants,
  queueingTenants,
  reconcilingTenants,
  ...NODE_APPS,
};
