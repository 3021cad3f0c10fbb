import { node } from '@elysiajs/node';
import { Elysia } from 'elysia';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/elysia';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

// On Bun without the adapter: new Elysia().
const app = new Elysia({ adapter: node() });
const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
app.post('/webhooks', webhookHandler(receiver), { parse: 'none' }); // or Elysia reads the body first
// For your monitor: keep it private.
app.get('/webhooks/health', () => receiver.health());
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
