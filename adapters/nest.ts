import type { ServerResponse } from 'node:http';
import type { BegunDelivery, EndpointOptions, MiddlewareOptions, Receiver, WebhookResponse } from 'service-webhooks';
import { answerOnNode } from './shared/answer-on-node.js';
import { calledBy } from './shared/called-by.js';
import { fromNestRequest, type NestRequest } from './shared/nest-request.js';
import { endpointReceiver, middlewareReceiver } from './shared/to-receiver.js';

export type { NestRequest } from './shared/nest-request.js';
export * from './shared/webhooks-module.js';

/** The response of Express, or the reply of Fastify. */
export type NestResponse = (ServerResponse | { raw: ServerResponse }) & {
  status(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
};

/** The parts of Nest's `ExecutionContext` that the interceptor uses. */
export interface NestContextLike {
  getClass(): object;
  getHandler(): { name: string };
  switchToHttp(): { getRequest<T>(): T; getResponse<T>(): T };
}

/** An interceptor for `@UseInterceptors`. */
export interface WebhookInterceptor {
  intercept<Result>(context: NestContextLike, next: { handle(): Result }): Promise<Result>;
}

/**
 * Returns an endpoint for Nest 11 and 12, on Express and on Fastify. Call it from a controller with `@Req()` and
 * `@Res()`. It verifies each delivery, recognises retries, calls your handler and answers. Several routes may share a
 * receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the endpoint is created.
 * @example
 * \@Controller('webhooks')
 * export class WebhooksController {
 *   private readonly receive = webhookHandler({ secret, on: { 'stt.completed': (event) => save(event.jobId) } });
 *
 *   \@Post()
 *   webhooks(\@Req() req: NestRequest, \@Res() res: NestResponse) {
 *     return this.receive(req, res);
 *   }
 * }
 */
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (req: NestRequest, res: NestResponse) => Promise<void> {
  const receiver = endpointReceiver(receiverOrOptions);
  return calledBy(['nodeServer', 'fastify'], receiver, async (req: NestRequest, res: NestResponse) => {
    res.send(setHead(res, await receiver(fromNestRequest(req))));
  });
}

/**
 * Returns an interceptor that verifies each delivery, claims it and sets `req.webhook`. A 2xx response completes the
 * claim once it was sent whole. Any other response releases it, and the service retries. If the connection closes
 * before the response ends, the claim ends with its lease. Several routes may share a receiver from `createReceiver`.
 *
 * @throws WebhookError `invalid_secret` or `invalid_option`, when the interceptor is created.
 * @example
 * \@Controller('webhooks')
 * export class WebhooksController {
 *   \@Post()
 *   \@UseInterceptors(webhookMiddleware({ secret }))
 *   async webhooks(\@Req() req: NestRequest) {
 *     await save(req.webhook?.event);
 *   }
 * }
 */
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions): WebhookInterceptor {
  const receiver = middlewareReceiver(receiverOrOptions);
  return {
    async intercept<Result>(context: NestContextLike, next: { handle(): Result }) {
      const http = context.switchToHttp();
      const [req, res] = [http.getRequest<NestRequest>(), http.getResponse<NestResponse>()];
      const run = ({ delivery }: BegunDelivery) => {
        req.webhook = delivery;
        return next.handle();
      };
      const toAnswer = (response: WebhookResponse) => {
        const body = setHead(res, response);
        if (isLeftToController(context)) res.send(body);
        return [body] as Result; // Nest iterates over a list as over an Observable and sends its only item
      };
      return answerOnNode(receiver, fromNestRequest(req), 'raw' in res ? res.raw : res, run, { toAnswer });
    },
  };
}

/**
 * Returns whether Nest sends nothing that an interceptor returns: the controller has `@Res()`, which is 1 in Nest's
 * metadata, or `@Next()`, which is 2, without `passthrough`.
 */
function isLeftToController(context: NestContextLike): boolean {
  const { getMetadata } = Reflect as { getMetadata?(key: string, of: object, name: string): object | undefined };
  const read = (key: string) => getMetadata?.(key, context.getClass(), context.getHandler().name);
  const parameters = Object.keys(read('__routeArguments__') ?? {});
  return parameters.some((key) => /^[12]:/.test(key)) && !read('__responsePassthrough__');
}

/** Sets the status and the headers, and returns the body, which is still to be sent. */
function setHead(res: NestResponse, { status, headers, body }: WebhookResponse): string {
  res.status(status);
  for (const [name, value] of Object.entries(headers)) res.header(name, value);
  return body;
}
