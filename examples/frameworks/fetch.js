// For Node, Bun and Deno: whatever serves the default export of a module.
import { webhookHandler } from 'service-webhooks/fetch';

const { WEBHOOK_SECRET: secret = '' } = process.env;

const receive = webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });

export default {
  /** @param {Request} request */
  fetch(request) {
    if (new URL(request.url).pathname === '/webhooks') return receive(request);
    return new Response(null, { status: 404 });
  },
};
