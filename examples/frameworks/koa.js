import Koa from 'koa';
import { createReceiver } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/koa';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret });
const receive = webhookMiddleware(receiver);
const app = new Koa();
// Above the body parser, which takes the exact bytes away. A router mounts it at its path, too.
app.use((ctx, next) => (ctx.path === '/webhooks' ? receive(ctx, next) : next()));
app.use(async (ctx) => {
  if (ctx.path === '/webhooks/health') ctx.body = await receiver.health(); // for your monitor: keep it private
  if (ctx.path !== '/webhooks') return;
  console.log(`done ${ctx.state.webhook?.event.id}`);
  ctx.body = { thanks: true };
});
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
