import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Overflow } from 'service-webhooks/queue/overflow';

/** A module of a user's: bodies in files of the folder that it is in. */
const MODULE = `
import { readFile, rm, writeFile } from 'node:fs/promises';
const at = (id) => new URL('bodies/' + id, import.meta.url);
const there = (error) => { if (error.code !== 'ENOENT') throw error; };
export default {
  put: (id, body) => writeFile(at(id), body),
  get: (id) => readFile(at(id)).catch(there),
  delete: (id) => rm(at(id), { force: true }),
};
`;

/** An overflow in the folder of a command, and the module with which the command reads it. */
export function fileOverflow(directory: string): { overflow: Overflow; module: string; left: () => string[] } {
  const folder = join(directory, 'bodies');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(directory, 'overflow.mjs'), MODULE);
  return {
    module: 'overflow.mjs',
    left: () => readdirSync(folder),
    overflow: {
      put: async (id, body) => writeFileSync(join(folder, id), body),
      get: async (id) =>
        readdirSync(folder).includes(id) ? new Uint8Array(readFileSync(join(folder, id))) : undefined,
      delete: async (id) => rmSync(join(folder, id), { force: true }),
    },
  };
}
