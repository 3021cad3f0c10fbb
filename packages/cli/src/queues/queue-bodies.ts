import { type CommandUnknownOpts, Option } from '@commander-js/extra-typings';
import { type EncryptionKey, jobReader, type PayloadOptions } from 'service-webhooks/queue';
import { Failure, isLibraryError, reasonOf } from '../failure.js';
import { isSource, readVariable, SOURCES } from '../secrets.js';
import type { Session } from '../session.js';
import { loadOverflow } from './overflow-module.js';
import { NEEDS_OVERFLOW } from './unopened-letter.js';

const KEYS = 'WEBHOOK_QUEUE_KEYS';
export const USUAL_KEYS = `env:${KEYS}`;

/** How bodies are read that are encrypted, or kept outside of a queue. */
export interface BodySettings {
  /** The source of the keys, or true for the usual variable. */
  decrypt?: string | true | undefined;
  /** The path of a module with an overflow. */
  overflow?: string | undefined;
}

/** Adds the options of {@link BodySettings}. */
export function withBodyOptions<Taken extends CommandUnknownOpts>(command: Taken): Taken {
  const decrypt = `read encrypted bodies: the source of the keys, ${SOURCES}; ${USUAL_KEYS}`;
  command.addOption(new Option('--decrypt [source]', decrypt).argParser(keySource));
  command.option('--overflow <module>', 'read bodies that are kept outside: the module that has put, get and delete');
  return command;
}

/** @throws Failure, which does not repeat the value: it may be a key */
function keySource(word: string): string {
  if (isSource(word)) return word;
  const problem = '--decrypt takes no key, which everyone on the machine would see';
  throw new Failure('usage', `${problem}: say where it is, ${SOURCES}. Ids stand in front of it.`);
}

/** Reads the keys and loads the module that settings name. @throws Failure */
export async function readBodies(session: Session, { decrypt, overflow }: BodySettings): Promise<PayloadOptions> {
  const said = new Set<string>();
  const say = (problem: string) => {
    if (!said.has(problem)) session.out.note(['warn', problem]);
    said.add(problem);
  };
  return {
    ...(decrypt !== undefined && { encrypt: await readKeys(session, decrypt === true ? USUAL_KEYS : decrypt) }),
    ...(overflow !== undefined && { overflow: await loadOverflow(overflow, say) }),
  };
}

/** Returns the keys of a source, between commas or on lines of their own. @throws Failure */
async function readKeys(session: Session, source: string): Promise<EncryptionKey[]> {
  if (source === USUAL_KEYS && session.env[KEYS] === undefined)
    throw new Failure(
      'usage',
      `there is no key: set ${KEYS}, also in .env, or say where it is with --decrypt ${SOURCES}.`,
    );
  const text = await readVariable(session, source, KEYS);
  const keys = String(text)
    .split(/[\s,]+/)
    .filter(Boolean);
  for (const [index, key] of keys.entries()) {
    if (isKey(key)) continue;
    const which = keys.length === 1 ? 'what is there' : `number ${index + 1} of ${keys.length}`;
    throw new Failure('usage', `${source} must have keys, and ${which} is none. ${FORM}`);
  }
  if (keys.length === 0) throw new Failure('usage', `${source} is empty. ${FORM}`);
  return keys;
}

const FORM =
  "A key is 32 random bytes in base64, as 'openssl rand -base64 32' prints them. Several stand between commas or on lines.";

function isKey(key: string): boolean {
  try {
    jobReader({ encrypt: key });
    return true;
  } catch {
    return false;
  }
}

/** Makes what the library throws about the body of a job a Failure that names the option. Returns any other error. */
export function bodyFailure(error: unknown): unknown {
  if (!isLibraryError(error)) return error;
  const { code, problem, cause } = error;
  if (code === 'invalid_option') return new Failure('usage', NEEDS_OVERFLOW); // of a discard: it needs no other option
  if (code !== 'body_unavailable') return error;
  return new Failure('file', cause === undefined ? problem : `${problem} ${reasonOf(cause)}`);
}
