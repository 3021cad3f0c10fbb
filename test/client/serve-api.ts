import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it arrived. */
export interface Inspection {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Answers one request. */
export type Reply = (response: ServerResponse, seen: Inspection) => unknown;

/** A small HTTP server in place of the service: it answers with the replies in its queue, and then with `{}`. */
export interface Api {
  url: string;
  /** The replies to the next requests. */
  replies: Reply[];
  /** The requests since the last `reset`. */
  seen: Inspection[];
  reset(): void;
  close(): Promise<void>;
}

export async function serveApi(): Promise<Api> {
  const replies: Reply[] = [];
  const seen: Inspection[] = [];
  // Kept open, so that no request on a busy machine meets a connection that the server closes.
  const server = createServer({ keepAliveTimeout: 60_000 }, async (request, response) => {
    const chunks: Buffer[] = await request.toArray();
    const { method = '', url: path = '', headers } = request;
    const arrived = { method, path, headers, body: Buffer.concat(chunks).toString() };
    seen.push(arrived);
    (replies.shift() ?? json({}))(response, arrived);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    replies,
    seen,
    reset() {
      replies.length = 0;
      seen.length = 0;
    },
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  };
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return text(JSON.stringify(value), status, { 'content-type': 'application/json', ...headers });
}

export function text(body: string, status = 200, headers: Record<string, string> = {}): Reply {
  return (response) => response.writeHead(status, headers).end(body);
}

/** The error object of section 7.1. */
export function refusal(
  code: string,
  status: number,
  fields: object = {},
  headers: Record<string, string> = {},
): Reply {
  return json({ error: { type: 't', code, message: 'no', status, ...fields } }, status, headers);
}

/** The connection ends before the answer. */
export const hangUp: Reply = (response) => response.destroy();

/** The connection ends within the answer. */
export const breakOff: Reply = (response) => {
  response.writeHead(200, { 'content-length': '100' });
  response.write('{"a":', () => response.destroy());
};
