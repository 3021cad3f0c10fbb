import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { build } from 'tsup';
import type { TestProject } from 'vitest/node';
import { page } from '../../../tsup.config.js';
import { chromium as executablePath } from '../../integration/installed.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a Chromium waits, and the folder of the page as the package has it. */
    launched: { browser: string; page: string };
  }
}

/** Builds the page and starts headless Chromium, once for all the tests. */
export default async function launch(project: TestProject) {
  if (executablePath === undefined) return;
  const outDir = mkdtempSync(join(tmpdir(), 'page-'));
  const [browser] = await Promise.all([
    // Its sandbox is not for root, and nothing here is from elsewhere.
    chromium.launchServer({ executablePath, args: ['--no-sandbox'] }),
    build({ ...page, outDir, config: false, silent: true }),
  ]);
  project.provide('launched', { browser: browser.wsEndpoint(), page: outDir });
  return async () => {
    await browser.close();
    rmSync(outDir, { recursive: true });
  };
}
