import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import * as remix from '@remix-run/server-runtime';
import * as reactRouter from 'react-router';
import ts from 'typescript';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { isInstalled } from '../../integration/file-of.js';
import { filesOf } from '../../support/page-files.js';
import { PATIENTLY } from '../../support/patiently.js';
import { freePort } from '../../support/server-process.js';
import { aDelivery, SECRET } from '../queues/event.js';
import { installSources } from '../sources.js';

type Fetch = (request: Request) => Response | Promise<Response>;
/** What is used of React Router, and of Remix. */
interface Server {
  createRequestHandler(build: object, mode: 'production'): Fetch;
}
interface Place {
  fetch: Fetch;
  stop?(): Promise<void>;
  /** What its process has printed so far. */
  output?(): string;
}

const DOTENV = `WEBHOOK_SECRET=${SECRET}\n`;
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const root = here('../../../');
const CAUSE =
  'secret is empty. Check that the environment variable it comes from, such as WEBHOOK_SECRET, is set for this process. (invalid_secret)';

// The other quickstarts are run by test/readme.test.ts, and as apps of examples/frameworks.
const places: [name: string, page: string, start: (code: string) => Promise<Place>][] = [
  ['SvelteKit', 'sveltekit', () => startSvelteKit(DOTENV)],
  ['Astro', 'astro', () => startAstro(DOTENV)],
  ['Next', 'next', () => startNext(DOTENV)],
  ['React Router', 'react-router', (code) => startRouter(reactRouter, code)],
  ['Remix', 'react-router', (code) => startRouter(remix, code)],
  ['what Netlify calls', 'vercel-and-netlify', startNetlify],
];
const devServers: [name: string, page: string, start: (dotenv: string) => Promise<Place>][] = [
  ['SvelteKit', 'sveltekit', startSvelteKit],
  ['Astro', 'astro', startAstro],
  ['Next', 'next', startNext],
];
const missing = ['sveltekit', 'astro', 'next'].filter((name) => !isInstalled(`examples/${name}`));

beforeEach(() => void vi.stubEnv('WEBHOOK_SECRET', SECRET));

describe.each(places)('the recipe in the documentation for %s', (_name, page, start) => {
  it.skipIf(missing.includes(page))(
    'an event sent twice is handled once, and a forgery is refused',
    async () => {
      const { fetch, stop } = await start(moduleOf(page));
      const post = async (...[body, headers]: ReturnType<typeof aDelivery>) => {
        const response = await fetch(new Request('http://receiver.test/webhooks', { method: 'POST', headers, body }));
        return { status: response.status, text: await response.text() };
      };
      try {
        expect(await post(...aDelivery('evt_1', 'a guess'))).toMatchObject({ status: 401 });
        expect(await post(...aDelivery('evt_1'))).toEqual({ status: 200, text: expect.stringContaining('handled') });
        expect(await post(...aDelivery('evt_1'))).toEqual({ status: 200, text: expect.stringContaining('duplicate') });
      } finally {
        await stop?.();
      }
    },
    180_000,
  );
});

describe.each(devServers)('the development server of %s without the secret', (_name, page, start) => {
  it.skipIf(missing.includes(page))(
    'the cause is printed, and no delivery is accepted',
    async () => {
      const { fetch, stop, output = () => '' } = await start('');
      try {
        const [body, headers] = aDelivery('evt_1');
        const answer = Promise.resolve(
          fetch(new Request('http://receiver.test/webhooks', { method: 'POST', headers, body })),
        );
        // Next has ended by then.
        expect([500, 'ended']).toContain(await answer.then(({ status }) => status).catch(() => 'ended'));
        await vi.waitFor(() => expect(output()).toContain(CAUSE), PATIENTLY);
      } finally {
        await stop?.();
      }
    },
    180_000,
  );
});

/** The first block of a quickstart that is the module of a route; on Netlify it comes second. */
function moduleOf(page: string): string {
  const docs = readFileSync(join(root, `docs/quickstart/${page}.md`), 'utf8');
  const blocks = [...docs.matchAll(/^```ts.*\n([\s\S]*?)^```/gm)].map(([, code = '']) => code);
  const code = blocks[page === 'vercel-and-netlify' ? 1 : 0] ?? '';
  expect(code).not.toBe('');
  return code;
}

/** A folder below another one, where the packages of that one are found. */
function emptyFolder(parent: string): string {
  const temporary = join(root, parent, '.tmp');
  mkdirSync(temporary, { recursive: true });
  const folder = mkdtempSync(join(temporary, 'recipe-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The module that a block is. */
async function load<Exports>(code: string): Promise<Exports> {
  const file = join(emptyFolder('test/examples/recipes'), 'recipe.ts');
  writeFileSync(file, code);
  return import(file);
}

function startSvelteKit(dotenv: string): Promise<Place> {
  const config = `import { sveltekit } from '@sveltejs/kit/vite';\nexport default { plugins: [sveltekit()] };\n`;
  return startDevServer('examples/sveltekit', 'vite/bin/vite.js', {
    'vite.config.js': config,
    'src/app.html': '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
    ...pageFiles('sveltekit'),
    '.env': dotenv,
  });
}

function startAstro(dotenv: string): Promise<Place> {
  return startDevServer('examples/astro', 'astro/astro.js', { ...pageFiles('astro'), '.env': dotenv });
}

/** As JavaScript: for TypeScript, Next wants packages that the example does not have. */
async function startNext(dotenv: string): Promise<Place> {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const files = Object.entries(pageFiles('next'))
    .filter(([path]) => path.endsWith('.ts'))
    .map(([path, code]) => [path.replace(/\.ts$/, '.js'), ts.transpileModule(code, { compilerOptions }).outputText]);
  const config = readFileSync(join(root, 'examples/next/next.config.js'), 'utf8');
  const place = await startDevServer('examples/next', 'next/dist/bin/next', {
    ...Object.fromEntries(files),
    'next.config.js': config,
    '.env': dotenv,
  });
  return {
    ...place,
    async stop() {
      await place.stop?.();
      expect(place.output?.()).not.toMatch(/warning|not supported/i); // such as of process.exit in the Edge Runtime
    },
  };
}

/** The files of a page by their paths. Of two with the same path, the first: the second has the form of a middleware. */
function pageFiles(page: string): Record<string, string> {
  return Object.fromEntries(filesOf(page).reverse());
}

/** `dev` of a framework that an example has, in a project that has nothing but these files. */
async function startDevServer(example: string, program: string, files: Record<string, string>): Promise<Place> {
  const project = emptyFolder(example);
  for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
  installSources(project);
  const port = `${await freePort()}`;
  const args = [join(root, example, 'node_modules', program), 'dev', '--port', port];
  args.push(program.startsWith('next/') ? '--hostname' : '--host', '127.0.0.1');
  const { WEBHOOK_SECRET: _, ...rest } = process.env;
  // Not that of Vitest: with NODE_ENV=test, Next reads other files.
  const env = { ...rest, NODE_ENV: 'development', ASTRO_TELEMETRY_DISABLED: '1', NEXT_TELEMETRY_DISABLED: '1' };
  const child = spawn(process.execPath, args, { cwd: project, env, detached: true }); // Next starts another
  const ended = once(child, 'close');
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output += chunk;
    });
  // The address that it prints: where the port is taken it listens on the next one, and a stranger answers on this one.
  const printed = () => stripVTControlCharacters(output).match(/http:\/\/127\.0\.0\.1:\d+/)?.[0];
  const origin = await vi.waitFor(() => printed() ?? expect.fail(output), PATIENTLY);
  const at = (path: string) => `${origin}${path}`;
  return {
    fetch: (request) => fetch(new Request(at(new URL(request.url).pathname), request)),
    output: () => output,
    async stop() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

/** The server of React Router or Remix, with a build that has nothing but the route. */
async function startRouter(server: Server, code: string): Promise<Place> {
  const build = {
    routes: { webhooks: { id: 'webhooks', path: 'webhooks', module: await load<object>(code) } },
    entry: { module: { default: () => new Response('a document', { status: 500 }) } },
    assets: { routes: {}, entry: { imports: [], module: '' }, url: '', version: '1' },
    future: {},
    publicPath: '/',
    prerender: [],
    routeDiscovery: { mode: 'initial' },
    ssr: true,
    isSpaMode: false,
  };
  return { fetch: server.createRequestHandler(build, 'production') };
}

async function startNetlify(code: string): Promise<Place> {
  const { default: handler, config } = await load<{ default: Fetch; config: { path: string } }>(code);
  expect(config.path).toBe('/webhooks');
  return { fetch: handler };
}
