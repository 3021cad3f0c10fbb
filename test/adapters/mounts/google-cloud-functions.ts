import { type HttpFunction, http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import type { Request, Response } from 'express';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/google-cloud-functions';
import type { AppUnderTest } from 'service-webhooks-suites';
import { listen } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { ON_NODE, playOnNode, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

let count = 0;

function serve(app: AppUnderTest, handler: HttpFunction) {
  count += 1;
  const name = `receiver-${count}`;
  http(name, (req, res) => {
    playOtherCode(app, res);
    if (app.before === 'parser') Object.assign(req, { rawBody: undefined });
    return handler(req, res);
  });
  return listen(getTestServer(name));
}

export const mounts: readonly Mount<Listening>[] = bothForms(
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
);
