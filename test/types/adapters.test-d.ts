import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import express, { type Request as ExpressRequest, type RequestHandler } from 'express';
import { Hono } from 'hono';
import type { Delivery, HandlerContext, Receiver, ReceiverOptions } from 'service-webhooks';
import * as expressAdapter from 'service-webhooks/express';
import * as fetchAdapter from 'service-webhooks/fetch';
import * as honoAdapter from 'service-webhooks/hono';
import * as nodeAdapter from 'service-webhooks/node';
import { describe, expectTypeOf, it } from 'vitest';

const options: ReceiverOptions = { secret: 'secret' };

describe('every adapter', () => {
  it('takes a receiver or the options of one', () => {
    type Input = Receiver | ReceiverOptions;
    for (const adapter of [expressAdapter, honoAdapter, nodeAdapter]) {
      expectTypeOf(adapter.webhookHandler).parameters.toEqualTypeOf<[receiverOrOptions: Input]>();
      expectTypeOf(adapter.webhookMiddleware).parameters.toEqualTypeOf<[receiverOrOptions: Input]>();
    }
    expectTypeOf(fetchAdapter.webhookHandler).parameters.toEqualTypeOf<[receiverOrOptions: Input]>();
    expectTypeOf(fetchAdapter.webhookMiddleware).parameter(0).toEqualTypeOf<Input>();
  });

  it('has exactly the two names', () => {
    expectTypeOf<keyof typeof expressAdapter>().toEqualTypeOf<'webhookHandler' | 'webhookMiddleware'>();
    expectTypeOf<keyof typeof fetchAdapter>().toEqualTypeOf<keyof typeof expressAdapter>();
    expectTypeOf<keyof typeof honoAdapter>().toEqualTypeOf<keyof typeof expressAdapter>();
    expectTypeOf<keyof typeof nodeAdapter>().toEqualTypeOf<keyof typeof expressAdapter>();
  });
});

describe('express', () => {
  it('takes the handler and the middleware as its own', () => {
    expectTypeOf(expressAdapter.webhookHandler).returns.toExtend<RequestHandler>();
    expectTypeOf(expressAdapter.webhookMiddleware).returns.toExtend<RequestHandler>();
    const app = express();
    app.post('/handler', expressAdapter.webhookHandler(options));
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
      .post('/handler', honoAdapter.webhookHandler(options))
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
