import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { root } from '../../../scripts/subpaths.js';
import type {} from './support/build-programs.js';

it.each(['a b', 'a#b', '50%', 'a?b', 'é'])('the program starts in a folder named %s, twice', (name) => {
  const home = mkdtempSync(join(tmpdir(), 'start-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  const built = dirname(realpathSync(join(inject('built').bin, 'service-webhooks')));
  cpSync(built, join(home, name, 'cli'), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules')); // what the package depends on
  const program = join(home, name, 'cli/service-webhooks.cjs');
  for (const _ of ['first', 'second']) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [program, '--version'], { encoding: 'utf8' });
    expect({ status, stderr, stdout }).toEqual({ status: 0, stderr: '', stdout: expect.stringMatching(/^\d/) });
  }
});
