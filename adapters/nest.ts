import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Delivery, Receiver, ReceiverOptions, WebhookRequest, WebhookResponse } from 'service-webhooks';
import { fromNodeRequest, settleWith } from './shared/node-http.js';
import { toReceiver } from './shared/to-receiver.js';

const RAW_BODY_FIX =
  'Make the app with NestFactory.create(AppModule, { rawBody: true }), or { bodyParser: false } on Express.';

/** The request of Express, or of Fastify. */
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

/** What is used of Nest's ExecutionContext. */
export interface NestContextLike {
  switchToHttp(): { getRequest<T>(): T; getResponse<T>(): T };
}

/** What `@UseInterceptors` takes. */
export interface WebhookInterceptor {
  intercept<Result>(context: NestContextLike, next: { handle(): Result }): Promise<Result>;
}

/**
 * An endpoint for Nest 11 and 12, on Express and on Fastify, to call from a controller with `@Req()` and `@Res()`:
 * verifies, deduplicates, dispatches, answers.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * receive = webhookHandler({ secret, on: { 'stt.completed': (event) => this.clips.save(event.jobId) } });
 * \@Post() webhooks(@Req() req: Request, @Res() res: Response) { return this.receive(req, res); }
 */
export function webhookHandler(
  receiverOrOptions: Receiver | ReceiverOptions,
): (req: NestRequest, res: NestResponse) => Promise<void> {
  const receiver = toReceiver(receiverOrOptions);
  return async (req, res) => {
    const response = await receiver(toRequest(req));
    res.send(begin(res, response));
  };
}

/**
 * An interceptor: verifies and claims, hands the delivery on as `req.webhook`. A 2xx response completes the claim, any
 * other releases it; if the connection closes first, the lease decides.
 *
 * @throws WebhookError `invalid_secret`, `invalid_option`, when it is made.
 * @example
 * \@Post() @UseInterceptors(webhookMiddleware({ secret }))
 * async webhooks(@Req() req: Request) { await this.clips.save(req.webhook?.event); }
 */
export function webhookMiddleware(receiverOrOptions: Receiver | ReceiverOptions): WebhookInterceptor {
  const receiver = toReceiver(receiverOrOptions);
  return {
    async intercept<Result>(context: NestContextLike, next: { handle(): Result }) {
      const http = context.switchToHttp();
      const [req, res] = [http.getRequest<NestRequest>(), http.getResponse<NestResponse>()];
      const begun = await receiver.begin(toRequest(req));
      // A list is as good as an Observable, and Nest sends what is in it.
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

/** All but the body, which is left to whoever sends it. */
function begin(res: NestResponse, { status, headers, body }: WebhookResponse): string {
  res.status(status);
  for (const [name, value] of Object.entries(headers)) res.header(name, value);
  return body;
}
