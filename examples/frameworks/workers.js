// A Cloudflare Worker, with what can wait behind the answer.
import { env, waitUntil } from 'cloudflare:workers';
import { webhookMiddleware } from 'service-webhooks/fetch';

const receive = webhookMiddleware({ secret: env.WEBHOOK_SECRET }, (_request, { event }) => {
  console.log(`done ${event.id}`);
  waitUntil(tell(event)); // if this fails nobody sends the event again
  return Response.json({ thanks: true });
});

export default {
  /** @param {Request} request */
  fetch(request) {
    if (new URL(request.url).pathname === '/webhooks') return receive(request);
    return new Response(null, { status: 404 });
  },
};

/** @param {import('service-webhooks').WebhookEvent} event */
async function tell(event) {
  console.log(`told ${event.id}`);
}
