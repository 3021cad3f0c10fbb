import fastify from 'fastify';
import { createReceiver } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/fastify';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret });
const app = fastify();
const webhooks = webhookMiddleware(receiver, async (request) => {
  console.log(`done ${request.webhook.event.id}`);
  return { thanks: true };
});
app.register(webhooks, { prefix: '/webhooks' });
// For your monitor: keep it private.
app.get('/webhooks/health', () => receiver.health());
await app.listen({ port: Number(PORT) });
console.log(`receiving on port ${PORT}`);
