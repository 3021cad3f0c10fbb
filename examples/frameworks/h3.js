// In Nitro and Nuxt, server/routes/webhooks.post.ts holds the handler alone: export default defineEventHandler(...).
import { H3, serve } from 'h3';
import { webhookHandler } from 'service-webhooks/h3';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const app = new H3();
app.post('/webhooks', webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } }));
await serve(app, { port: Number(PORT), silent: true }).ready();
console.log(`receiving on port ${PORT}`);
