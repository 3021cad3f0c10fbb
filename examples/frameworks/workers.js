// A Cloudflare Worker, with best-effort work after the response.
import { env, waitUntil } from 'cloudflare:workers';
import { createReceiver } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/fetch';

// In production pass a shared store: each instance has a memory of its own, and its health is about itself alone.
const receiver = createReceiver({ secret: env.WEBHOOK_SECRET });
const receive = webhookMiddleware(receiver, (_request, { event }) => {
  console.log(`done ${event.id}`);
  waitUntil(report(event)); // if this fails, the service does not retry
  return Response.json({ thanks: true });
});

export default {
  /** @param {Request} request */
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return receive(request);
    if (pathname === '/webhooks/health') return Response.json(await receiver.health()); // keep it private
    return new Response(null, { status: 404 });
  },
};

/** @param {import('service-webhooks').WebhookEvent} event */
async function report(event) {
  console.log(`reported ${event.id}`);
}
