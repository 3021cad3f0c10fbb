import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { webhookMiddleware } from 'service-webhooks/hono';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const app = new Hono();
app.post('/webhooks', webhookMiddleware({ secret }), (c) => {
  console.log(`done ${c.var.webhook.event.id}`);
  return c.json({ thanks: true });
});
serve({ fetch: app.fetch, port: Number(PORT) }, () => console.log(`receiving on port ${PORT}`));
