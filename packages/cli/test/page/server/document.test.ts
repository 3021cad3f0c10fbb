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

it('are the script and the style sheet that the build has made', async () => {
  const { script, style } = await readAssets(folder({ 'page.js': 'let a;', 'style.css': 'p {}' }));
  expect([String(script), String(style)]).toEqual(['let a;', 'p {}']);
});

it.each(['page.js', 'style.css'])('cannot be had without %s, which is then named', async (missing) => {
  const files: Record<string, string> = { 'page.js': '', 'style.css': '' };
  delete files[missing];
  await expect(readAssets(folder(files))).rejects.toThrow(missing);
});

it('are looked for in the folder of the page where no other is named, and not in the source', async () => {
  await expect(readAssets()).rejects.toThrow(/page[\\/](page\.js|style\.css)/);
});
