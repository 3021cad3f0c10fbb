import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import * as h3v2 from 'h3';
import { toNodeHandler } from 'h3/node';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/h3';
import type { AppUnderTest } from 'service-webhooks/testing';
import { framework } from '../../integration/framework.js';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

/** What is used of h3 1. */
interface H3v1 {
  createApp(options?: object): App;
  createRouter(): Router;
  defineEventHandler<Handler>(handler: Handler): Handler;
  eventHandler<Handler>(handler: Handler): Handler;
  toNodeListener(app: App): RequestListener;
  readBody(event: EventV1): Promise<unknown>;
  readRawBody(event: EventV1, encoding: false): Promise<unknown>;
  setResponseStatus(event: EventV1, status: number): void;
}
type EventV1 = { node: { req: IncomingMessage; res: ServerResponse } };
type Router = { use(path: string, handler: unknown): Router };
type App = { use(handler: unknown): App };

const v1 = framework<H3v1>('h3v1');

function appOf2({ before }: AppUnderTest, handler: (event: h3v2.H3Event) => unknown): h3v2.H3 {
  const app = new h3v2.H3({ silent: true });
  app.use(async (event, next) => {
    if (before !== 'nothing') await h3v2.readBody(event);
    return next();
  });
  return app.all('/webhooks', handler);
}

const handler2 = (app: AppUnderTest) => appOf2(app, webhookHandler(app.receiver));

const middleware2 = (app: AppUnderTest) =>
  appOf2(
    app,
    webhookMiddleware(app.receiver, async (event: h3v2.H3Event, delivery) => {
      event.res.status = await app.route(delivery, event.req.signal);
      return '';
    }),
  );

function mountsOf1(h3: H3v1): Mount<Listening>[] {
  const listen = ({ before }: AppUnderTest, handler: (event: EventV1) => unknown) => {
    const app = h3.createApp({ onError: () => {} });
    app.use(
      h3.eventHandler(async (event: EventV1) => {
        if (event.node.req.method !== 'POST') return;
        if (before === 'parser') await h3.readBody(event);
        if (before === 'rawBody') await h3.readRawBody(event, false);
      }),
    );
    app.use(h3.createRouter().use('/webhooks', handler));
    return listenNode(h3.toNodeListener(app));
  };
  return bothForms(
    'h3 1',
    {
      handler: (app) => listen(app, webhookHandler(app.receiver)),
      middleware: (app) =>
        listen(
          app,
          webhookMiddleware(app.receiver, async (event: EventV1, delivery) => {
            const sender = new AbortController();
            event.node.res.once('close', () => sender.abort());
            h3.setResponseStatus(event, await app.route(delivery, sender.signal));
            return '';
          }),
        ),
    },
    {},
  );
}

const rest = {
  rawBodyFix: /before readBody\(event\), .*readRawBody\(event, false\)/,
  without: { rawBody: 'h3 2 keeps nothing of a body that was read' },
};

export const mounts: readonly Mount<Listening>[] = [
  ...bothForms(
    'h3 2',
    {
      handler: (app) => listenNode(toNodeHandler(handler2(app)) as RequestListener),
      middleware: (app) => listenNode(toNodeHandler(middleware2(app)) as RequestListener),
    },
    rest,
  ),
  ...(v1 ? mountsOf1(v1) : []),
];

export const calledMounts: readonly Mount[] = bothForms(
  'h3 2 without a server',
  { handler: (app) => ({ fetch: handler2(app).fetch }), middleware: (app) => ({ fetch: middleware2(app).fetch }) },
  rest,
);
