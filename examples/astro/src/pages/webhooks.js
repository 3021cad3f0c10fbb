import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';

export const prerender = false; // required: a prerendered page receives no POST

// A function, because the build may load this file without the secret. check-environment.js checks it at start.
const secret = async () => [process.env.WEBHOOK_SECRET ?? ''];
const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const receive = webhookHandler(receiver);

export const POST = ({ request }) => receive(request);

// For your monitor: keep it private.
export const GET = async () => Response.json(await receiver.health());
