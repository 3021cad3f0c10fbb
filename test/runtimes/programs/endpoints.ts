import {
  type Delivery,
  type HandlerContext,
  isWebhookError,
  sign,
  verify,
  verifyAsync,
  type WebhookEvent,
} from 'service-webhooks';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/fetch';
import { accepted, bodyOf, refused, settingsOf, type Vector, type Verdict } from '../../support/vector.js';

/** Of one vector: what the library says when it is called here. */
export interface Verdicts {
  verify: Verdict;
  verifyAsync: Verdict;
}

/** What an endpoint's own code got to see: `[path, what it was given]`. */
export type Taken = [path: string, verdict: Verdict][];

/** Where this runs, by its own word, and whether node:crypto is found there. */
export interface About {
  versions: Record<string, string | undefined>;
  userAgent: string | undefined;
  syncCrypto: boolean;
}

const taken: Taken = [];
const endpoints = new Map<string, (request: Request) => Promise<Response>>();

// Made when the module is loaded, where Workers allow neither timers nor random numbers.
endpoints.set(
  '/webhooks',
  webhookHandler({
    secret: 'fixture-secret-4cf1b0a92d7e',
    now: () => Date.parse('2026-07-11T12:00:00Z'),
    on: { '*': (_, { delivery }) => take('/webhooks', delivery) },
  }),
);

/** What every runtime serves, each in its own way. */
export async function serveEndpoints(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const endpoint = endpoints.get(pathname);
  if (endpoint) return endpoint(request);
  if (pathname === '/vectors') return Response.json(await judge((await request.json()) as Vector[]));
  if (pathname === '/taken') return Response.json(taken);
  return Response.json(about());
}

/** Calls the library with each vector and makes two endpoints for it. */
function judge(vectors: Vector[]): Promise<Verdicts[]> {
  return Promise.all(
    vectors.map(async (vector, index) => {
      const settings = settingsOf(vector);
      const [handler, middleware] = [`/handler/${index}`, `/middleware/${index}`];
      const on = { '*': (_: WebhookEvent, { delivery }: HandlerContext) => take(handler, delivery) };
      endpoints.set(handler, webhookHandler({ ...settings, on, dedupe: false }));
      endpoints.set(
        middleware,
        webhookMiddleware({ ...settings, dedupe: false }, (_, delivery) => {
          take(middleware, delivery);
          return new Response();
        }),
      );
      const input = { ...settings, headers: vector.headers, body: bodyOf(vector) };
      return {
        verify: await verdictOf(async () => verify(input)),
        verifyAsync: await verdictOf(() => verifyAsync(input)),
      };
    }),
  );
}

function verdictOf(call: () => Promise<Delivery>): Promise<Verdict> {
  return call().then(accepted).catch(refused);
}

function take(path: string, delivery: Delivery): void {
  taken.push([path, accepted(delivery)]);
}

function about(): About {
  const { process, navigator } = globalThis as {
    process?: { versions?: About['versions'] };
    navigator?: { userAgent?: string };
  };
  return { versions: { ...process?.versions }, userAgent: navigator?.userAgent, syncCrypto: hasSyncCrypto() };
}

function hasSyncCrypto(): boolean {
  try {
    sign({ body: '', secret: 'any' });
    return true;
  } catch (error) {
    if (isWebhookError(error) && error.code === 'sync_crypto_unavailable') return false;
    throw error;
  }
}
