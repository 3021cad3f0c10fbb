import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { CERTIFICATE, KEY } from './certificate.js';

/** A request of the emulator as it arrived. */
export interface Arrived {
  /** The method and the target. */
  line: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
}

/** A receiver on a port of its own, which lives as long as the test. */
export interface TestReceiver {
  url: string;
  arrived: Arrived[];
}

/** Starts a receiver that answers with 200, or as `answer` does. */
export async function startReceiver(
  answer: (response: ServerResponse, arrived: Arrived, n: number) => unknown = (response) => response.end(),
): Promise<TestReceiver> {
  const arrived: Arrived[] = [];
  const url = await startServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray().catch(() => []);
    const { method, url: target, headers, rawHeaders } = request;
    const one = { line: `${method} ${target}`, headers, rawHeaders, body: Buffer.concat(chunks) };
    arrived.push(one);
    answer(response, one, arrived.length);
  });
  return { url, arrived };
}

/** Starts a plain server, which may answer before it reads a body. */
export async function startServer(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(listener))}/webhooks?from=service`;
}

/** Starts a receiver on https, with an untrusted certificate for localhost. */
export async function startTlsReceiver(): Promise<string> {
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    request.resume().on('end', () => response.end('over TLS'));
  });
  return `https://localhost:${await listen(server)}/webhooks`;
}

/** Starts a receiver that writes its own bytes. */
export async function startSocketReceiver(answer: (socket: Socket) => unknown): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

/** Starts a server on a free port, which it returns, and stops it with all its connections after the test. */
async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return (server.address() as AddressInfo).port;
}

export const status =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code).end();
  };
