import { node } from '@elysiajs/node';
import { Elysia } from 'elysia';
import { webhookHandler } from 'service-webhooks/elysia';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

// On Bun without the adapter: new Elysia().
const app = new Elysia({ adapter: node() });
const receive = webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
app.post('/webhooks', receive, { parse: 'none' }); // or Elysia reads the body first
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
