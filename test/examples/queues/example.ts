import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

export const folder = fileURLToPath(new URL('../../../examples/queues/', import.meta.url));

const require = createRequire(`${folder}package.json`);

/** One of the libraries of the examples, as far as a test needs it. */
export function load<T>(name: string): T {
  return require(name);
}
