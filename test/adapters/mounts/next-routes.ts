import type { IncomingMessage, ServerResponse } from 'node:http';
import * as appRouter from 'service-webhooks/next';
import * as pagesRouter from 'service-webhooks/next-pages';
import type { AppUnderTest } from 'service-webhooks-suites';
import type { ApiRoute, AppRoute } from '../../integration/next/start-next.js';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { BY_FETCH, ON_NODE, playByFetch, playOnNode, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

/** What a `route.ts` exports. */
export const appRoutes = {
  handler: ({ receiver }: AppUnderTest): AppRoute => appRouter.webhookHandler(receiver),
  middleware: (app: AppUnderTest): AppRoute =>
    appRouter.webhookMiddleware(app.receiver, ({ signal }, delivery) => playByFetch(app, delivery, signal)),
};

/** What a file of `pages/api` exports. */
export const apiRoutes = {
  handler: ({ receiver }: AppUnderTest): ApiRoute => pagesRouter.webhookHandler(receiver),
  middleware(app: AppUnderTest): ApiRoute {
    const route = pagesRouter.webhookMiddleware(app.receiver, (_: IncomingMessage, res: ServerResponse, delivery) =>
      playOnNode(app, res, delivery),
    );
    return (req, res) => {
      playOtherCode(app, res);
      return route(req, res);
    };
  },
};

// Called as Next calls them, which takes half a minute to build: next.ts has the real one.

export const calledMounts: readonly Mount[] = bothForms(
  'a route of the App Router',
  {
    handler: (app) => ({ fetch: appRoutes.handler(app) }),
    middleware: (app) => ({ fetch: appRoutes.middleware(app) }),
  },
  { endings: BY_FETCH },
);

export const mounts: readonly Mount<Listening>[] = bothForms(
  'a route of the Pages Router',
  {
    handler: (app) => listenNode(apiRoutes.handler(app)),
    middleware: (app) => listenNode(apiRoutes.middleware(app)),
  },
  { endings: ON_NODE, without: UNKNOWN_ON_NODE },
);
