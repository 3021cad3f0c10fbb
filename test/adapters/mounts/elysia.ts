import { Elysia } from 'elysia';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/elysia';
import type { AppUnderTest } from 'service-webhooks/testing';
import { bothForms, type Mount } from './mount.js';

// Forgotten, it is Elysia that reads the body.
const optionsFor = ({ before }: AppUnderTest) =>
  before === 'parser' ? { parse: 'json' as const } : { parse: 'none' as const };

export const calledMounts: readonly Mount[] = bothForms(
  'Elysia',
  {
    handler(app) {
      const elysia = new Elysia().all('/webhooks', webhookHandler(app.receiver), optionsFor(app));
      return { fetch: (request) => elysia.handle(request) };
    },
    middleware(app) {
      const route = webhookMiddleware(app.receiver, async ({ request, set }, delivery) => {
        const status = await app.route(delivery, request.signal);
        if (status === 204) return new Response(null, { status }); // Node refuses what Elysia makes of it otherwise
        set.status = status;
        return '';
      });
      const elysia = new Elysia().all('/webhooks', route, optionsFor(app));
      return { fetch: (request) => elysia.handle(request) };
    },
  },
  { rawBodyFix: /parse: 'none'/, without: { rawBody: 'Elysia keeps nothing of a body that it parsed' } },
);
