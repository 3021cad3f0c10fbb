import { http } from '@google-cloud/functions-framework';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/google-cloud-functions';

const { WEBHOOK_SECRET: secret = '' } = process.env;

// In production pass a shared store: each instance of the function has a memory of its own.
const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const receive = webhookHandler(receiver);

http('webhooks', async (req, res) => {
  if (req.path !== '/webhooks/health') return receive(req, res);
  res.json(await receiver.health()); // keep it private
});
