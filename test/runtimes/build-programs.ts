import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The crypto API that the library is to find. */
export type CryptoApi = 'node:crypto' | 'WebCrypto';

/** The files of programs, by their names. */
export function filesOf(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, here(`programs/${name}.ts`)]));
}

const served = filesOf('node', 'bun', 'deno', 'workerd', 'workerd-suite');

/** Programs with the built library, each one file, as a bundler for the edge makes them. */
export async function buildPrograms(files: Record<string, string> = served) {
  const folder = mkdtempSync(join(tmpdir(), 'runtimes-'));
  const folderOf = (api: CryptoApi) => join(folder, api.replace(':', '-'));
  for (const api of ['node:crypto', 'WebCrypto'] as const) {
    await build({
      config: false,
      silent: true,
      entry: files,
      outDir: folderOf(api),
      outExtension: () => ({ js: '.mjs' }),
      format: 'esm',
      target: 'es2022',
      platform: 'neutral',
      splitting: false,
      noExternal: [/^(?!node:|cloudflare:)/],
      external: [/^node:/, /^cloudflare:/],
      // What the library asks for node:crypto when it is loaded.
      ...(api === 'WebCrypto' && { banner: { js: 'if (globalThis.process) process.getBuiltinModule = undefined;' } }),
      esbuildOptions(options) {
        options.alias = {
          'service-webhooks': here('../../dist/index.js'),
          'service-webhooks-suites': here('../../packages/suites/src/index.ts'),
          'service-webhooks/fetch': here('../../dist/fetch.js'),
          'service-webhooks/option-checks': here('../../dist/option-checks.js'),
          'service-webhooks/queue': here('../../dist/queue.js'),
          'service-webhooks/queue/cloudflare': here('../../dist/queue/cloudflare.js'),
          'service-webhooks/queue/overflow': here('../../dist/queue/overflow.js'),
          'service-webhooks/service': here('../../dist/service.js'),
          'service-webhooks/stores/d1': here('../../dist/stores/d1.js'),
          'service-webhooks/stores/durable-object': here('../../dist/stores/durable-object.js'),
          'service-webhooks/testing': here('../../dist/testing.js'),
        };
      },
    });
    // What brings node:crypto to workerd.
    const flags = api === 'node:crypto' ? '"nodejs_compat"' : '';
    for (const program of ['workerd', 'workerd-suite']) {
      writeFileSync(join(folderOf(api), `${program}.capnp`), workerdConfig(`${program}.mjs`, flags));
    }
  }
  return { folderOf, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

function workerdConfig(module: string, flags: string): string {
  return `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "program", worker = .program)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "program")],
);

const program :Workerd.Worker = (
  modules = [(name = "${module}", esModule = embed "${module}")],
  compatibilityDate = "2026-04-20",
  compatibilityFlags = [${flags}],
);
`;
}
