import { describe, expect, it } from 'vitest';
import { Failure, fileFailure } from '../src/failure.js';

describe('a failure of the command line', () => {
  it.each([
    ['ok', 0],
    ['no', 1],
    ['usage', 2],
    ['file', 3],
    ['network', 4],
    ['fault', 70],
    ['interrupted', 130],
  ] as const)('a failure of the kind %s has the exit code %i', (kind, exitCode) => {
    expect(new Failure(kind, 'why')).toMatchObject({ exitCode, message: 'why' });
  });

  it.each([
    ['ENOENT', 'no such file'],
    ['EISDIR', 'a directory'],
    ['ENOTDIR', 'a part of the path is a file'],
    ['EACCES', 'permissions'],
    ['EPERM', 'permissions'],
    ['EROFS', 'read-only'],
    ['ENOSPC', 'the disk is full'],
    ['EEXIST', 'choose another name'],
    ['ENAMETOOLONG', 'too long'],
  ])('the file error %s has the message: %s', (code, words) => {
    const failure = fileFailure('a/b', Object.assign(new Error('as it was'), { code }));
    expect(failure).toMatchObject({ exitCode: 3, message: expect.stringMatching(`^a/b: .*${words}`) });
  });

  it.each([
    [Object.assign(new Error('i/o error'), { code: 'EIO' }), 'a: i/o error'],
    [new Error('something else'), 'a: something else'],
    ['gone', 'a: gone'],
  ])('an unknown file error keeps its message: %s', (error, message) => {
    expect(fileFailure('a', error).message).toBe(message);
  });
});
