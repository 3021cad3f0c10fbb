import express from 'express';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/express';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const app = express();
// Above express.json(), which takes the exact bytes away.
app.post('/webhooks', webhookHandler(receiver));
app.use(express.json());
// For your monitor: keep it private.
app.get('/webhooks/health', async (_req, res) => void res.json(await receiver.health()));
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
