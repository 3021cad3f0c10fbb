import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach } from 'vitest';
import { CERTIFICATE, KEY } from './certificate.js';

/** A request of the emulator as it arrived. */
export interface Arrived {
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: Buffer;
}

/** A receiver on a port of its own, which lives as long as the test. */
export interface TestReceiver {
  url: string;
  arrived: Arrived[];
}

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** Starts a receiver that answers with 200, or as `answer` does. */
export async function startReceiver(
  answer: (response: ServerResponse, arrived: Arrived, n: number) => unknown = (response) => response.end(),
): Promise<TestReceiver> {
  const arrived: Arrived[] = [];
  const url = await startServer(async (request, response) => {
    const chunks: Buffer[] = await request.toArray().catch(() => []);
    const { headers, rawHeaders } = request;
    const one = { headers, rawHeaders, body: Buffer.concat(chunks) };
    arrived.push(one);
    answer(response, one, arrived.length);
  });
  return { url, arrived };
}

/** Starts a plain server, which may answer before it reads a body. */
export async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks?from=service`;
}

/** Starts a receiver on https, with an untrusted certificate for localhost. */
export async function startTlsReceiver(): Promise<string> {
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    request.resume().on('end', () => response.end('over TLS'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()));
  return `https://localhost:${(server.address() as AddressInfo).port}/webhooks`;
}

/** Starts a receiver that writes its own bytes. */
export async function startSocketReceiver(answer: (socket: Socket) => unknown): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

export const status =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code).end();
  };
