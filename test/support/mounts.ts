import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { createAdaptorServer } from '@hono/node-server';
import express5 from 'express';
import express4 from 'express4';
import { Hono } from 'hono';
import type { Delivery, Receiver } from 'service-webhooks';
import * as expressAdapter from 'service-webhooks/express';
import * as fetchAdapter from 'service-webhooks/fetch';
import * as honoAdapter from 'service-webhooks/hono';
import * as nodeAdapter from 'service-webhooks/node';

/** What a mounted server serves: a receiver for each path, so that one server can play many endpoints. */
export interface Routes {
  receiverFor(path: string): Receiver;
  /** Called by the route behind a middleware, before it answers 200. */
  onRouted(path: string, delivery: Delivery | undefined): void;
}

/** One way to put a receiver into a real server. */
export interface Mount {
  name: string;
  serve(routes: Routes): Promise<{ port: number; close(): Promise<void> }>;
}

// Room for header values that Node would refuse before anyone else sees them.
const SERVER_OPTIONS = { maxHeaderSize: 256 * 1024 };

// Before the Hono server puts its own in this place.
const NativeRequest = globalThis.Request;

export const mounts: readonly Mount[] = [
  ...(['Express 5', 'Express 4'] as const).flatMap((name): Mount[] => {
    const express = name === 'Express 5' ? express5 : express4;
    return [
      {
        name: `${name}, handler`,
        serve({ receiverFor }) {
          const app = express();
          app.post('/:endpoint', (req, res) => expressAdapter.webhookHandler(receiverFor(req.path))(req, res));
          return listenNode(app);
        },
      },
      {
        name: `${name}, middleware`,
        serve({ receiverFor, onRouted }) {
          const app = express();
          app.use((req, res, next) => expressAdapter.webhookMiddleware(receiverFor(req.path))(req, res, next));
          app.post('/:endpoint', (req, res) => {
            onRouted(req.path, req.webhook);
            res.sendStatus(200);
          });
          return listenNode(app);
        },
      },
    ];
  }),
  {
    name: 'Hono, handler',
    serve({ receiverFor }) {
      const app = new Hono();
      app.post('/:endpoint', (c) => honoAdapter.webhookHandler(receiverFor(c.req.path))(c));
      return listenFetch(app.fetch);
    },
  },
  {
    name: 'Hono, middleware',
    serve({ receiverFor, onRouted }) {
      const app = new Hono<{ Variables: { webhook: Delivery } }>();
      app.use((c, next) => honoAdapter.webhookMiddleware(receiverFor(c.req.path))(c, next));
      app.post('/:endpoint', (c) => {
        onRouted(c.req.path, c.var.webhook);
        return c.text('routed');
      });
      return listenFetch(app.fetch);
    },
  },
  {
    name: 'node:http, handler',
    serve: ({ receiverFor }) =>
      listenNode((req, res) => nodeAdapter.webhookHandler(receiverFor(req.url ?? ''))(req, res)),
  },
  {
    name: 'node:http, middleware',
    serve: ({ receiverFor, onRouted }) =>
      listenNode((req, res) =>
        nodeAdapter.webhookMiddleware(receiverFor(req.url ?? ''))(req, res, () => {
          onRouted(req.url ?? '', req.webhook);
          res.end();
        }),
      ),
  },
  {
    name: 'Fetch, handler',
    serve: ({ receiverFor }) =>
      listenNode(bridge((request) => fetchAdapter.webhookHandler(receiverFor(pathOf(request)))(request))),
  },
  {
    name: 'Fetch, middleware',
    serve: ({ receiverFor, onRouted }) =>
      listenNode(
        bridge((request) =>
          fetchAdapter.webhookMiddleware(receiverFor(pathOf(request)), (_, delivery) => {
            onRouted(pathOf(request), delivery);
            return new Response('routed');
          })(request),
        ),
      ),
  },
];

function pathOf(request: Request): string {
  return new URL(request.url).pathname;
}

/** A Fetch handler behind node:http, with the runtime's own Request. */
function bridge(handler: (request: Request) => Promise<Response>): RequestListener {
  return async (req, res) => {
    const headers = new Headers();
    for (let i = 0; i < req.rawHeaders.length; i += 2) {
      headers.append(req.rawHeaders[i] as string, req.rawHeaders[i + 1] as string);
    }
    const { method = 'GET', url = '/' } = req;
    const body = method === 'GET' || method === 'HEAD' ? null : Readable.toWeb(req);
    const request = new NativeRequest(new URL(url, 'http://receiver.test'), { method, headers, body, duplex: 'half' });
    const response = await handler(request);
    res.writeHead(response.status, Object.fromEntries(response.headers));
    res.end(Buffer.from(await response.arrayBuffer()));
  };
}

function listenNode(listener: RequestListener) {
  return listen(createServer(SERVER_OPTIONS, listener));
}

function listenFetch(fetch: (request: Request) => Response | Promise<Response>) {
  return listen(createAdaptorServer({ fetch, serverOptions: SERVER_OPTIONS }) as Server);
}

/** On a free port of the loopback interface. */
function listen(server: Server) {
  return new Promise<{ port: number; close(): Promise<void> }>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const close = () => new Promise<void>((closed) => server.close(() => closed()).closeAllConnections());
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}
