import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import Koa3 from 'koa';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/koa';
import type { AppUnderTest } from 'service-webhooks-suites';
import { HAS_HTTP2, listenHttp2, listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { ON_NODE, otherStatus, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

type Parser = (options?: object) => Koa3.Middleware;

// Neither has types of its own.
const require = createRequire(import.meta.url);
const Koa2: typeof Koa3 = require('koa2');
const bodyParser: Parser = require('koa-bodyparser');

function mountsOf(name: string, Koa: typeof Koa3, listen = listenNode): Mount<Listening>[] {
  const appBehind = ({ before }: AppUnderTest) => {
    const app = new Koa();
    app.silent = true; // it prints the errors of routes
    if (before !== 'nothing') app.use(bodyParser());
    // The parser keeps the text as rawBody; others do not.
    if (before === 'parser') {
      app.use(async (ctx, next) => {
        Object.assign(ctx.request, { rawBody: undefined });
        await next();
      });
    }
    return app;
  };
  return bothForms(
    name,
    {
      handler: (app) => listen(appBehind(app).use(webhookHandler(app.receiver)).callback() as RequestListener),
      middleware(app) {
        const routes = appBehind(app);
        routes.use((ctx, next) => {
          playOtherCode(app, ctx.res);
          return next();
        });
        routes.use(webhookMiddleware(app.receiver));
        routes.use(async (_ctx, next) => {
          await next();
          if (app.ending === 'calls next twice') await next();
        });
        routes.use((ctx) => play(app, ctx));
        return listen(routes.callback() as RequestListener);
      },
    },
    {
      rawBodyFix: /above app\.use\(bodyParser\(\)\)/,
      endings: [...ON_NODE, 'calls next twice'],
      without: UNKNOWN_ON_NODE,
    },
  );
}

function play(app: AppUnderTest, ctx: Koa3.Context): Promise<void> {
  const status = app.route(ctx.state.webhook);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then(async (status) => {
    if (app.ending === 'answers and throws') {
      ctx.res.writeHead(status).end(app.body());
      throw new Error('the route throws after its answer');
    }
    if (app.ending === 'answers twice') {
      ctx.res.writeHead(status).end();
      ctx.res.statusCode = otherStatus(status);
      return;
    }
    const body = app.ending ? app.body() : 'routed';
    ctx.body =
      typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body.buffer) : Readable.from(body);
    ctx.status = status;
  });
}

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2
  ? []
  : mountsOf('Koa 3 with HTTP/2', Koa3, listenHttp2);

export const mounts: readonly Mount<Listening>[] = [...mountsOf('Koa 3', Koa3), ...mountsOf('Koa 2', Koa2)];
