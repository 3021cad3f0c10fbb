import { spawnSync } from 'node:child_process';
import { missing } from './file-of.js';

/** Whether a program is on the PATH. */
export function hasProgram(name: string): boolean {
  if (spawnSync(name, ['--version']).error === undefined) return true;
  missing(name, `install ${name}; the tests find it on the PATH`);
  return false;
}
