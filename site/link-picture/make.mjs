// Writes site/public/link-picture.png, which other sites show with a link to this one: node site/link-picture/make.mjs
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const folder = import.meta.dirname;
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
await page.goto(pathToFileURL(join(folder, 'picture.html')).href);
await page.screenshot({ path: join(folder, '../public/link-picture.png') });
await browser.close();
