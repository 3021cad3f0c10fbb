import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasProgram } from '../../../test/integration/program.js';
import { inside, useCli } from './support/cli.js';
import { inTerminal } from './support/pseudo-terminal.js';

const cli = useCli();

// `script` gives a program a pseudo-terminal.
describe.runIf(hasProgram('script') && !inside)('a question on a terminal', () => {
  it.each([
    ['y', 'y\r', 0, true],
    ['Yes', 'Yes\r', 0, true],
    ['Enter', '\r', 0, false],
    ['another word', 'yellow\r', 0, false],
    ['Ctrl+D', '\u0004', 130, false],
    ['Ctrl+C', '\u0003', 130, false],
  ])('the answer %s is understood as yes, no or stop', async (_, keys, exitCode, isDone) => {
    writeFileSync(join(cli.cwd, 'package.json'), '{}');
    const { shows, type, ended } = inTerminal(cli, ['init', '--framework', 'express']);
    await shows(/Write these files\? \[y\/N\]/);
    type(keys);
    const { exitCode: code, shown } = await ended;
    expect([code, existsSync(join(cli.cwd, '.env'))]).toEqual([exitCode, isDone]);
    expect(shown).not.toContain('a fault of this program');
    expect(shown.includes('service-webhooks: stopped before it was done.')).toBe(exitCode === 130);
  });
});
