import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { readWhole, writeWhole } from '../../../src/emulator/state/state-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a file', () => {
  it('is written whole, for its owner alone, in the place of what was there', async () => {
    writeFileSync(path, 'before, and longer');
    await writeWhole(path, 'caf\u00e9');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual([
      'caf\u00e9',
      0o600,
      ['state.json'],
    ]);
    expect(await readWhole(path)).toBe('caf\u00e9');
  });

  it('that cannot be opened is said not to be opened', async () => {
    await expect(writeWhole(join(folder, 'nowhere', 'state.json'), 'x')).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'open',
    });
    await expect(readWhole(path)).rejects.toMatchObject({ code: 'ENOENT', syscall: 'open' });
  });

  it('that cannot be written is closed again, and leaves nothing beside it', async () => {
    const other = await open(process.execPath);
    await other.close();
    const written = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'writeFile');
    written.mockRejectedValue(new Error('no room'));
    await expect(writeWhole(path, 'x')).rejects.toThrow('no room');
    const [file] = written.mock.contexts as FileHandle[];
    expect([file?.fd, readdirSync(folder)]).toEqual([-1, []]);
  });

  it('that cannot be put in its place leaves nothing beside it', async () => {
    mkdirSync(path);
    await expect(writeWhole(path, 'x')).rejects.toMatchObject({ syscall: 'rename' });
    expect(readdirSync(folder)).toEqual(['state.json']);
  });
});
