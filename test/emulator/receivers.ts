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

/** Answers each request as it is told to; with 200 unless it is told something else. */
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

/** A server as it is, which need not read a body before it answers. */
export async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks?from=service`;
}

/** A receiver on https, with a certificate for localhost that nobody trusts. */
export async function startTlsReceiver(): Promise<string> {
  const server = createTlsServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
    request.resume().on('end', () => response.end('over TLS'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()));
  return `https://localhost:${(server.address() as AddressInfo).port}/webhooks`;
}

/** A receiver that speaks what it likes. */
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

/** An address at which nobody listens. */
export async function closedPort(): Promise<string> {
  const url = await startSocketReceiver(() => {});
  await closing.pop()?.();
  return url;
}

export const status =
  (code: number) =>
  (response: ServerResponse): void => {
    response.writeHead(code).end();
  };
