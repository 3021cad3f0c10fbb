import { appendFileSync, existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { CI, MISSING_PARTS } = process.env;
const root = fileURLToPath(new URL('../..', import.meta.url));

/** The first of these paths where there is a file; `what` it belongs to and `how` to get it are recorded if there is none. */
export function fileOf(what: string, how: string, ...paths: string[]): string | undefined {
  return paths.find((path) => existsSync(path)) ?? missing(what, how);
}

/** Whether the packages of a folder are installed, which stands apart from the root: `test/integration/nest-12`. */
export function isInstalled(folder: string): boolean {
  return fileOf(folder, `node test/integration/install.mjs ${folder}`, `${root}${folder}/node_modules`) !== undefined;
}

/**
 * Records that a part of the tests is skipped because `what` is not on this machine, and `how` to get it. The run lists
 * it at its end. Throws with CI=true, where everything has to be there.
 */
export function missing(what: string, how: string): undefined {
  if (CI === 'true') throw new Error(`${what} is needed with CI=true: ${how}`);
  return skipped(what, how);
}

/** Records that this machine cannot run a part of the tests, for a reason that is no failure with CI=true either. */
export function skipped(what: string, why: string): undefined {
  if (MISSING_PARTS) appendFileSync(MISSING_PARTS, `${JSON.stringify([what, why])}\n`);
  return undefined;
}
