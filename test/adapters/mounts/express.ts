import express5 from 'express';
import express4 from 'express4';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/express';
import type { AppUnderTest } from 'service-webhooks/testing';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

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
        const routes = appBehind(app).use('/webhooks', webhookMiddleware(app.receiver));
        routes.post('/webhooks', async (req, res, next) => {
          try {
            res.sendStatus(await app.route(req.webhook));
          } catch (error) {
            next(error); // Express 4 does not do it
          }
        });
        return listenNode(routes);
      },
    },
    {
      rawBodyFix: /above app\.use\(express\.json\(\)\).*verify/,
      without: { throws: 'Express keeps what a route throws for its own error handler' },
    },
  );
}

export const mounts: readonly Mount<Listening>[] = [
  ...mountsOf('Express 5', express5),
  ...mountsOf('Express 4', express4),
];
