import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';
import { freePort } from '../../support/server-process.js';
import { SECRET } from '../queues/event.js';
import { type ExampleApp, folder, programOf } from './example-apps.js';

export interface StartedApp {
  url: string;
  /** What it has printed. */
  lines: readonly string[];
  stop(): Promise<void>;
}

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Where npx finds the programs of a workspace. */
const PROGRAMS = [`${folder}node_modules/.bin`, here('../../../node_modules/.bin')];

/** Starts an app as the README says, on the sources of the library in that folder. */
export async function startApp(app: ExampleApp, sources: string): Promise<StartedApp> {
  const port = await freePort();
  const [command = '', ...args] = await commandOf(app, port, sources);
  const child = spawn(command, args, {
    cwd: folder,
    detached: true, // some start others
    env: {
      ...process.env,
      PATH: [...PROGRAMS, process.env['PATH']].join(delimiter),
      NODE_OPTIONS: `--import ${new URL('../from-sources.mjs', import.meta.url)}`,
      SOURCES: sources,
      WEBHOOK_SECRET: SECRET,
      PORT: `${port}`,
    },
  });
  const ended = once(child, 'close');
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return {
    url: `http://127.0.0.1:${port}${app.path}`,
    lines,
    async stop() {
      if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

/** The words of the README, with the programs as they are here. */
async function commandOf(app: ExampleApp, port: number, sources: string): Promise<readonly string[]> {
  const [program = '', ...args] = app.start(port);
  if (program === 'node') return [process.execPath, ...args];
  if (program === 'func') return [process.execPath, here('azure-host.mjs'), app.script];
  if (program === 'aws-lambda.handler') return [process.execPath, here('lambda-host.mjs'), program];
  if (program === 'npx' && args[0] !== 'wrangler') return args;
  const bundle = await bundleOf(app.script, sources);
  if (program !== 'npx') return [`${programOf(program)}`, ...args.map((arg) => (arg === app.script ? bundle : arg))];
  writeFileSync(`${bundle}.capnp`, workerdConfig(port));
  return [`${programOf('workerd')}`, 'serve', `${bundle}.capnp`];
}

/** An app and the library in one file, for what does not take modules from Node's loader. */
async function bundleOf(script: string, sources: string): Promise<string> {
  const outDir = join(sources, 'bundles', script);
  await build({
    config: false,
    silent: true,
    entry: [join(folder, script)],
    outDir,
    outExtension: () => ({ js: '.mjs' }),
    format: 'esm',
    target: 'es2022',
    platform: 'neutral',
    noExternal: [/^service-webhooks/],
    external: ['cloudflare:workers', /^node:/],
    esbuildOptions(options) {
      options.alias = {
        'service-webhooks/fetch': join(sources, 'adapters/fetch.js'),
        'service-webhooks': join(sources, 'src/index.js'),
      };
    },
  });
  return join(outDir, script.replace('.js', '.mjs'));
}

/** What Wrangler would tell workerd of workers.js. */
function workerdConfig(port: number): string {
  return `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "app", worker = .app)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "app")],
);

const app :Workerd.Worker = (
  modules = [(name = "workers.mjs", esModule = embed "workers.mjs")],
  bindings = [(name = "WEBHOOK_SECRET", text = "${SECRET}")],
  compatibilityDate = "2026-04-20",
);
`;
}
