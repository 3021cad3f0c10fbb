import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isInstalled, missing, skipped } from './file-of.js';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** better-sqlite3, which stands apart since it may have to be compiled. */
export const betterSqlite3 = isInstalled('test/integration/better-sqlite3')
  ? moduleOf('better-sqlite3', here('better-sqlite3/package.json'))
  : undefined;

/** libsql, which has the interface of better-sqlite3 and comes compiled. */
export const libsql = moduleOf('libsql', import.meta.url);

/** A part of Node from version 22 on. */
export const nodeSqlite = process.getBuiltinModule('node:sqlite') ? 'node:sqlite' : undefined;

/** The path of a module that can be loaded here. */
function moduleOf(name: string, from: string): string | undefined {
  try {
    const require = createRequire(from);
    const Database = require(name);
    new Database(':memory:').close(); // loads the compiled part
    return require.resolve(name);
  } catch (error) {
    const [reason = ''] = String(error).split('\n');
    // A compiled module works on one line of Node. The tests run on several. A second try to load it has other words.
    const isOfAnotherNode = /NODE_MODULE_VERSION|did not self-register/.test(String(error));
    return isOfAnotherNode ? skipped(name, 'compiled for another Node') : missing(name, `npm ci (${reason})`);
  }
}
