import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import { building } from '$app/environment';
import { env } from '$env/dynamic/private';

const receiver = createReceiver({
  secret: building ? 'none' : (env.WEBHOOK_SECRET ?? ''), // the build loads this file, and may run without the secret
  on: { '*': (event) => console.log(`done ${event.id}`) },
});
const receive = webhookHandler(receiver);

export const POST = ({ request }) => receive(request);

// For your monitor: keep it private.
export const GET = async () => Response.json(await receiver.health());
