import type { IncomingMessage } from 'node:http';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/node';
import type { AppUnderTest } from 'service-webhooks/testing';
import { listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

/** What comes before the receiver. */
async function prepare(req: IncomingMessage, before: AppUnderTest['before']): Promise<void> {
  if (before === 'nothing') return;
  const bytes: Buffer[] = [];
  for await (const chunk of req) bytes.push(chunk);
  const body = Buffer.concat(bytes);
  Object.assign(req, { body: JSON.parse(body.toString()) }, before === 'rawBody' && { rawBody: body });
}

export const mounts: readonly Mount<Listening>[] = bothForms(
  'node:http',
  {
    handler({ receiver, before }) {
      const handler = webhookHandler(receiver);
      return listenNode(async (req, res) => {
        await prepare(req, before);
        await handler(req, res);
      });
    },
    middleware({ receiver, before, route }) {
      const middleware = webhookMiddleware(receiver);
      return listenNode(async (req, res) => {
        await prepare(req, before);
        await middleware(req, res, async () => {
          res.statusCode = await route(req.webhook);
          res.end();
        });
      });
    },
  },
  { rawBodyFix: /before anything reads req, .*req\.rawBody/ },
);
