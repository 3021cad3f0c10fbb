import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeStateFile } from '../../../src/emulator/state/state-file.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'emulator-'));
  path = join(folder, 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('writeStateFile', () => {
  it('the file replaces the old one completely, for its owner alone', async () => {
    writeFileSync(path, 'before, and longer');
    await writeStateFile(path, 'caf\u00e9');
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual([
      'caf\u00e9',
      0o600,
      ['state.json'],
    ]);
  });

  it('a path that cannot be opened is reported', async () => {
    await expect(writeStateFile(join(folder, 'nowhere', 'state.json'), 'x')).rejects.toMatchObject({
      code: 'ENOENT',
      syscall: 'open',
    });
  });

  it('a draft that cannot be written is closed and removed', async () => {
    const other = await open(process.execPath);
    await other.close();
    const written = vi.spyOn(Object.getPrototypeOf(other) as FileHandle, 'writeFile');
    written.mockRejectedValue(new Error('no room'));
    await expect(writeStateFile(path, 'x')).rejects.toThrow('no room');
    const [file] = written.mock.contexts as FileHandle[];
    expect([file?.fd, readdirSync(folder)]).toEqual([-1, []]);
  });

  it('a draft that cannot be renamed is removed', async () => {
    mkdirSync(path);
    await expect(writeStateFile(path, 'x')).rejects.toMatchObject({ syscall: 'rename' });
    expect(readdirSync(folder)).toEqual(['state.json']);
  });
});
