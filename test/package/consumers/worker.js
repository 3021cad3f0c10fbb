import { Hono } from 'hono';
import { verify } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/fetch';
import * as hono from 'service-webhooks/hono';

const secret = 'whsec_edge';
let handled = 0;
const options = () => ({ secret, logger: false, on: { '*': () => void handled++ } });

const receive = webhookHandler(options());
const app = new Hono()
  .post('/fetch', (c) => receive(c.req.raw))
  .post('/hono', hono.webhookHandler(options()))
  .post('/hono/middleware', hono.webhookMiddleware({ secret, logger: false }), (c) => {
    handled++;
    return c.json({ outcome: c.var.webhook.event.type });
  });

export { secret, verify };
export const handledSoFar = () => handled;
export default app;
