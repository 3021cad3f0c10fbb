import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { StatusCode } from 'hono/utils/http-status';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/hono';
import type { AppUnderTest } from 'service-webhooks/testing';
import { listen, SERVER_OPTIONS } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

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

const answer = async (c: Context, status: Promise<number>) => {
  c.status((await status) as StatusCode);
  return c.body(null);
};

const { Request, Response } = Object.getOwnPropertyDescriptors(globalThis);

/** Its server puts its own `Request` and `Response` in the place of the global ones; other tests have this process too. */
export async function server(app: Hono, create = createAdaptorServer): Promise<Listening> {
  const { port, close } = await listen(create({ fetch: app.fetch, serverOptions: SERVER_OPTIONS }) as Server);
  return { port, close: () => close().finally(() => Object.defineProperties(globalThis, { Request, Response })) };
}

const routed = (app: AppUnderTest): Hono =>
  appBehind(app).all('/webhooks', webhookMiddleware(app.receiver), (c) =>
    answer(c, app.route(c.var.webhook, c.req.raw.signal)),
  ) as unknown as Hono;
const handled = (app: AppUnderTest) => appBehind(app).all('/webhooks', webhookHandler(app.receiver));
const rawBodyFix = /above whatever reads the body, .*await c\.req\.arrayBuffer\(\)/;

export const mounts: readonly Mount<Listening>[] = bothForms(
  'Hono',
  { handler: (app) => server(handled(app)), middleware: (app) => server(routed(app)) },
  { rawBodyFix },
);

export const calledMounts: readonly Mount[] = bothForms(
  'Hono without a server',
  { handler: (app) => ({ fetch: handled(app).fetch }), middleware: (app) => ({ fetch: routed(app).fetch }) },
  { rawBodyFix },
);
