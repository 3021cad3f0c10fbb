import fastify from 'fastify';
import { webhookMiddleware } from 'service-webhooks/fastify';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const app = fastify();
const webhooks = webhookMiddleware({ secret }, async (request) => {
  console.log(`done ${request.webhook.event.id}`);
  return { thanks: true };
});
app.register(webhooks, { prefix: '/webhooks' });
await app.listen({ port: Number(PORT) });
console.log(`receiving on port ${PORT}`);
