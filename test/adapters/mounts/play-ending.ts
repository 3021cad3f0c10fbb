import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Delivery } from 'service-webhooks';
import type { AppUnderTest, RouteEnding } from 'service-webhooks-suites';

/** What a route on Node's own response can play, whatever its framework is. */
export const ON_NODE: readonly RouteEnding[] = [
  'sends bytes',
  'streams',
  'answers and throws',
  'answers twice',
  'throws at once',
  'other code answers',
];

/** What an adapter on Node's own response cannot know. */
export const UNKNOWN_ON_NODE = {
  late: 'Node tells nothing of a response whose connection is closed',
  breaks: 'Node does not tell whether the app or the sender has closed a connection',
};

/** Plays the ending of an app on Node's own response. */
export function playOnNode(app: AppUnderTest, res: ServerResponse, delivery: Delivery | undefined): Promise<void> {
  const status = app.route(delivery);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return answer(app, res, status);
}

async function answer(app: AppUnderTest, res: ServerResponse, status: Promise<number>): Promise<void> {
  res.statusCode = await status;
  if (res.writableEnded) return; // other code has answered
  // Before Node 24, a pipeline to a closed response of HTTP/2 never ends.
  if ((res as { stream?: { closed: boolean } }).stream?.closed && app.ending === 'streams') return;
  if (app.ending === 'streams') return pipeline(Readable.from(app.body() as AsyncIterable<Uint8Array>), res);
  res.end(app.ending ? app.body() : undefined);
  if (app.ending === 'answers twice') res.statusCode = otherStatus(res.statusCode);
  if (app.ending === 'answers and throws') throw new Error('the route throws after its answer');
}

/** Returns the status of a second answer that means the opposite. */
export function otherStatus(status: number): number {
  return status < 300 ? 503 : 200;
}

/** Plays code of an app that answers next to the route. */
export function playOtherCode({ otherAnswer }: AppUnderTest, res: ServerResponse): void {
  otherAnswer.then((status) => {
    if (!res.headersSent) res.writeHead(status).end('other code has answered');
  });
}

/** What a route that returns a Response can play. */
export const BY_FETCH: readonly RouteEnding[] = ['sends bytes', 'streams', 'throws at once', 'returns an error'];

/** Plays the ending of an app by the Response that its route returns. */
export function playByFetch(
  app: AppUnderTest,
  delivery: Delivery | undefined,
  signal?: AbortSignal,
): Promise<Response> {
  const status = app.route(delivery, signal);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((status) => {
    if (app.ending === 'returns an error') return Response.error();
    return new Response(app.ending ? toBody(app) : null, { status });
  });
}

/** Returns the body of an answer as Fetch takes it. */
export function toBody({ body }: AppUnderTest): ReadableStream | Uint8Array<ArrayBuffer> {
  const made = body();
  if (made instanceof Uint8Array) return made;
  const iterator = made[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
