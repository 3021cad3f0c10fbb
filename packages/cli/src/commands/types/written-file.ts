import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { Failure, fileFailure } from '../../failure.js';
import { FIRST_LINE } from './dialects.js';

/** Reads a file that the command has written, or an empty one; undefined where there is none. @throws Failure for any other */
export async function readWrittenFile(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw fileFailure(path, error);
  });
  if (text === undefined || text.trim() === '' || text.startsWith(FIRST_LINE)) return text?.replaceAll('\r\n', '\n');
  throw new Failure(
    'file',
    `${path} was not written by this command, which replaces no other file. Name a new file, or delete that one.`,
  );
}

/** Writes the file. Creates its directory, but not the parent of that. @throws Failure */
export async function writeTypesFile(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path)).catch(() => {}); // what is in the way is an error of the write
    await writeFile(path, text);
  } catch (error) {
    throw fileFailure(path, error);
  }
}
