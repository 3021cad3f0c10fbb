// Serves a receiver, prints its port, and keeps the last delivery that it handled, until its input ends.
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { webhookHandler } from 'service-webhooks/node';

let head = '';
const keep = (_event, { delivery: { body } }) =>
  writeFileSync('delivery.http', Buffer.concat([Buffer.from(head), body]));
const receive = webhookHandler({ secret: process.env.WEBHOOK_SECRET, on: { '*': keep } });
const server = createServer((req, res) => {
  const { method, url, httpVersion, rawHeaders } = req;
  const lines = rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
  head = `${method} ${url} HTTP/${httpVersion}\r\n${lines}\r\n`;
  return receive(req, res);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
