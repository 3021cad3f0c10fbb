import { createReceiver, type Handlers } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/fetch';
import { createJobs, type Jobs } from 'service-webhooks/jobs';
import type { ReceiverProcess, SimulationOptions, World } from 'service-webhooks-suites';

/** An app of the kind that users write, for the simulated world. */
export interface App {
  receiver: (world: World) => ReceiverProcess;
  options?: SimulationOptions;
}

const NAME = 'clips';

/** Handlers in the receiver, with a dedupe store. */
export const receiving: App = {
  receiver: ({ secret, store, handlers, call }) =>
    createReceiver({
      secret,
      dedupe: { store, name: NAME },
      on: handlers({ 'generation.completed': () => call('save the clip', () => {}) }),
    }),
};

/** A handler that writes in a transaction with an inbox. */
export const withInbox: App = {
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
export const queueing: App = {
  receiver: ({ secret, queue }) => createReceiver({ secret, queue }),
  options: {
    worker: ({ handlers, call }) => ({ on: handlers({ 'stt.completed': () => call('save the text', () => {}) }) }),
  },
};

/** A queue behind a dedupe store, and a worker with an inbox. */
export const queueingWithInbox: App = {
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
export const streaming: App = {
  receiver: ({ secret, store, work, call }) => ({
    fetch: webhookMiddleware({ secret, dedupe: { store, name: NAME } }, (_, { event }) =>
      answerWhile(() => work(event, () => call('save the clip', () => {}))),
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

/** Lets a process expect the jobs that it submits, and ask every few minutes for those that are overdue. */
export function reconcileRegularly(jobs: Jobs, on: Handlers, name: string, { service }: Pick<World, 'service'>): void {
  service.onSubmitted(({ jobId, types }) => jobs.expect(jobId, { types, within: '5m' }));
  const reconcile = () => jobs.reconcile({ on, name, fetch: service.fetchJob });
  setInterval(() => void reconcile().catch(() => {}), 120_000);
}

/** Jobs whose webhook may never come. */
export const reconciling: App = {
  receiver: (world) => {
    const { secret, store, handlers, call } = world;
    const jobs = createJobs({ store });
    const on = handlers({ '*': () => call('save', () => {}) });
    reconcileRegularly(jobs, on, NAME, world);
    return createReceiver({ secret, on, jobs, dedupe: { store, name: NAME } });
  },
};

/** The same with an inbox that records the job in place of the event. */
export const reconcilingWithInbox: App = {
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
    reconcileRegularly(jobs, on, NAME, world);
    return createReceiver({ secret, on, jobs, dedupe: { store, name: NAME } });
  },
};

/** Workers that run the jobs of a queue, and reconcile those of the service. */
export const reconcilingWorkers: App = {
  receiver: ({ secret, queue }) => createReceiver({ secret, queue }),
  options: {
    worker: (world) => {
      const { store, queue, handlers, call } = world;
      const jobs = createJobs({ store });
      const on = handlers({ '*': () => call('save', () => {}) });
      reconcileRegularly(jobs, on, queue.name, world);
      return { on, jobs };
    },
  },
};

export const APPS = {
  receiving,
  withInbox,
  queueing,
  queueingWithInbox,
  streaming,
  reconciling,
  reconcilingWithInbox,
  reconcilingWorkers,
};
