import { onTestFinished } from 'vitest';
import { exchange, type RawResponse } from '../../../../test/support/raw-http.js';
import type { PageSource } from '../../src/page/page-source.js';
import type { Assets } from '../../src/page/server/document.js';
import { type OtherViews, servePage } from '../../src/page/server/page-server.js';

const NO_ASSETS: Assets = {
  script: Buffer.from('// script'),
  style: Buffer.from('/* style */'),
  queue: { script: Buffer.from('// queue'), style: Buffer.from('/* queue */') },
  jobs: { script: Buffer.from('// jobs') },
};

/** A page that is served until the test ends, and requests to it, of which every header can be chosen. */
export async function served(source: PageSource | undefined, assets = NO_ASSETS, views: OtherViews = {}) {
  const { url, close } = await servePage(source, 0, { assets, ...views });
  onTestFinished(close);
  const { host, origin, port } = new URL(url);
  const request = (method: string, path: string, headers: Record<string, string | undefined> = {}, body = '') => {
    const all = { host, 'content-length': String(Buffer.byteLength(body)), connection: 'close', ...headers };
    const lines = Object.entries(all).map(([name, value]) => (value === undefined ? '' : `${name}: ${value}\r\n`));
    return exchange(Number(port), Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`));
  };
  const get = (path: string, headers?: Record<string, string | undefined>) => request('GET', path, headers);
  const token = /name="page-token" content="([\w-]+)"/.exec((await get('/')).body)?.[1] ?? '';
  const own = { origin, 'x-page-token': token, 'content-type': 'application/json' };
  return {
    ...{ url, origin, token, own, request, get },
    /** As the page does it, but for what is different. */
    act: (name: string, input: unknown, headers: Record<string, string | undefined> = {}): Promise<RawResponse> =>
      request('POST', `/page/actions/${name}`, { ...own, ...headers }, JSON.stringify(input)),
  };
}
