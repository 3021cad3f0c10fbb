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
import { bodyOf, NOW } from '../../../test/support/deliveries.js';
import { failureOfPromise } from '../../../test/support/failures.js';
import { capturedAt, findCapture, lastCapture, listCaptures, openCaptures } from '../src/captures.js';
import { formatHttp } from '../src/http/http-message.js';

const home = mkdtempSync(join(tmpdir(), 'captures-'));
let directory = '';
let count = 0;
beforeEach(() => {
  count += 1;
  directory = join(home, String(count), 'kept');
  mkdirSync(join(home, String(count)));
});
afterAll(() => rmSync(home, { recursive: true }));

const message = (changes: Record<string, unknown> = {}) => ({
  ...{ method: 'POST', path: '/hook', headers: [['A', '1']] as const, body: Buffer.from(bodyOf(changes)) },
});

/** Writes a capture of an event with this id, or what is given. */
function write(name: string, id = 'evt_1', content: Uint8Array | string = formatHttp(message({ id }))): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), content);
  return join(directory, name);
}

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

describe('captures of deliveries', () => {
  it('a capture is a file for its owner alone, out of git, named after its time', async () => {
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

  it('a capture is synced with its directory, and leaves no file open', async () => {
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

  it('a directory that already has other files is accepted', async () => {
    mkdirSync(directory, { recursive: true });
    const { keep } = await openCaptures(directory);
    await keep(message(), NOW);
    await (await openCaptures(directory)).keep(message(), NOW);
    expect(readdirSync(directory).filter((name) => name.endsWith('.http'))).toHaveLength(2);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('*.http\n');
  });

  it('a .gitignore that is there already is not changed', async () => {
    mkdirSync(directory);
    writeFileSync(join(directory, '.gitignore'), 'own\n');
    await openCaptures(directory);
    expect(readFileSync(join(directory, '.gitignore'), 'utf8')).toBe('own\n');
  });

  it('a file in place of the directory is refused', async () => {
    writeFileSync(directory, '');
    expect(await failureOfPromise(openCaptures(directory))).toMatch(/^3: .*kept: there is a file in its place/);
    expect(await failureOfPromise(openCaptures(join(directory, 'in')))).toMatch(
      /^3: .*in: a part of the path is a file/,
    );
  });

  it.runIf(process.getuid?.() !== 0)('a directory without write permission is refused', async () => {
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o500);
    expect(await failureOfPromise(openCaptures(directory))).toMatch(/^3: .*kept: it may not be opened/);
  });

  it.runIf(existsSync('/proc'))('a directory that cannot be made is refused', async () => {
    expect(await failureOfPromise(openCaptures('/proc/self/no/such'))).toMatch(/^3: \/proc\/self\/no\/such: /);
  });

  it('a missing drive is refused', async () => {
    insteadOf('mkdir').mockRejectedValueOnce(Object.assign(new Error('no drive'), { code: 'ENOENT' }));
    expect(await failureOfPromise(openCaptures('/'))).toBe('3: /: there is no such file; check the path');
  });

  it('a capture fails where its directory was deleted meanwhile', async () => {
    const captures = await openCaptures(directory);
    rmSync(directory, { recursive: true });
    expect(await failureOfPromise(captures.keep(message(), NOW))).toMatch(/^3: .*\.http: there is no such file/);
  });
});

it.each([
  ['dir/20260711T120000.000Z-7f3a9c01.http', NOW],
  ['20260711T120000Z-7f3a9c01.http', NOW],
  ['20260711T120000.000Z-7f3a9c0.http', undefined],
  ['20260711T120000.000Z-7f3a9c01.http.bak', undefined],
  ['20260711T120000.000Z-7F3A9C01.http', undefined],
  ['2026-07-11T120000.000Z-7f3a9c01.http', undefined],
  ['body.json', undefined],
])('the time of a capture is read from the file name %s, if it has the form of one', (file, at) => {
  expect(capturedAt(file)).toBe(at);
});

describe('the search for a capture', () => {
  it('an id finds one capture, and an event id the newest of several', async () => {
    const [, newest, other] = [
      write('20260711T120000.000Z-00000001.http'),
      write('20260711T120001.000Z-00000002.http'),
      write('20260711T120002.000Z-00000003.http', 'evt_2'),
    ];
    write('20260711T120003.000Z-00000004.http', '', 'no delivery');
    write('20260711T120004.000Z-00000005.http', '', formatHttp({ ...message(), body: Buffer.from('[') }));
    write('zz-evt_1.http');
    expect(await findCapture(directory, '00000003')).toBe(other);
    expect(await findCapture(directory, 'evt_1')).toBe(newest);
    expect(await findCapture(directory, 'evt_2')).toBe(other);
    expect(await failureOfPromise(findCapture(directory, 'evt_3'))).toBe(
      `3: evt_3 is no file and none of the 5 deliveries in ${directory}.`,
    );
    expect(await failureOfPromise(findCapture(directory, '0000000'))).toContain(
      'the beginning of several ids: 00000005',
    );
    expect(await failureOfPromise(findCapture(directory, '000'))).toContain('none of the 5');
  });

  it('the newest capture is found, whatever the order of the files', async () => {
    const names = ['0', '2', '1'].map((second) => `20260711T12000${second}.000Z-00000001.http`);
    const [, newest] = names.map((name) => write(name));
    insteadOf('readdir').mockResolvedValue(names as never);
    expect(await findCapture(directory, 'evt_1')).toBe(newest);
  });

  it('an event id that does not begin with evt_ finds no capture', async () => {
    write('20260711T120000.000Z-00000001.http', 'other_1');
    expect(await failureOfPromise(findCapture(directory, 'other_1'))).toContain('none of the 1 deliveries');
  });

  it('the error names the missing directory', async () => {
    expect(await failureOfPromise(findCapture(directory, 'evt_1'))).toBe(
      `3: evt_1 is no file, and ${directory}: there is no such file; check the path`,
    );
  });
});

describe('the list of captures', () => {
  it('the newest comes first, up to a limit, and unreadable ones have no event', async () => {
    write('20260711T120000.000Z-7f3a0001.http', 'evt_a');
    const newest = write('20260711T120002.000Z-7f3a0003.http', 'evt_b');
    write('20260711T120001.000Z-7f3a0002.http', '', 'no delivery');
    const { captures, total } = await listCaptures(directory, 2);
    expect(total).toBe(3);
    expect(captures).toMatchObject([
      { id: '7f3a0003', file: newest, at: NOW + 2_000, type: 'stt.completed', eventId: 'evt_b' },
      { id: '7f3a0002', type: undefined, eventId: undefined },
    ]);
    expect(await lastCapture(directory)).toBe(newest);
  });

  it('the beginning of an id or an event id finds a capture', async () => {
    const one = write('20260711T120000.000Z-7f3a0001.http', 'evt_abcd1');
    const two = write('20260711T120001.000Z-7f3b0002.http', 'evt_abxy2');
    expect(await findCapture(directory, '7f3a')).toBe(one);
    expect(await findCapture(directory, 'evt_abxy')).toBe(two);
    expect(await failureOfPromise(findCapture(directory, 'evt_ab'))).toContain('none of the 2');
  });

  it('the error about an empty directory says how to capture deliveries', async () => {
    mkdirSync(directory);
    expect(await failureOfPromise(lastCapture(directory))).toContain('listen --capture keeps them');
  });
});
