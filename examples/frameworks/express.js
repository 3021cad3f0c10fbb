import express from 'express';
import { webhookHandler } from 'service-webhooks/express';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const app = express();
// Above express.json(), which takes the exact bytes away.
app.post('/webhooks', webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } }));
app.use(express.json());
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
