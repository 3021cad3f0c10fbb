import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { chromium as executablePath } from '../../../../../test/integration/chromium.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a Chromium waits. */
    browser: string;
  }
}

/** Starts headless Chromium, once for all the tests. */
export default async function launch(project: TestProject) {
  if (executablePath === undefined) return;
  // Its sandbox is not for root, and nothing here is from elsewhere.
  const browser = await chromium.launchServer({ executablePath, args: ['--no-sandbox'] });
  project.provide('browser', browser.wsEndpoint());
  return () => browser.close();
}
