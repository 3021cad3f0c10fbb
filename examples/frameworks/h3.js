// In Nitro and Nuxt, server/routes/webhooks.post.ts holds the handler alone: export default defineEventHandler(...).
import { H3, serve } from 'h3';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/h3';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const app = new H3();
app.post('/webhooks', webhookHandler(receiver));
// For your monitor: keep it private.
app.get('/webhooks/health', () => receiver.health());
await serve(app, { port: Number(PORT), silent: true }).ready();
console.log(`receiving on port ${PORT}`);
