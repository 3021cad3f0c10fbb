import { getSecret } from 'astro:env/server';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';

export const prerender = false; // required: a prerendered page receives no POST
const receiver = createReceiver({
  secret: getSecret('WEBHOOK_SECRET') ?? '',
  on: { '*': (event) => console.log(`done ${event.id}`) },
});
const receive = webhookHandler(receiver);

export const POST = ({ request }) => receive(request);

// For your monitor: keep it private.
export const GET = async () => Response.json(await receiver.health());
