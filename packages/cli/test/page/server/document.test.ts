import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { readAssets } from '../../../src/page/server/document.js';

function folder(files: Record<string, string>): URL {
  const path = mkdtempSync(join(tmpdir(), 'assets-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text);
  return pathToFileURL(`${path}/`);
}

const BUILT = {
  'page.js': 'let a;',
  'style.css': 'p {}',
  'queue.js': 'let b;',
  'queue-style.css': 'b {}',
  'jobs.js': 'let c;',
};

it('the assets of the page are the scripts and the style sheets of the build', async () => {
  const { script, style, queue, jobs } = await readAssets(folder(BUILT));
  expect([script, style, queue?.script, queue?.style, jobs?.script].map(String)).toEqual(Object.values(BUILT));
});

it.each(Object.keys(BUILT))('the assets cannot be read without %s, which the error names', async (missing) => {
  const files: Record<string, string> = { ...BUILT };
  delete files[missing];
  await expect(readAssets(folder(files))).rejects.toThrow(missing);
});

it('the assets are looked for in the folder of the page by default', async () => {
  await expect(readAssets()).rejects.toThrow(/page[\\/](page\.js|style\.css|queue\.js|queue-style\.css|jobs\.js)/);
});
