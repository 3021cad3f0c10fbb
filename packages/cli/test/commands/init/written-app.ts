import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from '@hono/node-server';
import ts from 'typescript';
import { onTestFinished } from 'vitest';
import { installSources } from '../../../../../test/examples/sources.js';
import { SECRET } from '../../../../../test/support/deliveries.js';
import { ROOT } from '../../../../../test/support/markdown.js';

/** An empty app in a folder where the frameworks of examples/frameworks are found. */
export function emptyApp(packageJson: object): string {
  const parent = join(ROOT, 'examples/frameworks/.tmp');
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, 'init-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify(packageJson));
  return folder;
}

/** Where the library is as JavaScript, compiled once for all apps. */
const library = mkdtempSync(join(tmpdir(), 'init-library-'));
process.once('exit', () => rmSync(library, { recursive: true, force: true }));

/** Gives the app the sources of the library as the package. */
export function install(folder: string): void {
  const compiled = join(library, 'node_modules/service-webhooks');
  if (!existsSync(compiled)) {
    installSources(library);
    const file = join(compiled, 'package.json');
    const description = JSON.parse(readFileSync(file, 'utf8'));
    description.exports['./testing'] = './src/testing/index.js';
    writeFileSync(file, JSON.stringify(description));
  }
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(compiled, join(folder, 'node_modules/service-webhooks'));
}

/** What a compiler in strict mode says about the TypeScript of a folder. */
export function problemsOf(folder: string): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: ['node'],
    typeRoots: [join(ROOT, 'node_modules/@types')],
    experimentalDecorators: true,
    skipLibCheck: true,
    noEmit: true,
    paths: {
      'service-webhooks': [join(ROOT, 'src/index.ts')],
      'service-webhooks/*': ['src/*.ts', 'src/*/index.ts', 'adapters/*.ts'].map((place) => join(ROOT, place)),
    },
  };
  const program = ts.createProgram(filesIn(folder, '.ts'), options);
  return ts
    .getPreEmitDiagnostics(program)
    .filter(({ file }) => file?.fileName.startsWith(folder))
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`);
}

/** Writes JavaScript next to the TypeScript of a folder, as the app's own build does. */
export function compile(folder: string, module: 'esm' | 'commonjs'): void {
  const compilerOptions: ts.CompilerOptions = {
    module: module === 'esm' ? ts.ModuleKind.ESNext : ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    experimentalDecorators: true,
  };
  for (const file of filesIn(folder, '.ts')) {
    const { outputText } = ts.transpileModule(readFileSync(file, 'utf8'), { compilerOptions });
    writeFileSync(file.replace(/\.ts$/, '.js'), outputText);
  }
}

/** Runs the test that was written, with Node's own runner. */
export function runTest(folder: string, path: string) {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return spawnSync(process.execPath, ['--test', path], { cwd: folder, env, encoding: 'utf8' });
}

const ofExamples = createRequire(join(ROOT, 'examples/frameworks/package.json'));

/** Mounts the route as the printed lines say, and gives its address. */
export async function start(folder: string, framework: string, route: string): Promise<string> {
  process.env['WEBHOOK_SECRET'] = SECRET;
  const load = async (path: string) => import(pathToFileURL(path).href);
  const {
    webhooks,
    POST,
    default: worker,
    WebhooksController,
  } = await load(join(folder, route.replace(/\.ts$/, '.js')));
  const listening = (server: { address(): unknown; close(): unknown }) => {
    onTestFinished(() => void server.close());
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`;
  };
  const served = (fetch: (request: Request) => Response | Promise<Response>) =>
    new Promise<string>((resolve) => {
      const server = serve({ fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(listening(server)));
    });
  switch (framework) {
    case 'express': {
      const { default: express } = await import('express');
      const app = express().post('/webhooks', webhooks).use(express.json());
      return new Promise((resolve) => {
        const server = app.listen(0, '127.0.0.1', () => resolve(listening(server)));
      });
    }
    case 'hono': {
      const { Hono } = await import('hono');
      return served(new Hono().post('/webhooks', webhooks).fetch);
    }
    case 'fastify': {
      const { default: fastify } = await import('fastify');
      const app = fastify();
      app.register(webhooks, { prefix: '/webhooks' });
      await app.listen({ port: 0, host: '127.0.0.1' });
      onTestFinished(() => app.close());
      return listening({ address: () => app.server.address(), close: () => {} });
    }
    case 'nest': {
      const [{ Module }, { NestFactory }] = await Promise.all([
        load(ofExamples.resolve('@nestjs/common')),
        load(ofExamples.resolve('@nestjs/core')),
      ]);
      class AppModule {}
      Module({ controllers: [WebhooksController] })(AppModule);
      const app = await NestFactory.create(AppModule, { rawBody: true, logger: false });
      app.useBodyParser('json', { limit: '5mb' });
      await app.listen(0, '127.0.0.1');
      onTestFinished(() => app.close());
      return listening({ address: () => app.getHttpServer().address(), close: () => {} });
    }
    case 'next':
      return served(POST);
    case 'workers':
      return served((request) => worker.fetch(request, { WEBHOOK_SECRET: SECRET }));
    default: {
      const server = createServer((req, res) =>
        req.url === '/webhooks' ? webhooks(req, res) : res.writeHead(404).end(),
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return listening(server);
    }
  }
}

function filesIn(folder: string, extension: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension) && !name.includes('node_modules'))
    .map((name) => join(folder, name));
}
