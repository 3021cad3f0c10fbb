import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type {
  ALBHandler,
  APIGatewayProxyEventV2,
  APIGatewayProxyHandler,
  APIGatewayProxyHandlerV2,
  LambdaFunctionURLHandler,
} from 'aws-lambda';
import { Elysia } from 'elysia';
import express, { type Request as ExpressRequest, type RequestHandler } from 'express';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { defineHandler, H3, type H3Event } from 'h3';
import { Hono } from 'hono';
import Koa from 'koa';
import {
  createReceiver,
  type Delivery,
  type DeliveryQueue,
  type EndpointOptions,
  type EventOf,
  type HandlerContext,
  type MiddlewareOptions,
  type Outcome,
  type Receiver,
} from 'service-webhooks';
import * as lambdaAdapter from 'service-webhooks/aws-lambda';
import type * as azureAdapter from 'service-webhooks/azure-functions';
import * as elysiaAdapter from 'service-webhooks/elysia';
import * as expressAdapter from 'service-webhooks/express';
import * as fastifyAdapter from 'service-webhooks/fastify';
import * as fetchAdapter from 'service-webhooks/fetch';
import type * as functionsAdapter from 'service-webhooks/google-cloud-functions';
import * as h3Adapter from 'service-webhooks/h3';
import * as honoAdapter from 'service-webhooks/hono';
import * as koaAdapter from 'service-webhooks/koa';
import type * as nestAdapter from 'service-webhooks/nest';
import * as nextAdapter from 'service-webhooks/next';
import * as nextPagesAdapter from 'service-webhooks/next-pages';
import * as nodeAdapter from 'service-webhooks/node';
import { describe, expectTypeOf, it } from 'vitest';

const options = { secret: 'secret' };
const endpoint = { ...options, on: {} };
const receiver = createReceiver(endpoint);

type Adapters =
  | typeof azureAdapter
  | typeof elysiaAdapter
  | typeof expressAdapter
  | typeof fastifyAdapter
  | typeof fetchAdapter
  | typeof functionsAdapter
  | typeof h3Adapter
  | typeof honoAdapter
  | typeof koaAdapter
  | typeof lambdaAdapter
  | typeof nestAdapter
  | typeof nextAdapter
  | typeof nextPagesAdapter
  | typeof nodeAdapter;

describe('every adapter', () => {
  it('takes a receiver, or the options of an endpoint or a middleware', () => {
    for (const adapter of [expressAdapter, honoAdapter, koaAdapter, nodeAdapter]) {
      adapter.webhookHandler(receiver);
      adapter.webhookHandler(endpoint);
      adapter.webhookMiddleware(receiver);
      adapter.webhookMiddleware(options);
    }
  });

  it('takes a value that may be a receiver or options', () => {
    const either = receiver as Receiver | EndpointOptions;
    expressAdapter.webhookHandler(either);
    fetchAdapter.webhookHandler(either);
  });

  it('takes a queue instead of handlers, but not both', () => {
    const queue = {} as DeliveryQueue;
    expressAdapter.webhookHandler({ ...options, queue });
    // @ts-expect-error -- the handlers belong to the worker of the queue
    expressAdapter.webhookHandler({ ...endpoint, queue });
  });

  it('types the handlers, also where the secret comes from other options', () => {
    expressAdapter.webhookHandler({
      ...options,
      dedupe: false,
      on: { 'stt.completed': (event) => expectTypeOf(event).toEqualTypeOf<EventOf<'stt.completed'>>() },
      observe: (outcome) => expectTypeOf(outcome).toEqualTypeOf<Outcome>(),
    });
    expressAdapter.webhookMiddleware({ ...options, dedupe: false });
  });

  it('needs handlers for an endpoint, and has none for a middleware', () => {
    // @ts-expect-error -- every event would be acknowledged and lost
    expressAdapter.webhookHandler(options);
    // @ts-expect-error -- the route handles the event
    expressAdapter.webhookMiddleware(endpoint);
    // @ts-expect-error -- only the route can answer
    expressAdapter.webhookMiddleware({ ...options, deadlineMs: 1_000 });
    // @ts-expect-error -- an option that is misspelt
    expressAdapter.webhookHandler({ secret: 'secret', on: {}, handlers: {} });
    // @ts-expect-error -- an event type that is misspelt
    expressAdapter.webhookHandler({ secret: 'secret', on: { 'stt.complete': () => {} } });
  });

  it('has exactly the two names', () => {
    expectTypeOf<keyof typeof expressAdapter>().toEqualTypeOf<'webhookHandler' | 'webhookMiddleware'>();
    type Names<Adapter> = Adapter extends unknown ? [keyof Adapter] : never;
    expectTypeOf<Names<Adapters>>().toEqualTypeOf<[keyof typeof expressAdapter]>();
  });

  it('has one signature for each name', () => {
    type Handler<Adapter> = Adapter extends Adapters ? [Parameters<Adapter['webhookHandler']>[0]] : never;
    type Middleware<Adapter> = Adapter extends Adapters ? [Parameters<Adapter['webhookMiddleware']>[0]] : never;
    expectTypeOf<Handler<Adapters>>().toEqualTypeOf<[Receiver | EndpointOptions]>();
    expectTypeOf<Middleware<Adapters>>().toEqualTypeOf<[Receiver | MiddlewareOptions]>();
  });
});

describe('express', () => {
  it('takes the handler and the middleware as its own', () => {
    expectTypeOf(expressAdapter.webhookHandler).returns.toExtend<RequestHandler>();
    expectTypeOf(expressAdapter.webhookMiddleware).returns.toExtend<RequestHandler>();
    const app = express();
    app.post('/handler', expressAdapter.webhookHandler(endpoint));
    app.use('/middleware', expressAdapter.webhookMiddleware(options));
  });

  it('types req.webhook on every request, and says that it may be missing', () => {
    express().post('/webhooks', expressAdapter.webhookMiddleware(options), (req, res) => {
      expectTypeOf(req.webhook).toEqualTypeOf<Delivery | undefined>();
      res.json(req.webhook?.event.id);
    });
    expectTypeOf<ExpressRequest['webhook']>().toEqualTypeOf<Delivery | undefined>();
    // By the adapter of Express itself: its requests are also Node's, which another adapter types.
    expectTypeOf<Express.Request['webhook']>().toEqualTypeOf<Delivery | undefined>();
  });

  it('leaves the types of the request body and parameters alone', () => {
    express().post('/webhooks/:tenant', expressAdapter.webhookMiddleware(options), (req) => {
      expectTypeOf(req.params.tenant).toBeString();
    });
  });
});

describe('fastify', () => {
  it('gives a plugin that every instance registers', () => {
    fastify().register(fastifyAdapter.webhookHandler(endpoint), { prefix: '/webhooks' });
    fastify({ logger: true, http2: true }).register(fastifyAdapter.webhookHandler(endpoint));
  });

  it('types request.webhook in the route, without any declaration', () => {
    const plugin = fastifyAdapter.webhookMiddleware(options, async (request, reply) => {
      expectTypeOf(request.webhook).toEqualTypeOf<Delivery>();
      expectTypeOf(request).toExtend<FastifyRequest>();
      expectTypeOf(reply).toEqualTypeOf<FastifyReply>();
      return { id: request.webhook.event.id };
    });
    fastify().register(plugin, { prefix: '/webhooks' });
    // @ts-expect-error -- without a route nobody makes the response
    fastifyAdapter.webhookMiddleware(options);
  });
});

describe('koa', () => {
  it('takes the handler and the middleware as its own', () => {
    expectTypeOf(koaAdapter.webhookHandler).returns.toExtend<Koa.Middleware>();
    expectTypeOf(koaAdapter.webhookMiddleware).returns.toExtend<Koa.Middleware>();
    new Koa().use(koaAdapter.webhookHandler(endpoint));
  });

  it('types ctx.state.webhook, and says that it may be missing', () => {
    new Koa().use(koaAdapter.webhookMiddleware(options)).use((ctx) => {
      expectTypeOf(ctx.state.webhook).toEqualTypeOf<Delivery | undefined>();
      ctx.body = ctx.state.webhook?.event.id;
    });
  });
});

describe('aws-lambda', () => {
  it('gives a handler for each kind of event, as @types/aws-lambda has them', () => {
    const handler = lambdaAdapter.webhookHandler(endpoint);
    expectTypeOf(handler).toExtend<APIGatewayProxyHandler>();
    expectTypeOf(handler).toExtend<APIGatewayProxyHandlerV2>();
    expectTypeOf(handler).toExtend<ALBHandler>();
    expectTypeOf(handler).toExtend<LambdaFunctionURLHandler>();
  });

  it('hands the route the event, the delivery and the context', () => {
    const handler: APIGatewayProxyHandlerV2 = lambdaAdapter.webhookMiddleware(
      options,
      async (event: APIGatewayProxyEventV2, delivery, context) => {
        expectTypeOf(event).toEqualTypeOf<APIGatewayProxyEventV2>();
        expectTypeOf(delivery).toEqualTypeOf<Delivery>();
        expectTypeOf(context).toEqualTypeOf<HandlerContext>();
        return { statusCode: 204 };
      },
    );
    expectTypeOf(handler).toBeFunction();
  });
});

describe('h3', () => {
  it('takes the handler and the middleware for its own, with the event typed', () => {
    new H3().post('/handler', h3Adapter.webhookHandler(endpoint)).post(
      '/middleware',
      h3Adapter.webhookMiddleware(options, (event: H3Event, delivery, context) => {
        expectTypeOf(delivery).toEqualTypeOf<Delivery>();
        expectTypeOf(context).toEqualTypeOf<HandlerContext>();
        return { path: event.url.pathname };
      }),
    );
    defineHandler(h3Adapter.webhookHandler(endpoint));
    defineHandler(
      h3Adapter.webhookMiddleware(options, (event, delivery) => {
        expectTypeOf(event).toExtend<h3Adapter.H3EventLike>();
        return delivery.event.id;
      }),
    );
  });
});

describe('elysia', () => {
  it('takes the handler and the middleware for its own', () => {
    new Elysia().post('/handler', elysiaAdapter.webhookHandler(endpoint), { parse: 'none' }).post(
      '/middleware',
      elysiaAdapter.webhookMiddleware(options, ({ request, set }, delivery) => {
        expectTypeOf(request).toEqualTypeOf<Request>();
        expectTypeOf(delivery).toEqualTypeOf<Delivery>();
        set.status = 202;
        return delivery.event.id;
      }),
      { parse: 'none' },
    );
  });
});

describe('node', () => {
  it('gives a listener for createServer', () => {
    expectTypeOf(nodeAdapter.webhookHandler).returns.toExtend<RequestListener>();
    expectTypeOf(nodeAdapter.webhookHandler).returns.returns.toEqualTypeOf<Promise<void>>();
  });

  it('gives connect-style middleware', () => {
    type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;
    expectTypeOf(nodeAdapter.webhookMiddleware).returns.toExtend<Middleware>();
  });

  it('types req.webhook', () => {
    expectTypeOf<IncomingMessage['webhook']>().toEqualTypeOf<Delivery | undefined>();
  });
});

describe('next', () => {
  it('gives route handlers for the App Router', () => {
    type RouteHandler = (request: Request, context: { params: Promise<object> }) => Response | Promise<Response>;
    expectTypeOf(nextAdapter.webhookHandler).returns.toExtend<RouteHandler>();
    expectTypeOf(nextAdapter.webhookMiddleware).returns.toExtend<RouteHandler>();
  });

  it('gives API routes for the Pages Router, and hands the route what Next has put on them', () => {
    type ApiRequest = IncomingMessage & { query: object; cookies: object; body: unknown };
    type ApiResponse = ServerResponse & { status(code: number): ApiResponse };
    expectTypeOf(nextPagesAdapter.webhookHandler).returns.toExtend<(req: ApiRequest, res: ApiResponse) => unknown>();
    nextPagesAdapter.webhookMiddleware(options, (req: ApiRequest, res: ApiResponse, delivery) => {
      expectTypeOf(delivery).toEqualTypeOf<Delivery>();
      res.status(200).end(req.query);
    });
    // @ts-expect-error -- without a route nobody makes the response
    nextPagesAdapter.webhookMiddleware(options);
  });
});

describe('hono', () => {
  it('types c.var.webhook behind the middleware, without any declaration', () => {
    new Hono().post('/webhooks', honoAdapter.webhookMiddleware(options), (c) => {
      expectTypeOf(c.var.webhook).toEqualTypeOf<Delivery>();
      expectTypeOf(c.get('webhook')).toEqualTypeOf<Delivery>();
      return c.json(c.var.webhook.event.id);
    });
  });

  it('knows no c.var.webhook without it', () => {
    new Hono().post('/webhooks', (c) => {
      // @ts-expect-error -- nothing has put it there
      return c.json(c.var.webhook.event.id);
    });
  });

  it('takes the handler in an app with variables of its own', () => {
    new Hono<{ Variables: { user: string } }>()
      .post('/handler', honoAdapter.webhookHandler(endpoint))
      .post('/middleware', honoAdapter.webhookMiddleware(options), (c) => c.json([c.var.user, c.var.webhook.event.id]));
  });
});

describe('fetch', () => {
  type Fetch = (request: Request) => Promise<Response>;

  it('gives a function from Request to Response', () => {
    expectTypeOf(fetchAdapter.webhookHandler).returns.toEqualTypeOf<Fetch>();
    expectTypeOf(fetchAdapter.webhookMiddleware).returns.toEqualTypeOf<Fetch>();
  });

  it('hands the route the request, the delivery and the context', () => {
    fetchAdapter.webhookMiddleware(options, (request, delivery, context) => {
      expectTypeOf(request).toEqualTypeOf<Request>();
      expectTypeOf(delivery).toEqualTypeOf<Delivery>();
      expectTypeOf(context).toEqualTypeOf<HandlerContext>();
      return Response.json(delivery.event.id);
    });
    // @ts-expect-error -- without a route nobody makes the response
    fetchAdapter.webhookMiddleware(options);
  });
});
