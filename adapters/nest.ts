import type { IncomingMessage, ServerResponse } from 'node:http';
import type {
  Delivery,
  EndpointOptions,
  MiddlewareOptions,
  Receiver,
  WebhookRequest,
  WebhookResponse,
} from 'service-webhooks';
import { fromNodeRequest, settleWith } from './shared/node-http.js';
import { endpointReceiver, middlewareReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX =
  'Make the app with NestFactory.create(AppModule, { rawBody: true }), or { bodyParser: false } on Express.';

/** The request of Express or of Fastify. */
export type NestRequest = (IncomingMessage | { raw: IncomingMessage }) & {
  rawBody?: Buffer | undefined;
  body?: unknown;
  webhook?: Delivery | undefined;
};

/** The response of Express, or the reply of Fastify. */
export type NestResponse = (ServerResponse | { raw: ServerResponse }) & {
  status(status: number): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
};

/** The part of Nest's `ExecutionContext` that the interceptor uses. */
export interface NestContextLike {
  switchToHttp(): { getRequest<T>(): T; getResponse<T>(): T };
}

/** An interceptor for `@UseInterceptors`. */
export interface WebhookInterceptor {
  intercept<Result>(context: NestContextLike, next: { handle(): Result }): Promise<Result>;
}

/**
 * Returns the endpoint of a receiver that you created with `createReceiver`; several routes may share it.
 *
 * @throws WebhookError `invalid_option` where the receiver has neither `on` nor a queue.
 */
export function webhookHandler(receiver: Receiver): (req: NestRequest, res: NestResponse) => Promise<void>;
/**
 * Returns an endpoint for Nest 11 and 12, on Express and on Fastify. Call it from a controller with `@Req()` and
 * `@Res()`. It verifies each delivery, recognises retries, calls your handler and answers.
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
export function webhookHandler(options: EndpointOptions): (req: NestRequest, res: NestResponse) => Promise<void>;
export function webhookHandler(
  receiverOrOptions: Receiver | EndpointOptions,
): (req: NestRequest, res: NestResponse) => Promise<void> {
  const receiver = endpointReceiver(receiverOrOptions);
  return async (req, res) => {
    const response = await receiver(toRequest(req));
    res.send(begin(res, response));
  };
}

/** Returns the middleware of a receiver that you created with `createReceiver`; several routes may share it. */
export function webhookMiddleware(receiver: Receiver): WebhookInterceptor;
/**
 * Returns an interceptor that verifies each delivery, claims it and sets `req.webhook`. A 2xx response completes the
 * claim. Any other response releases it, and the service retries. If the connection closes before the response ends,
 * the claim ends with its lease.
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
export function webhookMiddleware(options: MiddlewareOptions): WebhookInterceptor;
export function webhookMiddleware(receiverOrOptions: Receiver | MiddlewareOptions): WebhookInterceptor {
  const receiver = middlewareReceiver(receiverOrOptions);
  return {
    async intercept<Result>(context: NestContextLike, next: { handle(): Result }) {
      const http = context.switchToHttp();
      const [req, res] = [http.getRequest<NestRequest>(), http.getResponse<NestResponse>()];
      const begun = await receiver.begin(toRequest(req));
      // Nest iterates over a list as over an Observable and sends its only item.
      if ('response' in begun) return [begin(res, begun.response)] as Result;
      settleWith('raw' in res ? res.raw : res, begun);
      req.webhook = begun.delivery;
      return next.handle();
    },
  };
}

function toRequest(req: NestRequest): WebhookRequest {
  return fromNodeRequest('raw' in req ? req.raw : req, req, RAW_BODY_FIX);
}

/** Sends the status and the headers, and returns the body for Nest to send. */
function begin(res: NestResponse, { status, headers, body }: WebhookResponse): string {
  res.status(status);
  for (const [name, value] of Object.entries(headers)) res.header(name, value);
  return body;
}
