import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isInstalled } from '../../integration/file-of.js';

export const folder = fileURLToPath(new URL('../../../examples/queues/', import.meta.url));

const require = createRequire(`${folder}package.json`);

/** Whether what the examples depend on is there; it stands apart from the root install. */
export const installed = isInstalled('examples/queues');

/** One of the libraries of the examples, as far as a test needs it. Call it where `installed` holds. */
export function load<T>(name: string): T {
  return require(name);
}
