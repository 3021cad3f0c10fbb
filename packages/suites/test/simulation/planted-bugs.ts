import { createReceiver, type DedupeStore, type Health, type Receiver, type WebhookRequest } from 'service-webhooks';
import { createProcessor, type DeliveryQueue, type Ended, type WorkerOptions } from 'service-webhooks/queue';
import type { JobEnd, JobsClient, TakenJob, World } from 'service-webhooks-suites';
import { type App, answerWhile, NAME } from './apps.js';

/** A bug that a receiver, an adapter, a worker or a store of others had, and the rule by which it is found. */
export interface PlantedBug {
  app: App;
  rule: 'handled' | 'once' | 'owner' | 'health' | 'delivered' | 'expected' | 'reconciled';
}

/** A receiver with a handler that calls another system. */
const receiverOn = ({ secret, handlers, call }: World, store: DedupeStore) =>
  createReceiver({ secret, dedupe: { store, name: NAME }, on: handlers({ '*': () => call('save', () => {}) }) });

/** An app behind a middleware whose adapter is wrong: `answer` returns the response to a delivery that was claimed. */
function withAdapter(
  answer: (
    begun: Exclude<Awaited<ReturnType<Receiver['begin']>>, { response: unknown }>,
    world: World,
  ) => Response | Promise<Response>,
): App {
  return {
    receiver: (world) => {
      const receiver = createReceiver({ secret: world.secret, dedupe: { store: world.store, name: NAME } });
      return {
        async fetch({ method, headers, body, signal }) {
          const begun = await receiver.begin({ method, headers, body: body as WebhookRequest['body'], signal });
          if (!('response' in begun)) return answer(begun, world);
          const { status, headers: fields, body: text } = begun.response;
          return new Response(text, { status, headers: fields });
        },
      };
    },
  };
}

/** The right receiver with a store that is wrong in some of its methods. */
const withStore = (plant: (store: DedupeStore) => Partial<DedupeStore>): App => ({
  receiver: (world) => receiverOn(world, { ...world.store, ...plant(world.store) }),
});

const failing = () => Promise.reject(new Error('no disk'));

/** The right receiver with a health that is wrong. */
const withHealth = (wrong: Partial<Health>, handle = async () => {}): App => ({
  receiver: ({ secret, store, handlers }) => {
    const receiver = createReceiver({ secret, dedupe: { store, name: NAME }, on: handlers({ '*': handle }) });
    const health = async () => ({ ...(await receiver.health()), ...wrong });
    return Object.assign((request: WebhookRequest) => receiver(request), receiver, { health });
  },
});

/** The right receiver and worker with a queue that is wrong. */
const withQueue = (plant: (queue: DeliveryQueue) => Partial<DeliveryQueue>): App => ({
  receiver: ({ secret, queue }) => createReceiver({ secret, queue: { ...queue, ...plant(queue) } }),
  options: { worker: ({ handlers, call }) => ({ on: handlers({ '*': () => call('save', () => {}) }) }) },
});

/** The right receiver and queue with workers of its own. */
function withWorker(start: (jobs: JobsClient, options: WorkerOptions) => () => Promise<void>): App {
  return {
    receiver: ({ secret, queue }) => createReceiver({ secret, queue }),
    options: {
      worker({ jobs, handlers, call, payloads }) {
        const options = { on: handlers({ '*': () => call('save', () => {}) }), ...payloads };
        const run = start(jobs, options);
        void (async () => {
          for (;;) await run().catch(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
        })();
        return undefined;
      },
    },
  };
}

const process = (options: WorkerOptions, { value, attempt, attempts }: TakenJob) =>
  createProcessor(options)(value, { attempt, attempts });

const endOf = (ended: Ended | undefined): JobEnd => (ended?.as === 'done' || ended?.as === 'dead' ? ended.as : 'retry');

/** Bugs of the kinds that real receivers had, each in an app that is right otherwise. */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  'an adapter completes the claim before its answer is sent, and the answer is reset': {
    app: withAdapter(async ({ delivery, settle }, { work, call }) => {
      await settle('ok');
      return answerWhile(() => work(delivery, () => call('save', () => {})));
    }),
    rule: 'handled',
  },
  'an adapter completes the claim when the connection closes': {
    app: withAdapter(({ delivery, settle }, { work, call }) => {
      const answer = answerWhile(() => work(delivery, () => call('save', () => {})));
      const reader = answer.body?.getReader();
      return new Response(
        new ReadableStream(
          {
            async pull(controller) {
              const { done, value } = (await reader?.read()) ?? { done: true };
              if (!done) return controller.enqueue(value);
              await settle('ok');
              controller.close();
            },
            cancel: () => void settle('ok'),
          },
          { highWaterMark: 0 },
        ),
      );
    }),
    rule: 'handled',
  },
  'a handler is not awaited': {
    app: {
      receiver: ({ secret, store, handlers, call }) => {
        const { '*': save } = handlers({ '*': () => call('save', () => {}) });
        return createReceiver({
          secret,
          dedupe: { store, name: NAME },
          on: { '*': (event, context) => void Promise.resolve(save?.(event, context)).catch(() => {}) },
        });
      },
    },
    rule: 'handled',
  },
  'an event in progress is answered as a duplicate': {
    app: withStore((store) => ({
      async claim(request) {
        const result = await store.claim(request);
        return result.status === 'in_progress' ? { ...result, status: 'completed' } : result;
      },
    })),
    rule: 'handled',
  },
  'an event is completed when it is claimed': {
    app: withStore((store) => ({
      async claim(request) {
        const result = await store.claim(request);
        if (result.status === 'acquired') await store.complete({ ...request, fence: result.fence }, request);
        return result;
      },
    })),
    rule: 'handled',
  },
  'a store gives each owner the same fence': {
    app: withStore((store) => ({
      async claim(request) {
        const result = await store.claim(request);
        return result.status === 'acquired' ? { ...result, fence: 1 } : result;
      },
    })),
    rule: 'owner',
  },
  'a store never releases a lease': {
    app: withStore((store) => ({
      claim: (request) => store.claim({ ...request, leaseMs: request.retainMs }),
      release: async () => 'ok',
    })),
    rule: 'delivered',
  },
  'an inbox records the event in a transaction of its own': {
    app: {
      receiver: ({ secret, store, handlers, database }) =>
        createReceiver({
          secret,
          dedupe: { store, name: NAME },
          on: handlers({
            async '*'(_, { delivery }) {
              const { status } = await database.transaction((tx) => database.inbox.once(tx, delivery, () => {}));
              if (status === 'done') await database.transaction((tx) => tx.write('credit'));
            },
          }),
        }),
    },
    rule: 'once',
  },
  'an inbox records the event after the writes': {
    app: {
      receiver: ({ secret, store, handlers, database }) =>
        createReceiver({
          secret,
          dedupe: { store, name: NAME },
          on: handlers({
            async '*'(_, { delivery }) {
              await database.transaction((tx) => tx.write('credit'));
              await database.transaction((tx) => database.inbox.once(tx, delivery, () => {}));
            },
          }),
        }),
    },
    rule: 'once',
  },
  'a queue confirms a delivery before its engine has it': {
    app: withQueue((queue) => ({
      async put(delivery, event) {
        void queue.put(delivery, event).catch(() => {});
        return 'queued';
      },
    })),
    rule: 'handled',
  },
  'a queue reports each failed put as a duplicate': {
    app: withQueue((queue) => ({ put: (delivery, event) => queue.put(delivery, event).catch(() => 'known' as const) })),
    rule: 'handled',
  },
  'a worker settles a job that it no longer owns': {
    app: withWorker((jobs, options) => async () => {
      const job = await jobs.take();
      await jobs.settle(job, endOf(await process(options, job)), { unchecked: true });
    }),
    rule: 'owner',
  },
  'a worker settles a job before it runs it': {
    app: withWorker((jobs, options) => async () => {
      const job = await jobs.take();
      if (await jobs.settle(job, 'done')) await process(options, job);
    }),
    rule: 'handled',
  },
  'a worker settles a batch by the end of its last job': {
    app: withWorker((jobs, options) => {
      let next: Promise<TakenJob | undefined> | undefined;
      /** Resolves to the next job, which a later call gets where this one is given up. */
      const takeWithin = async (ms: number) => {
        next ??= jobs.take().catch(() => undefined);
        const over = new Promise<'over'>((end) => setTimeout(() => end('over'), ms));
        const job = await Promise.race([next, over]);
        if (job === 'over') return undefined;
        next = undefined;
        return job;
      };
      return async () => {
        const batch = [await takeWithin(60_000), await takeWithin(100)].filter((job) => job !== undefined);
        const ends = await Promise.all(batch.map((job) => process(options, job)));
        const as = endOf(ends.at(-1));
        for (const job of batch) await jobs.settle(job, as);
      };
    }),
    rule: 'handled',
  },
  'the health of a receiver forgets its failures': {
    app: withHealth({ failuresInARow: 0 }, failing),
    rule: 'health',
  },
  'the health of a receiver forgets when it accepted an event': {
    app: withHealth({ lastAcceptedAt: undefined }),
    rule: 'health',
  },
  'the health of a receiver counts no dead deliveries': {
    app: withHealth({ deadInARowEstimate: 0 }, failing),
    rule: 'health',
  },
  'a receiver counts a delivery as in progress permanently': {
    app: {
      receiver: (world) => {
        const receiver = receiverOn(world, world.store);
        let lost = 0;
        const receive = async (request: Parameters<Receiver>[0]) => {
          request.signal?.addEventListener('abort', () => {
            lost += 1;
          });
          return receiver(request);
        };
        const health = async () => {
          const own = await receiver.health();
          return { ...own, inProgress: own.inProgress + lost };
        };
        return Object.assign(receive, receiver, { health });
      },
    },
    rule: 'health',
  },
};
