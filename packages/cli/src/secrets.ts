import { parseEnv } from 'node:util';
import { Option } from '@commander-js/extra-typings';
import type { Secret } from 'service-webhooks';
import { Failure } from './failure.js';
import type { Session } from './session.js';
import { startInFolder } from './start-command.js';

const ENV = 'WEBHOOK_SECRET';
/** The ways to name a secret. */
export const SOURCES = 'env:NAME, file:PATH, or - for stdin';

/**
 * Returns the option for the source of a secret. Never the secret: every user of the machine can see a command line.
 */
export function secretOption() {
  return new Option(
    '--secret <source>',
    `the source of the signing secret: ${SOURCES}; env:${ENV} (repeatable)`,
  ).argParser((source, others?: readonly string[]): readonly string[] => [...(others ?? []), checkSource(source)]);
}

/** Returns the option for the source of the secret that signs redacted deliveries. Not one in use: the files are for others. */
export function signWithOption() {
  return new Option(
    '--sign-with <source>',
    `with --redact: the source of the secret to sign with again: ${SOURCES}`,
  ).argParser(checkSource);
}

/** Checks a source without the messages of the argument parser, which repeat the value. @throws Failure */
export function checkSource(source: string): string {
  if (isSource(source)) return source;
  throw new Failure(
    'usage',
    `a secret on the command line is seen by everyone on the machine: say where it is, ${SOURCES}.`,
  );
}

/** Whether a word says where a secret is, and is not the secret. */
export function isSource(word: string): boolean {
  return word === '-' || /^(env|file):./.test(word);
}

/** Returns the secrets; undefined where no source is named and the environment has none. @throws Failure */
export async function findSecrets(session: Session, sources?: readonly string[]): Promise<Secret[] | undefined> {
  if (sources === undefined) {
    const secret = session.env[session.config.secretVariable ?? ENV];
    return secret === undefined ? undefined : [secret];
  }
  const secrets: Secret[] = [];
  for (const source of sources) secrets.push(await readSecret(session, source));
  return secrets;
}

/** Returns the secrets of {@link findSecrets}. @throws Failure where there are none */
export async function readSecrets(session: Session, sources?: readonly string[]): Promise<[Secret, ...Secret[]]> {
  const [first, ...others] = (await findSecrets(session, sources)) ?? [];
  if (first !== undefined && first !== '') return [first, ...others];
  const variable = session.config.secretVariable ?? ENV;
  const problem = first === undefined ? 'no secret' : `${sources?.[0] ?? variable} is empty`;
  throw new Failure(
    'usage',
    `${problem}: set ${variable}, also in .env, or say where it is with --secret ${SOURCES}. ${howToTry(variable)}`,
  );
}

/** Returns how an app gets a secret to try things out. The line to copy comes last. */
function howToTry(variable: string): string {
  const { command, envFile } = startInFolder(process.cwd());
  return (
    `To try things out, start your app with '${command}' after you have put this line into ${envFile}: ` +
    `${variable}=${randomSecret()}`
  );
}

/** Returns a random secret for development, in the form that the service uses. */
export function randomSecret(): string {
  return `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('hex')}`;
}

/** Returns the signing secret of a source. @throws Failure */
export function readSecret(session: Session, source: string): Promise<Secret> {
  return readVariable(session, source, session.config.secretVariable ?? ENV);
}

/**
 * Returns the secret of a source. An environment file has it in this variable, and any other file has it alone.
 * @throws Failure
 */
export async function readVariable(session: Session, source: string, variable: string): Promise<Secret> {
  const secret = await readSource(session, source);
  if (source.startsWith('env:') || typeof secret !== 'string') return secret;
  const value = (parseEnv(secret) as Session['env'])[variable];
  if (value !== undefined) return value;
  const file = source.replace(/^file:/, '');
  if (!ENV_FILE.test(file)) return secret;
  throw new Failure('file', `${file} does not set ${variable}: add it, or name a file that has the secret alone.`);
}

/** The path of an environment file, such as `.env.local`. */
const ENV_FILE = /(^|[/\\])\.(env|dev\.vars)[^/\\]*$/;

/** Returns the whole content of a source. @throws Failure */
export async function readSource(session: Session, source: string): Promise<Secret> {
  if (source.startsWith('env:')) {
    const name = source.slice(4);
    const value = session.env[name];
    if (value === undefined) throw new Failure('usage', `the environment variable ${name} is not set; export it.`);
    return value;
  }
  // A file of that name, and not stdin.
  const path = source === 'file:-' ? './-' : source.replace(/^file:/, '');
  return toSecret(await session.read(path));
}

/** Removes the line end that every editor and `echo` adds. */
function toSecret(bytes: Buffer): Secret {
  const end = bytes.at(-1) === 10 ? (bytes.at(-2) === 13 ? -2 : -1) : bytes.length;
  const secret = bytes.subarray(0, end);
  const text = secret.toString();
  return Buffer.from(text).equals(secret) ? text : secret;
}
