import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { serveEndpoints } from './endpoints.js';

// Room for header values that Node would refuse before anyone else sees them.
const serverOptions = { maxHeaderSize: 256 * 1024 };
const server = createAdaptorServer({ fetch: serveEndpoints, overrideGlobalObjects: false, serverOptions });

server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
