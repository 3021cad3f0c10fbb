import { app } from '@azure/functions';
import { webhookHandler } from 'service-webhooks/azure-functions';

const { WEBHOOK_SECRET: secret = '' } = process.env;

app.http('webhooks', {
  methods: ['POST'],
  authLevel: 'anonymous', // the signature is the authentication
  handler: webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } }),
});
