// A receiver on node:http in a process of its own, with one of the places: `serve.mjs <place> <name> <folder>`.
import { createServer } from 'node:http';
import { SECRET } from '../http/servers.mjs';
import { entryOf } from '../library.mjs';
import { places } from './places.mjs';

const [place, name, folder] = process.argv.slice(2);
const { webhookHandler } = await entryOf('node');
const options = await places[place].open({ name, folder });
await options.queue?.init?.();
const work = options.queue ? {} : { on: { '*': async () => {} } };
const server = createServer(webhookHandler({ secret: SECRET, ...work, ...options }));
server.listen(0, '127.0.0.1', () => process.send(server.address().port));
process.on('disconnect', () => process.exit());
