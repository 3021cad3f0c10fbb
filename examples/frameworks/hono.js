import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { createReceiver } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/hono';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret });
const app = new Hono();
app.post('/webhooks', webhookMiddleware(receiver), (c) => {
  console.log(`done ${c.var.webhook.event.id}`);
  return c.json({ thanks: true });
});
// For your monitor: keep it private.
app.get('/webhooks/health', async (c) => c.json(await receiver.health()));
serve({ fetch: app.fetch, port: Number(PORT) }, () => console.log(`receiving on port ${PORT}`));
