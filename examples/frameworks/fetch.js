// For Node, Bun and Deno: whatever serves the default export of a module.
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';

const { WEBHOOK_SECRET: secret = '' } = process.env;

const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const receive = webhookHandler(receiver);

export default {
  /** @param {Request} request */
  async fetch(request) {
    const { pathname } = new URL(request.url);
    if (pathname === '/webhooks') return receive(request);
    if (pathname === '/webhooks/health') return Response.json(await receiver.health()); // keep it private
    return new Response(null, { status: 404 });
  },
};
