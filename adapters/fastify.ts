import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type {
  BegunDelivery,
  Delivery,
  EndpointOptions,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { answerOnNode } from './shared/answer-on-node.js';
import { calledBy } from './shared/called-by.js';
import { fromNodeRequest } from './shared/node-http.js';
import { endpointReceiver, routeReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX = 'Let no onRequest or preParsing hook read the body, or put the exact bytes on request.rawBody.';

/** A plugin for `app.register`. */
export type WebhookPlugin = (scope: FastifyInstance) => Promise<void>;

/** A request whose delivery is verified and claimed. Its body is already read: use `request.webhook.body`. */
export type WebhookFastifyRequest = FastifyRequest & { webhook: Delivery };

/**
 * Returns a plugin with an endpoint for Fastify 4 and 5. It verifies each delivery, recognises retries, calls your
 * handler and answers. The plugin has its own scope, so the parsers and the body limit of the app do not apply to it.
 * Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the plugin is created.
 * @example
 * app.register(webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } }), { prefix: '/webhooks' });
 */
export function webhookHandler(receiverOrOptions: Receiver | EndpointOptions): WebhookPlugin {
  const receiver = endpointReceiver(receiverOrOptions);
  return post(receiver, async (request, reply) => send(reply, await receiver(toRequest(request))));
}

/**
 * Returns a plugin that verifies each delivery, claims it and runs `route`, whose request has the delivery as
 * `request.webhook`. A 2xx response completes the claim once it was sent whole. Any other response releases it, and the
 * service retries. If the connection closes before the response ends, the claim ends with its lease. Several routes may
 * share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the plugin is created.
 * @example
 * app.register(webhookMiddleware({ secret }, async (request, reply) => {
 *   await save(request.webhook.event);
 *   return reply.code(204).send();
 * }), { prefix: '/webhooks' });
 */
export function webhookMiddleware(
  receiverOrOptions: Receiver | MiddlewareOptions,
  route: (request: WebhookFastifyRequest, reply: FastifyReply) => unknown,
): WebhookPlugin {
  const receiver = routeReceiver(receiverOrOptions, route);
  return post(receiver, async (request, reply) => {
    // As in Fastify, a route that returns nothing answers later; one that returns a promise has answered by then.
    const run = ({ delivery }: BegunDelivery) => route(Object.assign(request, { webhook: delivery }), reply) ?? reply;
    const toAnswer = (response: WebhookResponse) => send(reply, response);
    return answerOnNode<unknown>(receiver, toRequest(request), reply.raw, run, { toAnswer, handlesErrors: true });
  });
}

type RouteHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

function post(receiver: Receiver, handler: RouteHandler): WebhookPlugin {
  return calledBy(['fastifyScope'], receiver, async (scope: FastifyInstance) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _body, done) => done(null)); // leaves the stream to the receiver
    scope.post('/', handler);
  });
}

function toRequest(request: FastifyRequest & { rawBody?: unknown }): WebhookRequest {
  return fromNodeRequest(request.raw, { rawBody: request.rawBody }, RAW_BODY_FIX);
}

function send(reply: FastifyReply, { status, headers, body }: WebhookResponse): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
