import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

export const folder = fileURLToPath(new URL('../../../examples/queues/', import.meta.url));

const require = createRequire(`${folder}package.json`);
const manifest: { dependencies: Record<string, string> } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));

/** Whether what the examples depend on is there; it stands apart from the root install. */
export const installed = isInstalled();

/** One of the libraries of the examples, as far as a test needs it. Call it where `installed` holds. */
export function load<T>(name: string): T {
  return require(name);
}

function isInstalled(): boolean {
  const missing = Object.keys(manifest.dependencies).filter((name) => !existsSync(`${folder}node_modules/${name}`));
  const { CI } = process.env;
  if (missing.length > 0 && CI === 'true') throw new Error(`examples/queues lacks ${missing.join(', ')}`);
  if (missing.length > 0) console.warn('SKIPPED: what needs examples/queues. Install it: cd examples/queues && npm ci');
  return missing.length === 0;
}
