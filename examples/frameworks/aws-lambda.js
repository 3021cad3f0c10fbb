import { webhookHandler } from 'service-webhooks/aws-lambda';

const { WEBHOOK_SECRET: secret = '' } = process.env;

// In earnest with a shared store: each instance of the function has a memory of its own.
export const handler = webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
