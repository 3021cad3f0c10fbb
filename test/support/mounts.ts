import type { Delivery, Receiver, WebhookRequest } from 'service-webhooks';
import type { ServedApp } from 'service-webhooks-suites';
import { mounts as express } from '../adapters/mounts/express.js';
import { mounts as fastify } from '../adapters/mounts/fastify.js';
import { mounts as fetch } from '../adapters/mounts/fetch.js';
import { mounts as h3 } from '../adapters/mounts/h3.js';
import { mounts as hono } from '../adapters/mounts/hono.js';
import { mounts as koa } from '../adapters/mounts/koa.js';
import type { Listening, Mount } from '../adapters/mounts/mount.js';
import { mounts as node } from '../adapters/mounts/node.js';

/**
 * Every adapter whose app listens on a port and that sees a request before anything parses it, in every version of its
 * framework and in both forms.
 */
export const mounts: readonly Mount<Listening>[] = [...express, ...fastify, ...koa, ...hono, ...h3, ...node, ...fetch];

/** Which of the receivers behind one server a request is for. */
export const ENDPOINT = 'x-endpoint';

/** What one server serves: a receiver for each endpoint, so that it can play many. */
export interface Endpoints {
  receiverFor(endpoint: string): Receiver;
  /** Called by the route behind a middleware, before it answers 200. */
  onRouted(endpoint: string, delivery: Delivery | undefined): void;
}

/** Starts the app of a mount with many endpoints in it. */
export async function serveEndpoints<App extends ServedApp>(
  { serve }: Mount<App>,
  { receiverFor, onRouted }: Endpoints,
): Promise<App> {
  const endpoints = new WeakMap<Delivery, string>();
  const endpointOf = ({ headers }: WebhookRequest) =>
    new Headers(headers as Record<string, string>).get(ENDPOINT) ?? '';
  const receive = (request: WebhookRequest) => receiverFor(endpointOf(request))(request);
  const begin: Receiver['begin'] = async (request) => {
    const endpoint = endpointOf(request);
    const begun = await receiverFor(endpoint).begin(request);
    if ('delivery' in begun) endpoints.set(begun.delivery, endpoint);
    return begun;
  };
  return serve({
    receiver: Object.assign(receive, {
      begin,
      hasHandlers: true,
      hasQueue: false,
      health: () => receiverFor('').health(),
      secret: null,
    }),
    before: 'nothing',
    body: () => new Uint8Array(),
    otherAnswer: new Promise(() => {}),
    async route(delivery) {
      onRouted((delivery && endpoints.get(delivery)) ?? '', delivery);
      return 200;
    },
  });
}
