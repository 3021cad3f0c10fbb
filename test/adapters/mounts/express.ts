import express5 from 'express';
import express4 from 'express4';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/express';
import type { AppUnderTest } from 'service-webhooks-suites';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { ON_NODE, playOnNode, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

function mountsOf(name: string, express: typeof express5): Mount<Listening>[] {
  const appBehind = ({ before }: AppUnderTest) => {
    const app = express();
    app.set('env', 'test'); // so that it does not print the errors of routes
    if (before === 'parser') app.use(express.json({ type: () => true }));
    if (before === 'rawBody')
      app.use(express.json({ verify: (req, _, bytes) => Object.assign(req, { rawBody: bytes }) }));
    return app;
  };
  return bothForms(
    name,
    {
      handler(app) {
        return listenNode(appBehind(app).all('/webhooks', webhookHandler(app.receiver)));
      },
      middleware(app) {
        const routes = appBehind(app);
        routes.use((_req, res, next) => {
          playOtherCode(app, res);
          next();
        });
        routes.use('/webhooks', webhookMiddleware(app.receiver));
        routes.use((_req, _res, next) => {
          if (app.ending === 'calls next twice') next();
          next();
        });
        routes.post('/webhooks', (req, res, next) => {
          playOnNode(app, res, req.webhook).catch(next); // Express 4 does not do it
        });
        return listenNode(routes);
      },
    },
    {
      rawBodyFix: /above app\.use\(express\.json\(\)\).*verify/,
      endings: [...ON_NODE, 'calls next twice'],
      without: { throws: 'Express keeps what a route throws for its own error handler', ...UNKNOWN_ON_NODE },
    },
  );
}

export const mounts: readonly Mount<Listening>[] = [
  ...mountsOf('Express 5', express5),
  ...mountsOf('Express 4', express4),
];
