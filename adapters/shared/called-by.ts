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

/** What each framework calls a handler with, and what to do instead. Of several rows that fit, the first is the caller's. */
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
    fix: 'The argument has no request, so that this is no Elysia app: import from the sub-path of your framework.',
  },
  express: {
    fits: (first, second) => isNode(first, second) && 'app' in first,
    fix: 'This is a request of Express: import from service-webhooks/express, and in Nest from service-webhooks/nest.',
  },
  nextPages: {
    fits: (first, second) => isNode(first, second) && typeof second?.['json'] === 'function',
    fix: 'This is a request of Node with res.json(), as in an API route of Next: import from service-webhooks/next-pages, or elsewhere from service-webhooks/node.',
  },
  nodeServer: { fits: isNode, fix: 'This is a request of Node: import from service-webhooks/node.' },
  awsLambda: {
    fits: (first) => 'requestContext' in first,
    fix: 'This is an event of AWS Lambda: import from service-webhooks/aws-lambda.',
  },
} as const satisfies Record<string, { fits(first: Argument, second?: Argument): boolean; fix: string }>;

/**
 * Returns a handler that refuses the call of a framework that is not among its `own`: it answers 500, so that the service
 * retries, and the receiver logs the right import. As a plugin of Fastify it throws.
 */
export function calledBy<Args extends unknown[], Result>(
  own: readonly Caller[],
  receiver: Receiver,
  handler: (...args: Args) => Promise<Result>,
): (...args: Args) => Promise<Result> {
  const checked = (...args: Args) => {
    const caller = foreignCaller(own, args as unknown as readonly Argument[]);
    return caller === undefined ? handler(...args) : (refuse(receiver, caller, args as never) as Promise<Result>);
  };
  // A server may pass only the arguments that a function declares: Deno.serve passes no request to one without parameters.
  return Object.defineProperty(checked, 'length', { value: handler.length });
}

/** Returns the caller, unless it is an own one or unknown. */
function foreignCaller(own: readonly Caller[], [first, second]: readonly Argument[]): Caller | undefined {
  try {
    const argument = Object(first);
    if (own.some((name) => CALLERS[name].fits(argument, second))) return undefined;
    return (Object.keys(CALLERS) as Caller[]).find((name) => CALLERS[name].fits(argument, second));
  } catch {
    return undefined; // a getter of a framework may throw
  }
}

async function refuse(receiver: Receiver, caller: Caller, [first, second]: readonly Argument[]): Promise<unknown> {
  const error = new WebhookError('wrong_adapter', { hint: CALLERS[caller].fix });
  if (caller === 'fastifyScope') throw error; // a plugin that throws keeps the app from starting
  const response: WebhookResponse = await receiver({ method: '', headers: {}, body: null, error });
  if (isFetchRequest(first?.['req'])) return toFetchResponse(response); // h3 2, which ends Node's response itself
  const res = [second, second?.['raw'], first?.['res'], first?.['node']?.['res']].find(isNodeResponse);
  return res ? sendOnNode(res as unknown as ServerResponse, response) : toFetchResponse(response);
}
