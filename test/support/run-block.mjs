// Runs one code block of the documentation in a process of its own. Every server it starts gets a free port of
// loopback, which is sent to the parent; an exported Fetch handler is served the same way.
import { Server } from 'node:net';
import { pathToFileURL } from 'node:url';
import { serve } from '@hono/node-server';

const { listen } = Server.prototype;
Server.prototype.listen = function listenOnFreePort(...args) {
  this.once('listening', () => process.send({ port: this.address().port }));
  return listen.call(this, 0, '127.0.0.1', ...args.filter((arg) => typeof arg === 'function'));
};

const { POST, default: main } = await import(pathToFileURL(process.argv[2]).href);
const handler = POST ?? main?.fetch;
if (handler !== undefined) serve({ fetch: handler });
