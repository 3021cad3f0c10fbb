import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'tsup';
import { companions } from '../../scripts/subpaths.js';
import { ROOT } from './markdown.js';

/** Puts the suites and the library into `node_modules` of a checkout, where its programs find them as users do. */
export async function installSuites(checkout: string): Promise<void> {
  const modules = join(checkout, 'node_modules');
  mkdirSync(modules);
  symlinkSync(checkout, join(modules, 'service-webhooks'), 'junction');
  for (const { name, entry, source } of companions) {
    const outDir = join(modules, name);
    await build({
      config: false,
      silent: true,
      entry: { [entry]: join(ROOT, source) },
      outDir,
      format: 'esm',
      target: 'es2022',
      external: [/^service-webhooks/],
      outExtension: () => ({ js: '.js' }),
    });
    writeFileSync(join(outDir, 'package.json'), '{ "type": "module", "exports": "./index.js" }');
  }
}
