import type { IncomingMessage, ServerResponse } from 'node:http';
import * as appRouter from 'service-webhooks/next';
import * as pagesRouter from 'service-webhooks/next-pages';
import type { AppUnderTest } from 'service-webhooks/testing';
import { type AppRoute, startNext } from '../../integration/next/start-next.js';
import { SERVER_OPTIONS } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

/** One app with all its routes, since Next takes its time to start. */
export const next = await startNext(SERVER_OPTIONS);

/** The server goes on for the next case. */
const close = async () => {};

function mountsOf({ port, mount }: NonNullable<typeof next>): Mount<Listening>[] {
  const route = ({ before }: AppUnderTest, receive: AppRoute): Listening => {
    const behind: AppRoute = async (request) => {
      const kept = before === 'rawBody' ? request.clone() : request;
      if (before !== 'nothing') await request.json();
      return receive(kept);
    };
    return { port, path: mount(behind, '/webhooks'), close };
  };
  // The parser is what an API route has, unless it says otherwise.
  const apiPath = ({ before }: AppUnderTest) => (before === 'parser' ? '/api/parsed' : '/api/webhooks');
  return [
    ...bothForms(
      'the App Router of Next',
      {
        handler: (app) => route(app, appRouter.webhookHandler(app.receiver)),
        middleware: (app) =>
          route(
            app,
            appRouter.webhookMiddleware(app.receiver, async ({ signal }, delivery) => {
              return new Response(null, { status: await app.route(delivery, signal) });
            }),
          ),
      },
      { rawBodyFix: /no await request\.json\(\)/ },
    ),
    ...bothForms(
      'the Pages Router of Next',
      {
        handler: (app) => ({ port, path: mount(pagesRouter.webhookHandler(app.receiver), apiPath(app)), close }),
        middleware(app) {
          const receive = pagesRouter.webhookMiddleware(
            app.receiver,
            async (_: IncomingMessage, res: ServerResponse, delivery) => {
              res.statusCode = await app.route(delivery);
              res.end();
            },
          );
          return { port, path: mount(receive, apiPath(app)), close };
        },
      },
      {
        rawBodyFix: /export const config = \{ api: \{ bodyParser: false \} \}/,
        without: { rawBody: 'Next keeps nothing of a body that it parsed' },
      },
    ),
  ];
}

export const mounts: readonly Mount<Listening>[] = next ? mountsOf(next) : [];
