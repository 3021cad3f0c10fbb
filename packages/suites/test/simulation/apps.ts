import express from 'express';
import { createReceiver } from 'service-webhooks';
import * as onExpress from 'service-webhooks/express';
import { webhookMiddleware } from 'service-webhooks/fetch';
import { webhookHandler } from 'service-webhooks/node';
import type { ReceiverProcess, SimulationOptions, World } from 'service-webhooks-suites';

/** An app of the kind that users write, for the simulated world. */
export interface App {
  receiver: (world: World) => ReceiverProcess;
  options?: SimulationOptions;
}

export const NAME = 'clips';

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
      if (req.webhook) await work(req.webhook.event, () => call('save the clip', () => {}));
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
      if (req.webhook) await work(req.webhook.event, () => call('save the clip', () => {}));
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

export const APPS = { receiving, withInbox, queueing, queueingWithInbox, streaming, ...NODE_APPS };
