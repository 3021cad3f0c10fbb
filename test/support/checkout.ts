import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NOT_CHECKED_OUT = ['.git', '.tmp', 'coverage', 'dist', 'node_modules'];

/** A copy of the repository as a fresh clone has it after `npm ci`: nothing built, nothing left behind. */
export interface Checkout {
  path: string;
  /** Runs an npm script, and gives what it printed. */
  run(script: string, ...args: string[]): { status: number | null; stdout: string; stderr: string };
  remove(): void;
}

export function createCheckout(): Checkout {
  // Inside the repository, so that Node and npm find its node_modules.
  mkdirSync(join(ROOT, '.tmp'), { recursive: true });
  const path = mkdtempSync(join(ROOT, '.tmp', 'checkout-'));
  for (const entry of readdirSync(ROOT)) {
    if (!NOT_CHECKED_OUT.includes(entry)) {
      cpSync(join(ROOT, entry), join(path, entry), {
        recursive: true,
        filter: (from) => !/node_modules/.test(from.slice(ROOT.length)),
      });
    }
  }
  return {
    path,
    run: (script, ...args) => spawnSync('npm', ['run', script, '--', ...args], { cwd: path, encoding: 'utf8' }),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}
