import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, statSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { framework } from '../framework.js';

/** What is used of Next. */
type Next = (options: { dir: string; dev: boolean }) => {
  prepare(): Promise<void>;
  getRequestHandler(): RequestListener;
  close(): Promise<void>;
};
/** `after` is that of `next/server`. */
export type AppRoute = (request: Request, after?: (work: Promise<unknown>) => void) => Promise<Response>;
export type ApiRoute = (req: IncomingMessage & { body?: unknown }, res: ServerResponse) => unknown;

const sources = import.meta.dirname;
// Where Next is installed. What it builds there finds it.
const example = join(sources, '../../../examples/next');
const folder = join(example, '.tmp/suite');
const mounted = new Map<string, AppRoute | ApiRoute>();
Object.assign(globalThis, { mounted }); // where the routes of the app look

/** The app of this folder, behind a server of its own; undefined where Next is not installed. */
export async function startNext(serverOptions: object) {
  process.env['NEXT_TELEMETRY_DISABLED'] = '1';
  const next = framework<Next>('next', '../../examples/next');
  if (next === undefined) return undefined;
  build();
  const app = next({ dir: folder, dev: false });
  await app.prepare();
  const server = createServer(serverOptions, app.getRequestHandler());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    /** Gives a route of the app this to do, and gives its path. */
    mount(route: AppRoute | ApiRoute, path: '/webhooks' | '/api/webhooks' | '/api/parsed'): string {
      const id = `${mounted.size}`;
      mounted.set(id, route);
      return `${path}/${id}`;
    },
    async close() {
      server.close().closeAllConnections();
      await app.close();
    },
  };
}

/** As `next build` does it, unless that has been done. */
function build(): void {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' }).map((file) => join(sources, file));
  const changed = [join(example, 'package-lock.json'), ...files].map(changedAt);
  if (changedAt(join(folder, '.next/BUILD_ID')) > Math.max(...changed)) return;
  for (const name of ['app', 'pages', 'instrumentation.js', 'next.config.js'])
    cpSync(join(sources, name), join(folder, name), { recursive: true });
  const bin = join(example, 'node_modules/next/dist/bin/next');
  const env = { ...process.env, NODE_ENV: 'production' } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, 'build'], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`next build failed:\n${stdout}${stderr}`);
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
