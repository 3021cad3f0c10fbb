import { createServer } from 'node:http';
import { webhookHandler } from 'service-webhooks/node';

const { WEBHOOK_SECRET: secret = '', PORT = '3000' } = process.env;

const receive = webhookHandler({ secret, on: { '*': (event) => console.log(`done ${event.id}`) } });
const server = createServer((req, res) => {
  if (req.url === '/webhooks') receive(req, res);
  else res.writeHead(404).end();
});
server.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
