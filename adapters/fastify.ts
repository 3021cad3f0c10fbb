import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import {
  type Delivery,
  isWebhookError,
  type Receiver,
  type ReceiverOptions,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { checkRoute } from './shared/check-route.js';
import { fromNodeRequest, settleWith } from './shared/node-http.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = 'Let no onRequest or preParsing hook read the body, or put the exact bytes on request.rawBody.';

/** What `app.register` takes. */
export type WebhookPlugin = (scope: FastifyInstance) => Promise<void>;

/** A request whose delivery is verified and claimed. Its body has been read: `request.webhook.body` has it. */
export type WebhookFastifyRequest = FastifyRequest & { webhook: Delivery };

/**
 * An endpoint for Fastify 4 and 5, as a plugin with a scope of its own: verifies, deduplicates, dispatches, answers.
 * Neither the parsers nor the body limit of the app are in its way.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.register(webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }), { prefix: '/webhooks' });
 */
export function webhookHandler(receiverOrOptions: Receiver | ReceiverOptions): WebhookPlugin {
  const receiver = toReceiver(receiverOrOptions);
  return post(async (request, reply) => send(reply, await receiver(toRequest(request))));
}

/**
 * Verifies and claims, then runs `route`, whose request has the delivery as `request.webhook`. A 2xx response completes
 * the claim, any other releases it; if the connection closes first, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * app.register(webhookMiddleware({ secret }, async (request, reply) => {
 *   await save(request.webhook.event);
 *   return reply.code(204).send();
 * }), { prefix: '/webhooks' });
 */
export function webhookMiddleware(
  receiverOrOptions: Receiver | ReceiverOptions,
  route: (request: WebhookFastifyRequest, reply: FastifyReply) => unknown,
): WebhookPlugin {
  checkRoute(route);
  const receiver = toReceiver(receiverOrOptions);
  return post(async (request, reply) => {
    const begun = await receiver.begin(toRequest(request));
    if ('response' in begun) return send(reply, begun.response);
    if (!settleWith(reply.raw, begun)) return reply;
    try {
      return await route(Object.assign(request, { webhook: begun.delivery }), reply);
    } catch (error) {
      const response = await begun.settle('failed', error);
      if (!isWebhookError(error)) throw error;
      return send(reply, response);
    }
  });
}

function post(handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): WebhookPlugin {
  return async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null)); // leaves the stream to the receiver
    scope.post('/', handler);
  };
}

function toRequest(request: FastifyRequest & { rawBody?: unknown }): WebhookRequest {
  return fromNodeRequest(request.raw, { rawBody: request.rawBody }, RAW_BODY_FIX);
}

function send(reply: FastifyReply, { status, headers, body }: WebhookResponse): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
