import { access, constants, mkdir, open, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { asked, Failure, fileFailure } from './failure.js';
import { formatHttp, type HttpMessage, parseHttp } from './http/http-message.js';
import { jsonFields } from './http/json-fields.js';
import type { ReadInput } from './read-input.js';

/** The default directory of captured deliveries. */
export const DEFAULT_DIRECTORY = '.webhooks';

/** Captured deliveries, one file each: `<time>-<id>.http`. */
export interface Captures {
  /** Resolves when the capture is on the disk and survives a crash. @throws Failure */
  keep(message: HttpMessage, at: number): Promise<{ id: string; file: string }>;
}

/** Creates the directory, but not its parent. @throws Failure where it is not writable */
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
    await access(directory, constants.W_OK);
    await keepOutOfGit(directory, isNew ? '*\n' : '*.http\n');
  } catch (error) {
    throw fileFailure(directory, error);
  }
  return { keep };
}

/** Resolves to whether the directory is new. */
async function makeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && (await stat(path)).isDirectory();
    if (isThere) return false;
    throw error;
  }
}

/** Ignores the captures in git, because they contain download links. A directory with its own rules keeps them. */
async function keepOutOfGit(directory: string, rules: string): Promise<void> {
  await writeDurably(join(directory, '.gitignore'), Buffer.from(rules)).catch((error) => {
    if (error.code !== 'EEXIST') throw error;
  });
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

/** Writes the directory entry to the disk as well, which not every system supports. */
async function syncDirectory(path: string): Promise<void> {
  try {
    const directory = await open(path);
    await directory.sync().finally(() => directory.close());
  } catch {}
}

/** Returns the time of a capture of {@link openCaptures} from its file name. */
export function capturedAt(file: string): number | undefined {
  const [, date, hour, minute, rest] = /(\d{8})T(\d\d)(\d\d)([\d.]+Z)-[0-9a-f]{8}\.http$/.exec(file) ?? [];
  if (date === undefined) return undefined;
  return Date.parse(`${date.replace(/(....)(..)(..)/, '$1-$2-$3')}T${hour}:${minute}:${rest}`);
}

/** One captured delivery. */
export interface Capture {
  id: string;
  file: string;
  /** The time of arrival, in milliseconds since the epoch. */
  at: number;
  type: string | undefined;
  eventId: string | undefined;
  /** The size of the body. */
  bytes: number;
  /** Whether a secret has signed it; undefined where none is known. */
  verified?: boolean | undefined;
}

type IsVerified = (message: HttpMessage) => boolean;

/** Returns the newest captures and the number of all captures. @throws Failure */
export async function listCaptures(
  directory: string,
  limit: number,
  isVerified?: IsVerified,
): Promise<{ captures: readonly Capture[]; total: number }> {
  const names = await newestFirst(directory);
  const captures = await Promise.all(names.slice(0, limit).map((name) => readCapture(directory, name, isVerified)));
  return { captures, total: names.length };
}

/** Returns the newest capture. @throws Failure where there is none */
export async function lastCapture(directory: string): Promise<string> {
  const [name] = await newestFirst(directory);
  if (name === undefined)
    throw new Failure('file', `there are no deliveries in ${directory}: listen --capture keeps them.`);
  return join(directory, name);
}

/** Returns the newest capture whose id, or whose event's id, is or begins with this. @throws Failure */
export async function findCapture(directory: string, id: string): Promise<string> {
  const names = await newestFirst(directory).catch((error: Failure) => {
    throw new Failure('file', `${id} is no file, and ${error.message}`);
  });
  const found = id.startsWith('evt_') ? await byEvent(directory, names, id) : byId(names, id);
  if (found === undefined) {
    throw new Failure('file', `${id} is no file and none of the ${names.length} deliveries in ${directory}.`);
  }
  return join(directory, found);
}

async function newestFirst(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch((error) => {
    throw fileFailure(directory, error);
  });
  return names
    .filter((name) => capturedAt(name) !== undefined)
    .sort()
    .reverse();
}

const MIN_PREFIX = 4;

function byId(names: readonly string[], id: string): string | undefined {
  if (id.length < MIN_PREFIX || !/^[0-9a-f]+$/.test(id)) return undefined;
  const found = names.filter((name) => idIn(name).startsWith(id));
  if (found.length > 1) {
    throw new Failure('usage', `${id} is the beginning of several ids: ${found.slice(0, 5).map(idIn).join(', ')}.`);
  }
  return found[0];
}

/** Returns the newest capture of an event, which has one for each attempt. */
async function byEvent(directory: string, names: readonly string[], id: string): Promise<string | undefined> {
  const begin = new Map<string, string>();
  for (const name of names) {
    const { eventId } = await readCapture(directory, name);
    if (eventId === id) return name;
    if (eventId?.startsWith(id) && id.length >= 'evt_'.length + MIN_PREFIX && !begin.has(eventId))
      begin.set(eventId, name);
  }
  if (begin.size > 1)
    throw new Failure('usage', `${id} is the beginning of several ids: ${[...begin.keys()].join(', ')}.`);
  return [...begin.values()][0];
}

function idIn(name: string): string {
  return name.slice(-'7f3a9c01.http'.length, -'.http'.length);
}

async function readCapture(directory: string, name: string, isVerified?: IsVerified): Promise<Capture> {
  const file = join(directory, name);
  const message = await readMessage(file);
  const { id, type } = message ? jsonFields(message.body) : {};
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    ...{ id: idIn(name), file, at: capturedAt(name) ?? 0, type: text(type), eventId: text(id) },
    bytes: message?.body.length ?? 0,
    verified: isVerified && message !== undefined && isVerified(message),
  };
}

/** Returns undefined for a file that cannot be read as a request. */
async function readMessage(file: string): Promise<HttpMessage | undefined> {
  try {
    return parseHttp(await readFile(file), file);
  } catch {
    return undefined;
  }
}

/** Reads the request in a `.http` file, or in stdin for `-`. @throws Failure */
export async function readHttpFile(read: ReadInput, file: string): Promise<HttpMessage> {
  const bytes = await read(file);
  return asked(
    () => parseHttp(bytes, file === '-' ? 'stdin' : file),
    (reason) => new Failure('file', reason),
  );
}

/** Returns the file of a capture or event id, unless a file of that name exists. */
export async function captureOrFile(name: string, directory = DEFAULT_DIRECTORY): Promise<string> {
  if (!/^(evt_.+|[0-9a-f]{4,8})$/.test(name)) return name;
  return (await exists(name)) ? name : findCapture(directory, name);
}

/** Returns whether a path exists. */
export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
