import { createRequire, isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Consumer, entriesOf, isInstalled, makeConsumer, manifest, program } from './consumer.js';

/** What is used of esbuild, which is the project's own. */
interface Esbuild {
  build(options: object): Promise<{ outputFiles: { text: string }[] }>;
}

const tools = createRequire(fileURLToPath(new URL('../integration/consumers/package.json', import.meta.url)));
const bundlers: Record<string, (consumer: Consumer, entry: string) => Promise<string>> = {
  async esbuild({ folder }, entry) {
    const { build }: Esbuild = await import(pathToFileURL(tools.resolve('esbuild')).href);
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: [entry],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      conditions: ['workerd', 'worker', 'browser'],
      logLevel: 'silent',
    });
    return outputFiles.map(({ text }) => text).join('\n');
  },
  // As a program of its own, since vitest has a Vite of another version in this process.
  async Vite(consumer, entry) {
    consumer.write('vite.config.mjs', VITE_CONFIG.replace('ENTRY', entry));
    consumer.node(['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'error']);
    return consumer.read(join('dist', entry.replace('.js', '.mjs')));
  },
};

const VITE_CONFIG = `export default {
  ssr: { target: 'webworker', noExternal: true },
  build: {
    ssr: 'ENTRY',
    target: 'es2022',
    minify: false,
    rollupOptions: { output: { entryFileNames: '[name].mjs' } },
  },
};`;

describe.skipIf(!isInstalled('consumers')).each(Object.keys(bundlers))('a bundle of %s for the edge', (bundler) => {
  const bundle = (consumer: Consumer, entry: string) => bundlers[bundler]?.(consumer, entry) ?? Promise.reject();
  let consumer: Consumer;

  beforeAll(() => {
    const everything = entriesOf(manifest)
      .map(({ name }, i) => `export * as entry${i} from '${name}';`)
      .join('\n');
    consumer = makeConsumer({ 'worker.js': program('worker.js'), 'everything.js': everything }, 'consumers');
  });

  it('the bundle of every entry imports no module of Node', async () => {
    const text = await bundle(consumer, 'everything.js');
    expect(text).toContain('service-webhooks');
    expect(importsIn(text)).toEqual([]);
    expect(text.split('\n').filter((line) => line.includes('node:'))).toEqual([]);
  });

  it('the adapters for Fetch and Hono verify deliveries without node:crypto', async () => {
    const text = await bundle(consumer, 'worker.js');
    expect(importsIn(text)).toEqual([]);
    expect(text).not.toContain('node:');
    consumer.write(`${bundler}.mjs`, text);
    consumer.write('serve.mjs', program('serve.mjs'));
    expect(JSON.parse(consumer.node(['serve.mjs', `./${bundler}.mjs`]))).toEqual({
      verify: 'sync_crypto_unavailable',
      '/fetch': ['200 handled', '200 duplicate', '401 signature_mismatch'],
      '/hono': ['200 handled', '200 duplicate', '401 signature_mismatch'],
      '/hono/middleware': ['200 stt.completed', '200 duplicate', '401 signature_mismatch'],
      handled: 3,
    });
  });
});

/** Modules that are asked for and not in the bundle. */
function importsIn(text: string): string[] {
  const named = [...text.matchAll(/(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*["']([^"'\n]+)["']/g)];
  return named.map(([, name = '']) => name).filter((name) => isBuiltin(name) || name.startsWith(manifest.name));
}
