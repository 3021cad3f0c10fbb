import type { Server } from 'node:http';
import type { Request, Response } from 'express';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/google-cloud-functions';
import type { AppUnderTest } from 'service-webhooks-suites';
import { framework } from '../../integration/framework.js';
import { listen } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { ON_NODE, playOnNode, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

type HttpFunction = (req: Request, res: Response) => unknown;

const functions = framework<{ http(name: string, handler: HttpFunction): void }>('@google-cloud/functions-framework');
const testing = framework<{ getTestServer(name: string): Server }>('@google-cloud/functions-framework/testing');

let count = 0;

function serve(app: AppUnderTest, handler: HttpFunction) {
  count += 1;
  const name = `receiver-${count}`;
  functions?.http(name, (req, res) => {
    playOtherCode(app, res);
    if (app.before === 'parser') Object.assign(req, { rawBody: undefined });
    return handler(req, res);
  });
  return listen(testing?.getTestServer(name) as Server);
}

export const mounts: readonly Mount<Listening>[] = functions
  ? bothForms(
      'Google Cloud Functions',
      {
        handler: (app) => serve(app, webhookHandler(app.receiver)),
        middleware: (app) =>
          serve(
            app,
            webhookMiddleware(app.receiver, (_: Request, res: Response, delivery) => playOnNode(app, res, delivery)),
          ),
      },
      {
        rawBodyFix: /Leave req\.rawBody/,
        endings: ON_NODE,
        without: {
          ...UNKNOWN_ON_NODE,
          unparsed: 'the platform parses first, and keeps the bytes of what it could parse',
          pieces: 'the platform reads the body',
        },
      },
    )
  : [];
