import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'tsup';
import { type Assets, readAssets } from '../../src/page/server/assets.js';
import { page } from '../../tsup.config.js';

/** The page as the package has it. */
export async function buildPage(): Promise<Assets> {
  const outDir = mkdtempSync(join(tmpdir(), 'page-'));
  try {
    await build({ ...page, outDir, config: false, silent: true });
    return await readAssets(pathToFileURL(`${outDir}/`));
  } finally {
    rmSync(outDir, { recursive: true });
  }
}
