import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that an {@link App} got. */
export interface Got {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  rawHeaders: string[];
  body: Buffer;
}

/** The user's app: a real server on loopback. */
export interface App {
  url: string;
  port: number;
  got: Got[];
  server: Server;
}

/** It answers 200, or what `answer` does. Closed at the end of the test. */
export async function serveApp(answer?: (got: Got, ...http: Parameters<RequestListener>) => unknown): Promise<App> {
  const got: Got[] = [];
  const app = await serveListener(async (req, res) => {
    const chunks: Buffer[] = await req.toArray().catch(() => []);
    const { method = '', url: path = '', headers, rawHeaders } = req;
    const one = { method, path, headers, rawHeaders, body: Buffer.concat(chunks) };
    got.push(one);
    if (answer) await answer(one, req, res);
    else res.end();
  });
  return { ...app, got };
}

/** Any listener, closed at the end of the test. */
export async function serveListener(listener: RequestListener): Promise<Omit<App, 'got'>> {
  const server = createServer(listener);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, server };
}
