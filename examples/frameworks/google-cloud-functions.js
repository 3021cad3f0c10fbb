import { http } from '@google-cloud/functions-framework';
import { webhookHandler } from 'service-webhooks/google-cloud-functions';

const { WEBHOOK_SECRET: secret = '' } = process.env;

http('webhooks', webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } }));
