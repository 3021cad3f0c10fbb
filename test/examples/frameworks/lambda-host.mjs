// Stands in for Lambda and a function URL: calls the handler that is named, as `file.name`, with an event of payload
// format 2.0 for each request over HTTP.
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [, , named] = process.argv;
const [file, name] = named.split('.');
const { [name]: handler } = await import(pathToFileURL(join(process.cwd(), `${file}.js`)).href);

createServer(async (req, res) => {
  const { method, url, headers } = req;
  const body = Buffer.concat(await req.toArray()).toString('base64');
  const requestContext = { http: { method, path: url } };
  const event = { version: '2.0', rawPath: url, headers, requestContext, body, isBase64Encoded: true };
  const answer = await handler(event, { awsRequestId: crypto.randomUUID() });
  res.writeHead(answer.statusCode, answer.headers).end(answer.body);
}).listen(Number(process.env.PORT), '127.0.0.1');
