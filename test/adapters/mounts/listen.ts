import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createHttp2Server, type Http2Server, type ServerHttp2Session } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Room for header values that Node would refuse before anyone else sees them. */
export const SERVER_OPTIONS = { maxHeaderSize: 256 * 1024 };

export function listenNode(listener: RequestListener) {
  return listen(createServer(SERVER_OPTIONS, listener));
}

/** Whether this is Node: other runtimes have only parts of its HTTP/2 server. */
export const HAS_HTTP2 = !('Bun' in globalThis || 'Deno' in globalThis);

/** With HTTP/2, whose requests and responses Node makes look like those of HTTP/1. */
export function listenHttp2(listener: RequestListener) {
  return listen(
    createHttp2Server({ settings: { maxHeaderListSize: SERVER_OPTIONS.maxHeaderSize } }, listener as never),
  );
}

/** On a free port of the loopback interface. */
export function listen(server: Server | Http2Server) {
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session: ServerHttp2Session) => sessions.add(session));
  const closeConnections = () => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    for (const session of sessions) session.destroy();
  };
  return new Promise<{ port: number; http2: boolean; close(): Promise<void> }>((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const close = () =>
        new Promise<void>((closed) => {
          server.close(() => closed());
          closeConnections();
        });
      const { port } = server.address() as AddressInfo;
      resolve({ port, http2: !('closeAllConnections' in server), close });
    });
  });
}
