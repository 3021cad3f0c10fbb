import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'tsup';
import type { TestProject } from 'vitest/node';
import { commandLine, page } from '../../tsup.config.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folders: one for the PATH, with the command line in it, and one with the page, as the package has them. */
    built: { bin: string; page: string };
  }
}

/** Builds the command line and the page, once for all the tests. */
export default async function buildPrograms(project: TestProject) {
  const home = mkdtempSync(join(tmpdir(), 'programs-'));
  const built = { bin: join(home, 'bin'), page: join(home, 'page') };
  const settings = { config: false, silent: true } as const;
  await Promise.all([
    build({ ...commandLine, ...settings, outDir: join(home, 'cli') }),
    build({ ...page, ...settings, outDir: built.page }),
  ]);
  mkdirSync(built.bin);
  symlinkSync(join(home, 'cli/service-webhooks.cjs'), join(built.bin, 'service-webhooks'));
  project.provide('built', built);
  return () => rmSync(home, { recursive: true });
}
