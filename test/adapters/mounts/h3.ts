import type { RequestListener, ServerResponse } from 'node:http';
import * as h3v2 from 'h3';
import { toNodeHandler } from 'h3/node';
import * as h3v1 from 'h3v1';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/h3';
import type { AppUnderTest } from 'service-webhooks-suites';
import { HAS_HTTP2, listenHttp2, listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { BY_FETCH, playOtherCode, toBody, UNKNOWN_ON_NODE } from './play-ending.js';

type EventV1 = h3v1.H3Event;

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

function appOf1(underTest: AppUnderTest, handler: (event: EventV1) => unknown): h3v1.App {
  const app = h3v1.createApp({ onError: () => {} });
  app.use(
    h3v1.eventHandler(async (event: EventV1) => {
      playOtherCode(underTest, event.node.res);
      const { before } = underTest;
      if (event.node.req.method !== 'POST') return;
      if (before === 'parser') await h3v1.readBody(event);
      if (before === 'rawBody') await h3v1.readRawBody(event, false);
    }),
  );
  return app.use(h3v1.createRouter().use('/webhooks', handler));
}

const handler1 = (app: AppUnderTest) => appOf1(app, webhookHandler(app.receiver));

const middleware1 = (app: AppUnderTest) =>
  appOf1(
    app,
    webhookMiddleware(app.receiver, (event: EventV1, delivery) => {
      const status = app.route(delivery);
      if (app.ending === 'throws at once') throw new Error('the route throws at once');
      return status.then((status) => {
        if (app.ending === 'returns an error') return h3v1.createError({ statusCode: 503 });
        h3v1.setResponseStatus(event, status);
        return app.ending ? toBody(app) : '';
      });
    }),
  );

function mountsOf1(name: string, listen: typeof listenNode): Mount<Listening>[] {
  const served = (appOf: (app: AppUnderTest) => h3v1.App) => (app: AppUnderTest) =>
    listen(h3v1.toNodeListener(appOf(app)));
  return bothForms(
    name,
    { handler: served(handler1), middleware: served(middleware1) },
    { endings: ON_NODE_ENDINGS, without: UNKNOWN_ON_NODE },
  );
}

/** Without a server of Node, as the presets of Nitro call it: with imitations of Node's request and response. */
function calledMountsOf1(): Mount[] {
  const called = (appOf: (app: AppUnderTest) => h3v1.App) => (app: AppUnderTest) => ({
    fetch: h3v1.toWebHandler(appOf(app)),
  });
  return bothForms(
    'h3 1 without a server',
    { handler: called(handler1), middleware: called(middleware1) },
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

export const mounts: readonly Mount<Listening>[] = [...mountsOf2('h3 2', listenNode), ...mountsOf1('h3 1', listenNode)];

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2
  ? []
  : [...mountsOf2('h3 2 with HTTP/2', listenHttp2), ...mountsOf1('h3 1 with HTTP/2', listenHttp2)];

export const calledMounts: readonly Mount[] = [
  ...bothForms(
    'h3 2 without a server',
    { handler: (app) => ({ fetch: handler2(app).fetch }), middleware: (app) => ({ fetch: middleware2(app).fetch }) },
    { rawBodyFix, endings: BY_FETCH, without: { rawBody } },
  ),
  ...calledMountsOf1(),
];
