import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { PACKAGES, root } from '../../../../scripts/subpaths.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folders: one for the PATH, with the command line in it, and one with the page, as the package has them. */
    built: { bin: string; page: string };
  }
}

/** Builds the packages without their types, once for all the tests, where `npm run build` puts them. */
export default async function buildPrograms(project: TestProject) {
  const build = (folder: string) =>
    promisify(execFile)('npx', ['tsup', '--silent', '--no-dts'], { cwd: join(root, folder) });
  await Promise.all(PACKAGES.map(build));
  const home = mkdtempSync(join(tmpdir(), 'programs-'));
  const built = { bin: join(home, 'bin'), page: join(root, 'packages/cli/dist/page') };
  mkdirSync(built.bin);
  symlinkSync(join(root, 'packages/cli/dist/service-webhooks.cjs'), join(built.bin, 'service-webhooks'));
  project.provide('built', built);
  return () => rmSync(home, { recursive: true });
}
