import { app } from '@azure/functions';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/azure-functions';

const { WEBHOOK_SECRET: secret = '' } = process.env;

// In production pass a shared store: each instance of the app has a memory of its own.
const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });

app.http('webhooks', {
  methods: ['POST'],
  authLevel: 'anonymous', // the signature is the authentication
  handler: webhookHandler(receiver),
});
app.http('health', {
  route: 'webhooks/health',
  methods: ['GET'],
  authLevel: 'function', // a key of the function keeps it private
  handler: async () => ({ jsonBody: await receiver.health() }),
});
