import { Elysia } from 'elysia';
import type { Delivery } from 'service-webhooks';
import { type ElysiaContextLike, webhookHandler, webhookMiddleware } from 'service-webhooks/elysia';
import type { AppUnderTest } from 'service-webhooks-suites';
import { bothForms, type Mount } from './mount.js';
import { BY_FETCH, toBody } from './play-ending.js';

// Forgotten, it is Elysia that reads the body.
const optionsFor = ({ before }: AppUnderTest) =>
  before === 'parser' ? { parse: 'json' as const } : { parse: 'none' as const };

function play(app: AppUnderTest, { request, set }: ElysiaContextLike, delivery: Delivery): unknown {
  const status = app.route(delivery, request.signal);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((status) => {
    if (app.ending === 'returns an error') return new Error('no');
    if (status === 204) return new Response(null, { status }); // Node refuses what Elysia makes of it otherwise
    if (app.ending === 'sends bytes') return new Response(toBody(app), { status });
    set.status = status;
    return app.ending ? toBody(app) : '';
  });
}

export const calledMounts: readonly Mount[] = bothForms(
  'Elysia',
  {
    handler(app) {
      const elysia = new Elysia().all('/webhooks', webhookHandler(app.receiver), optionsFor(app));
      return { fetch: (request) => elysia.handle(request) };
    },
    middleware(app) {
      const route = webhookMiddleware(app.receiver, (context, delivery) => play(app, context, delivery));
      const elysia = new Elysia().all('/webhooks', route, optionsFor(app));
      return { fetch: (request) => elysia.handle(request) };
    },
  },
  {
    rawBodyFix: /parse: 'none'/,
    endings: BY_FETCH,
    without: { rawBody: 'Elysia keeps nothing of a body that it parsed' },
  },
);
