import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PageSource } from './page-source.js';
import { type Assets, readAssets } from './server/assets.js';
import { createPage } from './server/create-page.js';

export interface ServedPage {
  url: string;
  close(): Promise<void>;
}

/** Serves the page on its own port of the loopback interface; 0 for any. Rejects where the port is not available. */
export async function servePage(source: PageSource, port: number, assets?: Assets): Promise<ServedPage> {
  const page = createPage(source, assets ?? (await readAssets()));
  const server = createServer((req, res) => {
    if (!page.handle(req, res)) res.writeHead(404).end();
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async close() {
      page.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
