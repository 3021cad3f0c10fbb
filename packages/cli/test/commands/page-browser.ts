import type { Snapshot } from '../../src/page/page-source.js';

/** As a browser does it that has the page open. */
export function browse(url: string) {
  const open = async (path: string, init?: RequestInit) => {
    const response = await fetch(new URL(path, url), init);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return {
    open,
    read: async (path: string) => JSON.parse((await open(path)).text),
    async act(name: string, input: object) {
      const token = /name="page-token" content="([\w-]+)"/.exec((await open('/')).text)?.[1] ?? '';
      const headers = { origin: new URL(url).origin, 'x-page-token': token, 'content-type': 'application/json' };
      return open(`/page/actions/${name}`, { method: 'POST', headers, body: JSON.stringify(input) });
    },
    /** What a page shows first. */
    async snapshot(): Promise<Snapshot> {
      const stop = new AbortController();
      const { body } = await fetch(new URL('/page/stream', url), { signal: stop.signal });
      let text = '';
      for await (const chunk of body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.includes('\n\n')) break;
      }
      stop.abort();
      return JSON.parse(/^data: (.+)$/m.exec(text)?.[1] ?? '{}');
    },
  };
}
