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
import * as nestAdapter from 'service-webhooks/nest';
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
  | Omit<typeof nestAdapter, 'WebhooksModule' | 'getReceiverToken'>
  | typeof nextAdapter
  | typeof nextPagesAdapter
  | typeof nodeAdapter;

describe('every adapter', () => {
  it('a receiver or options are accepted', () => {
    for (const adapter of [expressAdapter, honoAdapter, koaAdapter, nodeAdapter]) {
      adapter.webhookHandler(receiver);
      adapter.webhookHandler(endpoint);
      adapter.webhookMiddleware(receiver);
      adapter.webhookMiddleware(options);
    }
  });

  it('a union of receiver and options is accepted', () => {
    const either = receiver as Receiver | EndpointOptions;
    expressAdapter.webhookHandler(either);
    fetchAdapter.webhookHandler(either);
  });

  it('a queue stands in place of handlers, but not with them', () => {
    const queue = {} as DeliveryQueue;
    expressAdapter.webhookHandler({ ...options, queue });
    // @ts-expect-error -- the handlers belong to the worker of the queue
    expressAdapter.webhookHandler({ ...endpoint, queue });
  });

  it('handlers have types where the secret comes from a spread', () => {
    expressAdapter.webhookHandler({
      ...options,
      dedupe: false,
      on: { 'stt.completed': (event) => expectTypeOf(event).toEqualTypeOf<EventOf<'stt.completed'>>() },
      observe: (outcome) => expectTypeOf(outcome).toEqualTypeOf<Outcome>(),
    });
    expressAdapter.webhookMiddleware({ ...options, dedupe: false });
  });

  it('an endpoint needs handlers, and a middleware accepts none', () => {
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

  it('webhookHandler and webhookMiddleware are the only exports', () => {
    expectTypeOf<keyof typeof expressAdapter>().toEqualTypeOf<'webhookHandler' | 'webhookMiddleware'>();
    type Names<Adapter> = Adapter extends unknown ? [keyof Adapter] : never;
    expectTypeOf<Names<Adapters>>().toEqualTypeOf<[keyof typeof expressAdapter]>();
  });

  it('both functions have the same first parameter everywhere', () => {
    type Handler<Adapter> = Adapter extends Adapters ? [Parameters<Adapter['webhookHandler']>[0]] : never;
    type Middleware<Adapter> = Adapter extends Adapters ? [Parameters<Adapter['webhookMiddleware']>[0]] : never;
    expectTypeOf<Handler<Adapters>>().toEqualTypeOf<[Receiver | EndpointOptions]>();
    expectTypeOf<Middleware<Adapters>>().toEqualTypeOf<[Receiver | MiddlewareOptions]>();
  });
});

describe('express', () => {
  it('both functions are middleware of the framework', () => {
    expectTypeOf(expressAdapter.webhookHandler).returns.toExtend<RequestHandler>();
    expectTypeOf(expressAdapter.webhookMiddleware).returns.toExtend<RequestHandler>();
    const app = express();
    app.post('/handler', expressAdapter.webhookHandler(endpoint));
    app.use('/middleware', expressAdapter.webhookMiddleware(options));
  });

  it('req.webhook may be undefined on every request', () => {
    express().post('/webhooks', expressAdapter.webhookMiddleware(options), (req, res) => {
      expectTypeOf(req.webhook).toEqualTypeOf<Delivery | undefined>();
      res.json(req.webhook?.event.id);
    });
    expectTypeOf<ExpressRequest['webhook']>().toEqualTypeOf<Delivery | undefined>();
    // By the adapter of Express itself: its requests are also Node's, which another adapter types.
    expectTypeOf<Express.Request['webhook']>().toEqualTypeOf<Delivery | undefined>();
  });

  it('the types of the route parameters are unchanged', () => {
    express().post('/webhooks/:tenant', expressAdapter.webhookMiddleware(options), (req) => {
      expectTypeOf(req.params.tenant).toBeString();
    });
  });
});

describe('nest', () => {
  class Config {
    getOrThrow<T>(_name: string): Exclude<T, undefined> {
      return undefined as never;
    }
  }
  abstract class Clips {
    abstract save(clipId: string): void;
  }

  it('useFactory gets what inject names, and its handlers have types', () => {
    nestAdapter.WebhooksModule.forRootAsync({
      inject: [Config, Clips, 'A_TOKEN'],
      useFactory: (config, clips, token) => {
        expectTypeOf(config).toEqualTypeOf<Config>();
        expectTypeOf(clips).toEqualTypeOf<Clips>();
        expectTypeOf(token).toBeAny();
        return {
          secret: config.getOrThrow('WEBHOOK_SECRET'),
          on: {
            'generation.completed': (event) => {
              expectTypeOf(event).toEqualTypeOf<EventOf<'generation.completed'>>();
              clips.save(event.data.clipId);
            },
          },
        };
      },
    });
    nestAdapter.WebhooksModule.forRootAsync({
      inject: [Config, 'A_TOKEN'],
      useFactory: async (config: Config, token: Date) => ({
        secret: config.getOrThrow<string>('WEBHOOK_SECRET'),
        on: { 'stt.completed': (event) => expectTypeOf(event).toEqualTypeOf<EventOf<'stt.completed'>>() },
        silentAfterMs: token.getTime(),
      }),
    });
  });

  it('useFactory may return a receiver, and forRoot accepts both', () => {
    nestAdapter.WebhooksModule.forRootAsync({ useFactory: () => receiver, path: 'webhooks' });
    nestAdapter.WebhooksModule.forRoot(receiver);
    nestAdapter.WebhooksModule.forRoot(endpoint, { path: 'webhooks' });
  });

  it('useFactory must return options with handlers', () => {
    // @ts-expect-error -- parentheses around the object are missing
    nestAdapter.WebhooksModule.forRootAsync({ useFactory: () => {} });
    // @ts-expect-error -- every event would be acknowledged and lost
    nestAdapter.WebhooksModule.forRootAsync({ useFactory: () => options });
  });
});

describe('fastify', () => {
  it('every instance registers the plugin', () => {
    fastify().register(fastifyAdapter.webhookHandler(endpoint), { prefix: '/webhooks' });
    fastify({ logger: true, http2: true }).register(fastifyAdapter.webhookHandler(endpoint));
  });

  it('request.webhook is a delivery in the route', () => {
    const plugin = fastifyAdapter.webhookMiddleware(options, async (request, reply) => {
      expectTypeOf(request.webhook).toEqualTypeOf<Delivery>();
      expectTypeOf(request).toExtend<FastifyRequest>();
      expectTypeOf(reply).toEqualTypeOf<FastifyReply>();
      return { id: request.webhook.event.id };
    });
    fastify().register(plugin, { prefix: '/webhooks' });
    // @ts-expect-error -- without a route nothing makes the response
    fastifyAdapter.webhookMiddleware(options);
  });
});

describe('koa', () => {
  it('both functions are middleware of the framework', () => {
    expectTypeOf(koaAdapter.webhookHandler).returns.toExtend<Koa.Middleware>();
    expectTypeOf(koaAdapter.webhookMiddleware).returns.toExtend<Koa.Middleware>();
    new Koa().use(koaAdapter.webhookHandler(endpoint));
  });

  it('ctx.state.webhook may be undefined', () => {
    new Koa().use(koaAdapter.webhookMiddleware(options)).use((ctx) => {
      expectTypeOf(ctx.state.webhook).toEqualTypeOf<Delivery | undefined>();
      ctx.body = ctx.state.webhook?.event.id;
    });
  });
});

describe('aws-lambda', () => {
  it('the handler fits each kind of event of @types/aws-lambda', () => {
    const handler = lambdaAdapter.webhookHandler(endpoint);
    expectTypeOf(handler).toExtend<APIGatewayProxyHandler>();
    expectTypeOf(handler).toExtend<APIGatewayProxyHandlerV2>();
    expectTypeOf(handler).toExtend<ALBHandler>();
    expectTypeOf(handler).toExtend<LambdaFunctionURLHandler>();
  });

  it('the route gets the event, the delivery and the context', () => {
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
  it('both functions fit post() and defineHandler()', () => {
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
  it('both functions fit post()', () => {
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
  it('webhookHandler returns a listener for createServer', () => {
    expectTypeOf(nodeAdapter.webhookHandler).returns.toExtend<RequestListener>();
    expectTypeOf(nodeAdapter.webhookHandler).returns.returns.toEqualTypeOf<Promise<void>>();
  });

  it('webhookMiddleware returns connect-style middleware', () => {
    type Middleware = (req: IncomingMessage, res: ServerResponse, next: (error?: unknown) => void) => void;
    expectTypeOf(nodeAdapter.webhookMiddleware).returns.toExtend<Middleware>();
  });

  it('req.webhook may be undefined', () => {
    expectTypeOf<IncomingMessage['webhook']>().toEqualTypeOf<Delivery | undefined>();
  });
});

describe('next', () => {
  it('the App Router accepts both functions', () => {
    type RouteHandler = (request: Request, context: { params: Promise<object> }) => Response | Promise<Response>;
    expectTypeOf(nextAdapter.webhookHandler).returns.toExtend<RouteHandler>();
    expectTypeOf(nextAdapter.webhookMiddleware).returns.toExtend<RouteHandler>();
  });

  it('the Pages Router accepts both functions and its own request types', () => {
    type ApiRequest = IncomingMessage & { query: object; cookies: object; body: unknown };
    type ApiResponse = ServerResponse & { status(code: number): ApiResponse };
    expectTypeOf(nextPagesAdapter.webhookHandler).returns.toExtend<(req: ApiRequest, res: ApiResponse) => unknown>();
    nextPagesAdapter.webhookMiddleware(options, (req: ApiRequest, res: ApiResponse, delivery) => {
      expectTypeOf(delivery).toEqualTypeOf<Delivery>();
      res.status(200).end(req.query);
    });
    // @ts-expect-error -- without a route nothing makes the response
    nextPagesAdapter.webhookMiddleware(options);
  });
});

describe('hono', () => {
  it('c.var.webhook is a delivery behind the middleware', () => {
    new Hono().post('/webhooks', honoAdapter.webhookMiddleware(options), (c) => {
      expectTypeOf(c.var.webhook).toEqualTypeOf<Delivery>();
      expectTypeOf(c.get('webhook')).toEqualTypeOf<Delivery>();
      return c.json(c.var.webhook.event.id);
    });
  });

  it('c.var.webhook does not exist without the middleware', () => {
    new Hono().post('/webhooks', (c) => {
      // @ts-expect-error -- nothing has put it there
      return c.json(c.var.webhook.event.id);
    });
  });

  it('an app may have variables of its own', () => {
    new Hono<{ Variables: { user: string } }>()
      .post('/handler', honoAdapter.webhookHandler(endpoint))
      .post('/middleware', honoAdapter.webhookMiddleware(options), (c) => c.json([c.var.user, c.var.webhook.event.id]));
  });
});

describe('fetch', () => {
  type Fetch = (request: Request) => Promise<Response>;

  it('both functions return a function from Request to Response', () => {
    expectTypeOf(fetchAdapter.webhookHandler).returns.toEqualTypeOf<Fetch>();
    expectTypeOf(fetchAdapter.webhookMiddleware).returns.toEqualTypeOf<Fetch>();
  });

  it('the route gets the request, the delivery and the context', () => {
    fetchAdapter.webhookMiddleware(options, (request, delivery, context) => {
      expectTypeOf(request).toEqualTypeOf<Request>();
      expectTypeOf(delivery).toEqualTypeOf<Delivery>();
      expectTypeOf(context).toEqualTypeOf<HandlerContext>();
      return Response.json(delivery.event.id);
    });
    // @ts-expect-error -- without a route nothing makes the response
    fetchAdapter.webhookMiddleware(options);
  });
});
