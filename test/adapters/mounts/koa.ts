import Koa3 from 'koa';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/koa';
import type { AppUnderTest } from 'service-webhooks/testing';
import { framework } from '../../integration/framework.js';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

type Parser = (options?: object) => Koa3.Middleware;

const Koa2 = framework<typeof Koa3>('koa2');
const bodyParser = framework<Parser>('koa-bodyparser');

function mountsOf(name: string, Koa: typeof Koa3): Mount<Listening>[] {
  const appBehind = ({ before }: AppUnderTest) => {
    const app = new Koa();
    app.silent = true; // it prints the errors of routes
    if (before !== 'nothing' && bodyParser) app.use(bodyParser());
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
      handler: (app) => listenNode(appBehind(app).use(webhookHandler(app.receiver)).callback()),
      middleware(app) {
        const routes = appBehind(app).use(webhookMiddleware(app.receiver));
        routes.use(async (ctx) => {
          ctx.body = 'routed';
          ctx.status = await app.route(ctx.state.webhook);
        });
        return listenNode(routes.callback());
      },
    },
    {
      rawBodyFix: /above app\.use\(bodyParser\(\)\)/,
      without: bodyParser ? {} : { parser: 'not installed', rawBody: 'not installed' },
    },
  );
}

export const mounts: readonly Mount<Listening>[] = [
  ...mountsOf('Koa 3', Koa3),
  ...(Koa2 ? mountsOf('Koa 2', Koa2) : []),
];
