import { expect, it, onTestFinished } from 'vitest';
import { servePage } from '../../src/page/serve-page.js';
import { memorySource } from './memory-source.js';

const ASSETS = { script: Buffer.of(), style: Buffer.of() };

it('has a port of the loopback interface until it is closed, whatever is open then', async () => {
  const { url, close } = await servePage(memorySource(), 0, ASSETS);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect((await fetch(url)).status).toBe(200);
  await expect(fetch(url.replace('127.0.0.1', '127.0.0.2'))).rejects.toThrow();
  const stream = await fetch(`${url}page/stream`);
  await close();
  await stream.text().catch(() => {}); // it has ended, in one way or the other
  await expect(fetch(url)).rejects.toThrow();
});

it('cannot be had on a port that is taken, or where it was not built', async () => {
  const { url, close } = await servePage(memorySource(), 0, ASSETS);
  onTestFinished(close);
  await expect(servePage(memorySource(), Number(new URL(url).port), ASSETS)).rejects.toThrow('EADDRINUSE');
  await expect(servePage(memorySource(), 0)).rejects.toThrow(/page\.js|style\.css/);
});
