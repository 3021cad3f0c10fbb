import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Room for header values that Node would refuse before anyone else sees them. */
export const SERVER_OPTIONS = { maxHeaderSize: 256 * 1024 };

export function listenNode(listener: RequestListener) {
  return listen(createServer(SERVER_OPTIONS, listener));
}

/** On a free port of the loopback interface. */
export function listen(server: Server) {
  return new Promise<{ port: number; close(): Promise<void> }>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const close = () => new Promise<void>((closed) => server.close(() => closed()).closeAllConnections());
      resolve({ port: (server.address() as AddressInfo).port, close });
    });
  });
}
