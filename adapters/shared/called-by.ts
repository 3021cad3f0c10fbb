import type { ServerResponse } from 'node:http';
import { type Receiver, WebhookError, type WebhookResponse } from 'service-webhooks';
import { sendOnNode } from './send-on-node.js';
import { toFetchResponse } from './to-fetch-response.js';

/** What a framework calls a handler with, any property of which may be absent. */
type Argument = { readonly [name: string]: Argument } & ((...args: never[]) => unknown);
/** A caller that {@link calledBy} knows. */
export type Caller = keyof typeof CALLERS;

const hasFetchHeaders = (value?: Argument) => typeof value?.['headers']?.['get'] === 'function';
const isFetchRequest = (value?: Argument) => hasFetchHeaders(value) && typeof value?.['arrayBuffer'] === 'function';
const isNodeRequest = (value?: Argument) => typeof value?.['headers'] === 'object' && !hasFetchHeaders(value);
const isNodeResponse = (value?: Argument) => typeof value?.['writeHead'] === 'function';
const isNode = (first: Argument, second?: Argument) => isNodeRequest(first) && isNodeResponse(second);

/** What each framework calls a handler with, and what to do instead. The first row that fits is the caller's. */
const CALLERS = {
  fastifyScope: {
    fits: (first) => typeof first['addContentTypeParser'] === 'function',
    fix: 'This is a Fastify instance: import from service-webhooks/fastify.',
  },
  fastify: {
    fits: (first, second) => isNode(first['raw'] as Argument, second?.['raw']),
    fix: "This is a request of Fastify: import from service-webhooks/fastify, and register the plugin, as in app.register(webhookHandler(…), { prefix: '/webhooks' }).",
  },
  hono: {
    fits: (first) => typeof first['req']?.['raw'] === 'object',
    fix: 'This is a Hono context: import from service-webhooks/hono.',
  },
  koa: {
    fits: (first) => isNode(first['req'] as Argument, first['res']) && 'response' in first,
    fix: 'This is a Koa context: import from service-webhooks/koa.',
  },
  h3: {
    fits: (first) => isNodeRequest(first['node']?.['req']) || isFetchRequest(first['req']),
    fix: 'This is an event of h3: import from service-webhooks/h3.',
  },
  azureFunctions: {
    fits: (first, second) => isFetchRequest(first) && second?.['invocationId'] !== undefined,
    fix: 'This is a request of Azure Functions: import from service-webhooks/azure-functions.',
  },
  fetch: {
    fits: isFetchRequest,
    fix: 'This is a Fetch Request: import from service-webhooks/fetch, and in the App Router of Next from service-webhooks/next.',
  },
  elysia: {
    fits: (first) => isFetchRequest(first['request']) && 'set' in first,
    fix: 'This is an Elysia context: import from service-webhooks/elysia.',
  },
  withRequest: {
    fits: (first) => isFetchRequest(first['request']),
    fix: 'This is an object with a Fetch Request: import from service-webhooks/fetch, and pass only the request, as in ({ request }) => receive(request).',
  },
  withoutRequest: {
    fits: (first) => 'request' in first && first['request'] === undefined,
    fix: 'This is not a context of Elysia: import from the sub-path of your framework.',
  },
  express: {
    fits: (first, second) => isNode(first, second) && 'app' in first,
    fix: 'This is a request of Express: import from service-webhooks/express, and in Nest from service-webhooks/nest.',
  },
  nextPages: {
    fits: (first, second) => isNode(first, second) && typeof second?.['json'] === 'function',
    fix: 'This is a request of an API route of Next: import from service-webhooks/next-pages.',
  },
  nodeServer: { fits: isNode, fix: 'This is a request of Node: import from service-webhooks/node.' },
  awsLambda: {
    fits: (first) => 'requestContext' in first,
    fix: 'This is an event of AWS Lambda: import from service-webhooks/aws-lambda.',
  },
} as const satisfies Record<string, { fits(first: Argument, second?: Argument): boolean; fix: string }>;

/**
 * Returns a handler that refuses the calls of another framework than its `own`, with the right import. The error is
 * logged by the receiver and answered with 500, so that the service retries.
 */
export function calledBy<Args extends unknown[], Result>(
  own: readonly Caller[],
  receiver: Receiver,
  handler: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  return (...args) => {
    const fix = fixOf(own, args as unknown as readonly Argument[]);
    return fix === undefined ? handler(...args) : (refuse(receiver, fix, args as never) as Promise<Result>);
  };
}

/** Returns what to do where another framework is the caller; undefined for the own one, and for one that is unknown. */
function fixOf(own: readonly Caller[], [first, second]: readonly Argument[]): string | undefined {
  try {
    const argument = Object(first);
    if (own.some((name) => CALLERS[name].fits(argument, second))) return undefined;
    return Object.values(CALLERS).find(({ fits }) => fits(argument, second))?.fix;
  } catch {
    return undefined; // a getter of a framework may throw
  }
}

async function refuse(receiver: Receiver, hint: string, [first, second]: readonly Argument[]): Promise<unknown> {
  const error = new WebhookError('wrong_adapter', { hint });
  if (hint === CALLERS.fastifyScope.fix) throw error; // a plugin that throws keeps the app from starting
  const response: WebhookResponse = await receiver({ method: '', headers: {}, body: null, error });
  const res = [second, second?.['raw'], first?.['res'], first?.['node']?.['res']].find(isNodeResponse);
  return res ? sendOnNode(res as unknown as ServerResponse, response) : toFetchResponse(response);
}
