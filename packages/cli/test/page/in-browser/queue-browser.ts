import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { inject, onTestFinished } from 'vitest';
import type { PageSource } from '../../../src/page/page-source.js';
import { readAssets } from '../../../src/page/server/document.js';
import { queueView } from '../../../src/queues/view/queue-view.js';
import type { MemoryQueue } from '../memory-queue.js';
import { served } from '../served.js';
import { useBrowser } from './use-browser.js';

/** Opens the view of a queue in the Chromium that is launched for all tests. */
export function useQueueBrowser() {
  const { newWindow } = useBrowser();
  return async function open(
    memory: MemoryQueue,
    options: BrowserContextOptions = {},
    source?: PageSource,
    shows = '.connection.open',
  ) {
    const assets = await readAssets(pathToFileURL(`${inject('built').page}/`));
    const queue = queueView(memory.placed);
    onTestFinished(() => queue.close());
    const server = await served(source, assets, { queue });
    const page: Page = await newWindow(options);
    await page.goto(source === undefined ? server.url : `${server.url}page/queue`);
    await page.locator(shows).waitFor();
    return { page, queue, ...server };
  };
}
