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

it('the assets of the page are the script and the style sheet of the build', async () => {
  const { script, style } = await readAssets(folder({ 'page.js': 'let a;', 'style.css': 'p {}' }));
  expect([String(script), String(style)]).toEqual(['let a;', 'p {}']);
});

it.each(['page.js', 'style.css'])('the assets cannot be read without %s, which the error names', async (missing) => {
  const files: Record<string, string> = { 'page.js': '', 'style.css': '' };
  delete files[missing];
  await expect(readAssets(folder(files))).rejects.toThrow(missing);
});

it('the assets are looked for in the folder of the page by default', async () => {
  await expect(readAssets()).rejects.toThrow(/page[\\/](page\.js|style\.css)/);
});
