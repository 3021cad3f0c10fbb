import { printable } from 'service-webhooks/printable';
import { confirmed } from './confirmed.js';
import { Failure } from './failure.js';
import type { Session } from './session.js';

export const URL_ENV = 'SERVICE_URL';

/** Where the API key or the address of the API comes from. */
interface Source {
  /** Its name, for messages. */
  label: string;
  /** The settings file of the current directory that has it, which other people may have written. */
  settingsFile?: string;
}

/** The address of the API. */
export interface ApiAddress {
  url: string;
  source: Source;
}

/** Returns the address of the API: of the command line, of the environment, or of the project. @throws Failure */
export function findAddress(session: Session, given: string | undefined): ApiAddress {
  const { env, config } = session;
  if (given !== undefined) return { url: given, source: { label: '--base-url' } };
  if (env[URL_ENV] !== undefined) return { url: env[URL_ENV], source: sourceOfVariable(session, URL_ENV) };
  if (config.baseUrl !== undefined) {
    const settingsFile = 'service-webhooks.json';
    return { url: config.baseUrl, source: { label: `baseUrl in ${settingsFile}`, settingsFile } };
  }
  throw new Failure(
    'usage',
    `where is the API? Set ${URL_ENV} to its address, https://…, or baseUrl in service-webhooks.json.`,
  );
}

/**
 * Prints where the key goes. Asks first where a settings file names the address and the key comes from another source: a
 * cloned folder could name any address. @throws Failure unless the key may go there
 */
export async function allowKey(session: Session, keyOption: string, { url, source }: ApiAddress): Promise<void> {
  const keySource = sourceOfKey(session, keyOption);
  const host = new URL(url).origin;
  if (source.settingsFile !== undefined && source.settingsFile !== keySource.settingsFile) {
    const question = `The API key comes from ${keySource.label}, but its host, ${host}, from ${source.label}. Send the key there?`;
    const withoutTerminal =
      `the API key comes from ${keySource.label}, but its host, ${host}, from ${source.label}. ` +
      `If you trust it, set ${URL_ENV}=${new URL(url).href.replace(/\/$/, '')} in the environment`;
    if (!(await confirmed(session, question, withoutTerminal))) {
      throw new Failure('no', `nothing was sent to ${host}. To use another host, set ${URL_ENV} in the environment.`);
    }
  }
  session.stderr.write(`${printable(`The API key (${keySource.label}) is sent to ${host} (${source.label}).`)}\n`);
}

function sourceOfKey(session: Session, option: string): Source {
  if (option.startsWith('env:')) return sourceOfVariable(session, option.slice('env:'.length));
  const label = option === '-' ? 'stdin' : `the file ${option.slice('file:'.length)}`;
  return { label };
}

function sourceOfVariable({ fileOf }: Session, name: string): Source {
  const settingsFile = fileOf.get(name);
  return settingsFile === undefined
    ? { label: `the environment variable ${name}` }
    : { label: `${name} in ${settingsFile}`, settingsFile };
}
