import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SigningSecret } from 'service-webhooks/client';
import { createEmulator } from 'service-webhooks-emulator';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { failureOfPromise } from '../../../../../test/support/failures.js';
import { newSecretFile } from '../../../src/commands/endpoints/new-secret-file.js';
import { shownBy } from '../../support/terminal.js';

const SECRET = { reveal: () => 'whsec_1' } as SigningSecret;

let path = '';
beforeEach(() => {
  const directory = mkdtempSync(join(tmpdir(), 'secret-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  path = join(directory, 'secret.txt');
});

/** A disk on which nothing more can be written. */
async function fillDisk(method: 'writeFile' | 'sync') {
  const file = await open(tmpdir());
  const handles = Object.getPrototypeOf(file);
  await file.close();
  return vi.spyOn(handles, method).mockRejectedValue(Object.assign(new Error('full'), { code: 'ENOSPC' }));
}

describe('a file for a signing secret', () => {
  it('the file is there before the secret is, for its owner alone', async () => {
    const file = await newSecretFile(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await file.write(SECRET);
    expect(readFileSync(path, 'utf8')).toBe('whsec_1\n');
  });

  it('a discarded file is deleted', async () => {
    await (await newSecretFile(path)).discard();
    expect(existsSync(path)).toBe(false);
    const gone = await newSecretFile(path);
    rmSync(path);
    await gone.discard();
  });

  it('a file that exists already is not overwritten', async () => {
    await (await newSecretFile(path)).write(SECRET);
    expect(await failureOfPromise(newSecretFile(path))).toBe(
      `3: ${path}: there is a file in its place; choose another name`,
    );
    expect(readFileSync(path, 'utf8')).toBe('whsec_1\n');
  });

  it('a missing --save-secret is refused', async () => {
    expect(await failureOfPromise(newSecretFile(undefined))).toBe(
      '2: the service shows the signing secret this once: say where to keep it, --save-secret FILE.',
    );
  });

  it.each(['writeFile', 'sync'] as const)('a full disk is reported, and the file is closed: %s', async (method) => {
    const file = await newSecretFile(path);
    const full = await fillDisk(method);
    expect(await failureOfPromise(file.write(SECRET))).toBe(
      `3: ${path}: the disk is full; make room, or choose another place`,
    );
    expect(full.mock.contexts).toMatchObject([{ fd: -1 }]);
  });

  it('a new endpoint is deleted where its secret cannot be written', async () => {
    const emulator = createEmulator();
    onTestFinished(() => emulator.close());
    const env = { SERVICE_API_KEY: emulator.apiKey, SERVICE_URL: (await emulator.listen()).url };
    await fillDisk('writeFile');
    const args = ['endpoints', 'ensure', 'https://app.example/', '--save-secret', path];
    expect(await shownBy(args, { env })).toMatchObject({ exitCode: 3, stdout: '' });
    expect(emulator.totals.endpoints).toBe(1);
    expect(emulator.endpoints.list()).toEqual([]);
    expect(existsSync(path)).toBe(false);
  });
});
