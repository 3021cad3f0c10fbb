import type { IncomingMessage } from 'node:http';
import type { Delivery, WebhookRequest } from 'service-webhooks';
import { fromNodeRequest } from './node-http.js';

export const RAW_BODY_FIX =
  'Make the app with NestFactory.create(AppModule, { rawBody: true }), or, on Express, { bodyParser: false } without app.useBodyParser().';

/** The request of Express or of Fastify. */
export type NestRequest = (IncomingMessage | { raw: IncomingMessage }) & {
  rawBody?: Buffer | undefined;
  body?: unknown;
  webhook?: Delivery | undefined;
};

/** Returns the request that a controller or an interceptor has. */
export function fromNestRequest(req: NestRequest): WebhookRequest {
  return fromNodeRequest('raw' in req ? req.raw : req, req, RAW_BODY_FIX);
}
