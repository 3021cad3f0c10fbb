import type { AppUnderTest } from 'service-webhooks-suites';
import { type AppRoute, startNext } from '../../integration/next/start-next.js';
import { SERVER_OPTIONS } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { apiRoutes, appRoutes } from './next-routes.js';
import { BY_FETCH, ON_NODE, UNKNOWN_ON_NODE } from './play-ending.js';

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
        handler: (app) => route(app, appRoutes.handler(app)),
        middleware: (app) => route(app, appRoutes.middleware(app)),
      },
      { rawBodyFix: /no await request\.json\(\)/, endings: BY_FETCH },
    ),
    ...bothForms(
      'the Pages Router of Next',
      {
        handler: (app) => ({ port, path: mount(apiRoutes.handler(app), apiPath(app)), close }),
        middleware: (app) => ({ port, path: mount(apiRoutes.middleware(app), apiPath(app)), close }),
      },
      {
        rawBodyFix: /export const config = \{ api: \{ bodyParser: false \} \}/,
        endings: ON_NODE,
        without: { rawBody: 'Next keeps nothing of a body that it parsed', ...UNKNOWN_ON_NODE },
      },
    ),
  ];
}

export const mounts: readonly Mount<Listening>[] = next ? mountsOf(next) : [];
