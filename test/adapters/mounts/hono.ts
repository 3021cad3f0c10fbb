import type { Server, ServerResponse } from 'node:http';
import { createServer as createHttp2Server, type Http2Server } from 'node:http2';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/hono';
import type { AppUnderTest } from 'service-webhooks-suites';
import { HAS_HTTP2, listen, SERVER_OPTIONS } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { BY_FETCH, playOtherCode, toBody, UNKNOWN_ON_NODE } from './play-ending.js';

function appBehind({ before }: AppUnderTest) {
  const app = new Hono();
  app.use(async (c, next) => {
    if (before === 'parser') await c.req.raw.json();
    if (before === 'rawBody') await c.req.arrayBuffer();
    await next();
  });
  app.onError((_, c) => c.text('an error of the app', 500)); // its own prints it
  return app;
}

const { Request, Response } = Object.getOwnPropertyDescriptors(globalThis);

/** Its server puts its own `Request` and `Response` in the place of the global ones; other tests have this process too. */
export async function server(app: Hono, create = createAdaptorServer): Promise<Listening> {
  return putBack(await listen(create({ fetch: app.fetch, serverOptions: SERVER_OPTIONS }) as Server));
}

function putBack({ close, ...listening }: Listening): Listening {
  return {
    ...listening,
    close: () => close().finally(() => Object.defineProperties(globalThis, { Request, Response })),
  };
}

function routed(app: AppUnderTest): Hono {
  const routes = appBehind(app);
  routes.use((c, next) => {
    const { outgoing } = (c.env ?? {}) as { outgoing?: ServerResponse };
    if (outgoing) playOtherCode(app, outgoing);
    return next();
  });
  routes.use('/webhooks', webhookMiddleware(app.receiver));
  routes.use(async (_, next) => {
    await next();
    if (app.ending === 'calls next twice') await next();
  });
  return routes.all('/webhooks', (c) => play(app, c));
}

function play(app: AppUnderTest, c: Context): Promise<Response> {
  const status = app.route(c.get('webhook'));
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((status) => {
    if (app.ending === 'returns an error') return new HTTPException(503).getResponse();
    if (app.ending) return c.body(toBody(app), status as ContentfulStatusCode);
    return c.body(null, status as StatusCode);
  });
}

const handled = (app: AppUnderTest) => appBehind(app).all('/webhooks', webhookHandler(app.receiver));
const rawBodyFix = /above any middleware that reads the body, .*await c\.req\.arrayBuffer\(\)/;

const listening = (listen: (app: Hono) => Promise<Listening>) => ({
  handler: (app: AppUnderTest) => listen(handled(app)),
  middleware: (app: AppUnderTest) => listen(routed(app)),
});
/** On Deno, @hono/node-server writes to a response that other code has ended. */
const OTHER_CODE = 'Deno' in globalThis ? [] : (['other code answers'] as const);
const endings = [...BY_FETCH, 'calls next twice', ...OTHER_CODE] as const;

export const mounts: readonly Mount<Listening>[] = bothForms('Hono', listening(server), {
  rawBodyFix,
  endings,
  without: UNKNOWN_ON_NODE,
});

const serverOfHttp2 = (app: Hono) =>
  listen(createAdaptorServer({ fetch: app.fetch, createServer: createHttp2Server }) as Http2Server).then(putBack);

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2
  ? []
  : bothForms('Hono with HTTP/2', listening(serverOfHttp2), {
      rawBodyFix,
      endings,
      without: UNKNOWN_ON_NODE,
    });

export const calledMounts: readonly Mount[] = bothForms(
  'Hono without a server',
  { handler: (app) => ({ fetch: handled(app).fetch }), middleware: (app) => ({ fetch: routed(app).fetch }) },
  { rawBodyFix, endings: [...BY_FETCH, 'calls next twice'] },
);
