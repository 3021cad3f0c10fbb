import type { IncomingMessage } from 'node:http';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/node';
import type { AppUnderTest } from 'service-webhooks-suites';
import { HAS_HTTP2, listenHttp2, listenNode } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { ON_NODE, playOnNode, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

/** What comes before the receiver. */
async function prepare(req: IncomingMessage, before: AppUnderTest['before']): Promise<void> {
  if (before === 'nothing') return;
  const bytes: Buffer[] = [];
  for await (const chunk of req) bytes.push(chunk);
  const body = Buffer.concat(bytes);
  Object.assign(req, { body: JSON.parse(body.toString()) }, before === 'rawBody' && { rawBody: body });
}

const mountsOf = (name: string, listen: typeof listenNode): Mount<Listening>[] =>
  bothForms(
    name,
    {
      handler({ receiver, before }) {
        const handler = webhookHandler(receiver);
        return listen(async (req, res) => {
          await prepare(req, before);
          await handler(req, res);
        });
      },
      middleware(app) {
        const middleware = webhookMiddleware(app.receiver);
        return listen(async (req, res) => {
          playOtherCode(app, res);
          await prepare(req, app.before);
          await middleware(req, res, () => playOnNode(app, res, req.webhook));
        });
      },
    },
    {
      rawBodyFix: /before anything reads req, .*req\.rawBody/,
      endings: ON_NODE,
      without: {
        ...UNKNOWN_ON_NODE,
      },
    },
  );

export const mounts: readonly Mount<Listening>[] = mountsOf('node:http', listenNode);

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2 ? [] : mountsOf('node:http2', listenHttp2);
