import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { PageSource } from '../../../page/page-source.js';
import { type Assets, readAssets } from '../../../page/server/document.js';
import { foreignRefusal } from '../../../page/server/guard.js';
import { createPage } from '../../../page/server/page-server.js';
import { openBody } from '../../../receiver/body.js';
import { listening } from '../../listening.js';
import type { Api } from './dev-events.js';

export interface DevServer {
  url: string;
  close(): Promise<void>;
}

/**
 * Serves the page and the API on one port of the loopback interface. @throws Failure where the port is not available
 */
export async function serveDev(source: PageSource, api: Api, port: number, assets?: Assets): Promise<DevServer> {
  const page = createPage(source, assets ?? (await readAssets()));
  const server = createServer((req, res) => {
    if (page.handle(req, res)) return;
    answer(api, req, res).catch(() => res.destroy());
  });
  await listening(server, '127.0.0.1', port);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      page.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(api: Api, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const refusal = foreignRefusal(req);
  if (refusal) {
    openBody(req).drain();
    res
      .writeHead(refusal.status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ error: refusal.reason }));
    return;
  }
  const { status, headers, body } = await api(toRequest(req));
  res.writeHead(status, Object.fromEntries(headers));
  if (body === null) res.end();
  else Readable.fromWeb(body as import('node:stream/web').ReadableStream).pipe(res);
  req.resume(); // the rest of a body that no handler reads
}

function toRequest(req: IncomingMessage): Request {
  const { method = 'GET', url = '/', rawHeaders } = req;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  const body = method === 'GET' || method === 'HEAD' ? null : Readable.toWeb(req);
  return new Request(new URL(url, `http://${req.headers.host}`), {
    method,
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
}
