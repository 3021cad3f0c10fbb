import fs, {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { capturedAt, findCapture, openCaptures } from '../../src/cli/captures.js';
import { formatHttp } from '../../src/cli/http-file.js';
import { bodyOf, NOW } from '../support/deliveries.js';
import { failureOfPromise } from '../support/failures.js';

const home = mkdtempSync(join(tmpdir(), 'captures-'));
let directory = '';
let count = 0;
beforeEach(() => {
  count += 1;
  directory = join(home, String(count), 'kept');
});
afterAll(() => rmSync(home, { recursive: true }));

const message = (changes: Record<string, unknown> = {}) => ({
  ...{ method: 'POST', path: '/hook', headers: [['A', '1']] as const, body: Buffer.from(bodyOf(changes)) },
});

/** Put in the place of the real one for the test. */
function insteadOf(name: 'mkdir' | 'readdir') {
  const spy = vi.spyOn(fs.promises, name);
  syncBuiltinESMExports();
  onTestFinished(() => {
    spy.mockRestore();
    syncBuiltinESMExports();
  });
  return spy;
}

describe('deliveries that are kept', () => {
  it('are files for their owner alone, out of git, under the time when they came', async () => {
    const captures = await openCaptures(directory);
    const { id, file } = await captures.keep(message(), NOW + 7);
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    expect(file).toBe(join(directory, `20260711T120000.007Z-${id}.http`));
    expect(readFileSync(file)).toEqual(formatHttp(message()));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(directory).sort()).toEqual(['.gitignore', file.slice(directory.length + 1)]);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('*\n');
    expect(capturedAt(file)).toBe(NOW + 7);
  });

  it('are on the disk with their names when they are said to be kept, and leave no file open', async () => {
    const captures = await openCaptures(directory);
    const some = await open(directory);
    await some.close();
    const synced: boolean[] = [];
    const sync = vi.spyOn(Object.getPrototypeOf(some), 'sync').mockImplementation(async function (this: unknown) {
      synced.push((await (this as FileHandle).stat()).isDirectory());
    });
    await captures.keep(message(), NOW);
    expect(synced).toEqual([false, true]);
    expect(sync.mock.contexts).toMatchObject([{ fd: -1 }, { fd: -1 }]);
  });

  it('are kept beside what is in a directory that is there', async () => {
    mkdirSync(directory, { recursive: true });
    const { keep } = await openCaptures(directory);
    await keep(message(), NOW);
    await (await openCaptures(directory)).keep(message(), NOW);
    expect(readdirSync(directory).filter((name) => name.endsWith('.http'))).toHaveLength(2);
    expect(existsSync(join(directory, '.gitignore'))).toBe(false);
  });

  it('cannot be kept where a file is in the place of the directory', async () => {
    mkdirSync(join(directory, '..'));
    writeFileSync(directory, '');
    expect(await failureOfPromise(openCaptures(directory))).toMatch(/^3: .*kept: there is a file in its place/);
    expect(await failureOfPromise(openCaptures(join(directory, 'in')))).toMatch(
      /^3: .*in: a part of the path is a file/,
    );
  });

  it.runIf(process.getuid?.() !== 0)('cannot be kept where nothing may be written', async () => {
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o500);
    expect(await failureOfPromise(openCaptures(directory))).toMatch(/^3: .*kept: it may not be opened/);
  });

  it.runIf(existsSync('/proc'))('cannot be kept where no directory can be made', async () => {
    expect(await failureOfPromise(openCaptures('/proc/self/no/such'))).toMatch(/^3: \/proc\/self\/no\/such: /);
  });

  it('cannot be kept on a drive that is not there', async () => {
    insteadOf('mkdir').mockRejectedValueOnce(Object.assign(new Error('no drive'), { code: 'ENOENT' }));
    expect(await failureOfPromise(openCaptures('/'))).toBe('3: /: there is no such file; check the path');
  });

  it('are not said to be kept where the directory has gone', async () => {
    const captures = await openCaptures(directory);
    rmSync(directory, { recursive: true });
    expect(await failureOfPromise(captures.keep(message(), NOW))).toMatch(/^3: .*\.http: there is no such file/);
  });
});

describe('the time when a delivery came', () => {
  it.each([
    ['dir/20260711T120000.000Z-7f3a9c01.http', NOW],
    ['20260711T120000Z-7f3a9c01.http', NOW],
    ['20260711T120000.000Z-7f3a9c0.http', undefined],
    ['20260711T120000.000Z-7f3a9c01.http.bak', undefined],
    ['20260711T120000.000Z-7F3A9C01.http', undefined],
    ['2026-07-11T120000.000Z-7f3a9c01.http', undefined],
    ['body.json', undefined],
  ])('is in the name of its file: %s', (file, at) => {
    expect(capturedAt(file)).toBe(at);
  });
});

describe('a delivery that is looked for', () => {
  const write = (name: string, content: Uint8Array | string) => {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };

  it('is found by its id, or as the newest one of its event', async () => {
    const [, newest, other] = [
      write('20260711T120000.000Z-00000001.http', formatHttp(message())),
      write('20260711T120001.000Z-00000002.http', formatHttp(message())),
      write('20260711T120002.000Z-00000003.http', formatHttp(message({ id: 'evt_2' }))),
    ];
    write('20260711T120003.000Z-00000004.http', 'no delivery');
    write('20260711T120004.000Z-00000005.http', formatHttp({ ...message(), body: Buffer.from('[') }));
    write('zz-evt_1.http', formatHttp(message()));
    expect(await findCapture(directory, '00000003')).toBe(other);
    expect(await findCapture(directory, 'evt_1')).toBe(newest);
    expect(await findCapture(directory, 'evt_2')).toBe(other);
    expect(await failureOfPromise(findCapture(directory, 'evt_3'))).toBe(
      `3: evt_3 is no file and none of the 5 deliveries in ${directory}.`,
    );
    expect(await failureOfPromise(findCapture(directory, '0000000'))).toContain('none of the 5');
  });

  it('is the newest one of its event, in whatever order the directory lists them', async () => {
    const names = ['0', '2', '1'].map((second) => `20260711T12000${second}.000Z-00000001.http`);
    const [, newest] = names.map((name) => write(name, formatHttp(message())));
    insteadOf('readdir').mockResolvedValue(names as never);
    expect(await findCapture(directory, 'evt_1')).toBe(newest);
  });

  it('is found by the id of its event only where that looks like one', async () => {
    write('20260711T120000.000Z-00000001.http', formatHttp(message({ id: 'other_1' })));
    expect(await failureOfPromise(findCapture(directory, 'other_1'))).toContain('none of the 1 deliveries');
  });

  it('cannot be found where nothing was kept', async () => {
    expect(await failureOfPromise(findCapture(directory, 'evt_1'))).toBe(
      `3: evt_1 is no file, and ${directory}: there is no such file; check the path`,
    );
  });
});
