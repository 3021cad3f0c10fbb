import { Option } from '@commander-js/extra-typings';
import type { Secret } from '../secret.js';
import { Failure } from './failure.js';
import type { Session } from './session.js';

const ENV = 'WEBHOOK_SECRET';
/** How a secret is named. */
export const SOURCES = 'env:NAME, file:PATH, or - for stdin';

/** Where a secret is. Never the secret: what stands on a command line is seen by everyone on the machine. */
export function secretOption() {
  return new Option('--secret <source>', `where the signing secret is: ${SOURCES}; env:${ENV} (repeatable)`).argParser(
    (source, others?: readonly string[]): readonly string[] => [...(others ?? []), checkSource(source)],
  );
}

/** Not with the words of the argument parser, which would repeat the value. @throws Failure */
export function checkSource(source: string): string {
  if (source === '-' || /^(env|file):./.test(source)) return source;
  throw new Failure(
    'usage',
    `a secret on the command line is seen by everyone on the machine: say where it is, ${SOURCES}.`,
  );
}

/** The secrets to use; undefined where none is named and the environment has none. @throws Failure */
export async function findSecrets(session: Session, sources?: readonly string[]): Promise<Secret[] | undefined> {
  if (sources === undefined) return session.env[ENV] === undefined ? undefined : [session.env[ENV]];
  const secrets: Secret[] = [];
  for (const source of sources) secrets.push(await readSecret(session, source));
  return secrets;
}

/** {@link findSecrets}, where there have to be some. @throws Failure */
export async function readSecrets(session: Session, sources?: readonly string[]): Promise<[Secret, ...Secret[]]> {
  const [first, ...others] = (await findSecrets(session, sources)) ?? [];
  if (first === undefined) {
    throw new Failure('usage', `no secret: set ${ENV}, or say where it is with --secret ${SOURCES}.`);
  }
  return [first, ...others];
}

/** @throws Failure */
export async function readSecret(session: Session, source: string): Promise<Secret> {
  if (source.startsWith('env:')) {
    const name = source.slice(4);
    const value = session.env[name];
    if (value === undefined) throw new Failure('usage', `the environment variable ${name} is not set; export it.`);
    return value;
  }
  return toSecret(await session.read(source === '-' ? source : source.slice(5)));
}

/** Without the end of the line that every editor and `echo` puts there. */
function toSecret(bytes: Buffer): Secret {
  const end = bytes.at(-1) === 10 ? (bytes.at(-2) === 13 ? -2 : -1) : bytes.length;
  const secret = bytes.subarray(0, end);
  const text = secret.toString();
  return Buffer.from(text).equals(secret) ? text : secret;
}
