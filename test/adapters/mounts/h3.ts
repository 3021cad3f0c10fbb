import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as h3v2 from 'h3';
import { toNodeHandler } from 'h3/node';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/h3';
import type { AppUnderTest } from 'service-webhooks-suites';
import { framework } from '../../integration/framework.js';
import { HAS_HTTP2, listenHttp2, listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { BY_FETCH, playOtherCode, toBody, UNKNOWN_ON_NODE } from './play-ending.js';

/** What is used of h3 1. */
interface H3v1 {
  createApp(options?: object): App;
  createRouter(): Router;
  defineEventHandler<Handler>(handler: Handler): Handler;
  eventHandler<Handler>(handler: Handler): Handler;
  toNodeListener(app: App): RequestListener;
  toWebHandler(app: App): (request: Request) => Promise<Response>;
  readBody(event: EventV1): Promise<unknown>;
  readRawBody(event: EventV1, encoding: false): Promise<unknown>;
  setResponseStatus(event: EventV1, status: number): void;
  createError(input: { statusCode: number }): Error;
}
type EventV1 = { node: { req: IncomingMessage; res: ServerResponse } };
type Router = { use(path: string, handler: unknown): Router };
type App = { use(handler: unknown): App };

const v1 = framework<H3v1>('h3v1');

function appOf2(underTest: AppUnderTest, handler: (event: h3v2.H3Event) => unknown): h3v2.H3 {
  const app = new h3v2.H3({ silent: true });
  app.use(async (event, next) => {
    const res = event.runtime?.node?.res;
    if (res) playOtherCode(underTest, res as ServerResponse);
    const { before } = underTest;
    if (before !== 'nothing') await h3v2.readBody(event);
    return next();
  });
  return app.all('/webhooks', handler);
}

const handler2 = (app: AppUnderTest) => appOf2(app, webhookHandler(app.receiver));

const middleware2 = (app: AppUnderTest) =>
  appOf2(
    app,
    webhookMiddleware(app.receiver, (event: h3v2.H3Event, delivery) => {
      const status = app.route(delivery, event.req.signal);
      if (app.ending === 'throws at once') throw new Error('the route throws at once');
      return status.then((status) => {
        if (app.ending === 'returns an error') return new h3v2.HTTPError({ status: 503 });
        if (app.ending === 'sends bytes') return new Response(toBody(app), { status });
        event.res.status = status;
        return app.ending ? toBody(app) : '';
      });
    }),
  );

function appOf1(h3: H3v1, underTest: AppUnderTest, handler: (event: EventV1) => unknown): App {
  const app = h3.createApp({ onError: () => {} });
  app.use(
    h3.eventHandler(async (event: EventV1) => {
      playOtherCode(underTest, event.node.res);
      const { before } = underTest;
      if (event.node.req.method !== 'POST') return;
      if (before === 'parser') await h3.readBody(event);
      if (before === 'rawBody') await h3.readRawBody(event, false);
    }),
  );
  return app.use(h3.createRouter().use('/webhooks', handler));
}

const handler1 = (h3: H3v1) => (app: AppUnderTest) => appOf1(h3, app, webhookHandler(app.receiver));

const middleware1 = (h3: H3v1) => (app: AppUnderTest) =>
  appOf1(
    h3,
    app,
    webhookMiddleware(app.receiver, (event: EventV1, delivery) => {
      const status = app.route(delivery);
      if (app.ending === 'throws at once') throw new Error('the route throws at once');
      return status.then((status) => {
        if (app.ending === 'returns an error') return h3.createError({ statusCode: 503 });
        h3.setResponseStatus(event, status);
        return app.ending ? toBody(app) : '';
      });
    }),
  );

function mountsOf1(h3: H3v1, name: string, listen: typeof listenNode): Mount<Listening>[] {
  const served = (appOf: (app: AppUnderTest) => App) => (app: AppUnderTest) => listen(h3.toNodeListener(appOf(app)));
  return bothForms(
    name,
    { handler: served(handler1(h3)), middleware: served(middleware1(h3)) },
    { endings: ON_NODE_ENDINGS, without: UNKNOWN_ON_NODE },
  );
}

/** Without a server of Node, as the presets of Nitro call it: with imitations of Node's request and response. */
function calledMountsOf1(h3: H3v1): Mount[] {
  const called = (appOf: (app: AppUnderTest) => App) => (app: AppUnderTest) => ({ fetch: h3.toWebHandler(appOf(app)) });
  return bothForms(
    'h3 1 without a server',
    { handler: called(handler1(h3)), middleware: called(middleware1(h3)) },
    {
      rawBodyFix,
      endings: BY_FETCH,
      without: { rawBody, hangUp: 'h3 1 imitates a response that never closes', ...UNKNOWN_ON_NODE },
    },
  );
}

const ON_NODE_ENDINGS = [...BY_FETCH, 'other code answers'] as const;

const rawBodyFix = /before readBody\(event\), .*readRawBody\(event, false\)/;
const rawBody = 'h3 2 keeps nothing of a body that was read';

function mountsOf2(name: string, listen: typeof listenNode): Mount<Listening>[] {
  return bothForms(
    name,
    {
      handler: (app) => listen(toNodeHandler(handler2(app)) as RequestListener),
      middleware: (app) => listen(toNodeHandler(middleware2(app)) as RequestListener),
    },
    {
      rawBodyFix,
      endings: ON_NODE_ENDINGS,
      without: { rawBody, ...UNKNOWN_ON_NODE },
    },
  );
}

export const mounts: readonly Mount<Listening>[] = [
  ...mountsOf2('h3 2', listenNode),
  ...(v1 ? mountsOf1(v1, 'h3 1', listenNode) : []),
];

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2
  ? []
  : [...mountsOf2('h3 2 with HTTP/2', listenHttp2), ...(v1 ? mountsOf1(v1, 'h3 1 with HTTP/2', listenHttp2) : [])];

export const calledMounts: readonly Mount[] = [
  ...bothForms(
    'h3 2 without a server',
    { handler: (app) => ({ fetch: handler2(app).fetch }), middleware: (app) => ({ fetch: middleware2(app).fetch }) },
    { rawBodyFix, endings: BY_FETCH, without: { rawBody } },
  ),
  ...(v1 ? calledMountsOf1(v1) : []),
];
