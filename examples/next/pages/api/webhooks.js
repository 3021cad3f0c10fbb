import { webhookHandler } from 'service-webhooks/next-pages';

const { WEBHOOK_SECRET: secret = '' } = process.env;

export const config = { api: { bodyParser: false } }; // or Next parses the body, and its bytes are gone
export default webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
