import { access, constants, mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure, fileFailure } from './failure.js';
import { formatHttp, type HttpMessage, parseHttp } from './http-file.js';

/** Where captured deliveries are kept if nothing is said. */
export const DEFAULT_DIRECTORY = '.webhooks';

/** Captured deliveries, a file each: `<time>-<id>.http`. */
export interface Captures {
  /** Resolves when it is on the disk, whatever happens then. @throws Failure */
  keep(message: HttpMessage, at: number): Promise<{ id: string; file: string }>;
}

/** Makes the directory. @throws Failure where nothing can be written to it */
export async function openCaptures(directory: string): Promise<Captures> {
  const keep: Captures['keep'] = async (message, at) => {
    const id = crypto.randomUUID().slice(0, 8);
    const name = `${new Date(at).toISOString().replaceAll(/[-:]/g, '')}-${id}.http`;
    const file = join(directory, name);
    const unfinished = join(directory, `.${name}`);
    try {
      await writeDurably(unfinished, formatHttp(message));
      await rename(unfinished, file);
      await syncDirectory(directory);
    } catch (error) {
      throw fileFailure(file, error);
    }
    return { id, file };
  };
  try {
    const isNew = await makeDirectory(directory);
    if (isNew)
      await writeDurably(join(directory, '.gitignore'), Buffer.from('*\n')); // links in there are good for an hour
    else await access(directory, constants.W_OK);
  } catch (error) {
    throw fileFailure(directory, error);
  }
  return { keep };
}

/**
 * Whether it is new. By hand: Node's own `recursive` never ends in a place like /proc, where nothing can be made in a
 * directory that is there.
 */
async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return false;
    const parent = dirname(path);
    if (code !== 'ENOENT' || parent === path) throw error;
    await makeDirectory(parent);
    await mkdir(path);
  }
  return true;
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** So that the name is on the disk too. Not every system can. */
async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path);
    await directory.sync().finally(() => directory.close());
  } catch {}
}

/** When a file of {@link openCaptures} came, by its name. */
export function capturedAt(file: string): number | undefined {
  const [, date, hour, minute, rest] = /(\d{8})T(\d\d)(\d\d)([\d.]+Z)-[0-9a-f]{8}\.http$/.exec(file) ?? [];
  if (date === undefined) return undefined;
  return Date.parse(`${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${hour}:${minute}:${rest}`);
}

/** The newest capture with that id, or of the event with that id. @throws Failure */
export async function findCapture(directory: string, id: string): Promise<string> {
  const names = await readdir(directory).catch((error) => {
    throw new Failure('file', `${id} is no file, and ${fileFailure(directory, error).message}`);
  });
  const captures = names.filter((name) => capturedAt(name) !== undefined).sort();
  for (const name of captures.reverse()) {
    const file = join(directory, name);
    if (name.endsWith(`-${id}.http`) || (id.startsWith('evt_') && (await eventIdIn(file)) === id)) return file;
  }
  throw new Failure('file', `${id} is no file and none of the ${captures.length} deliveries in ${directory}.`);
}

async function eventIdIn(file: string): Promise<unknown> {
  try {
    const { body } = parseHttp(await readFile(file), file);
    return JSON.parse(Buffer.from(body).toString()).id;
  } catch {
    return undefined;
  }
}
