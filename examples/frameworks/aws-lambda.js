import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/aws-lambda';

const { WEBHOOK_SECRET: secret = '' } = process.env;

// In production pass a shared store: each instance of the function has a memory of its own.
const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const receive = webhookHandler(receiver);

/** @param {import('service-webhooks/aws-lambda').LambdaEvent & { rawPath?: string }} event of a function URL or an HTTP API */
export const handler = async (event) => {
  if (event.rawPath !== '/webhooks/health') return receive(event);
  return { statusCode: 200, body: JSON.stringify(await receiver.health()) }; // for your monitor: keep it private
};
