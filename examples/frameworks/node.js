import { createServer } from 'node:http';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receiver = createReceiver({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const receive = webhookHandler(receiver);
const server = createServer(async (req, res) => {
  if (req.url === '/webhooks') receive(req, res);
  else if (req.url === '/webhooks/health')
    res.end(JSON.stringify(await receiver.health())); // keep it private
  else res.writeHead(404).end();
});
server.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
