import { asked, Failure } from './failure.js';
import { isSource, readSource, SOURCES } from './secrets.js';
import type { Session } from './session.js';

/** The URLs that an option takes, and the variable that has one where the option has no value. */
export interface ServerUrl {
  variable: string;
  example: string;
  protocols: readonly string[];
}

/** URLs of PostgreSQL. */
export const POSTGRES_URL: ServerUrl = {
  variable: 'DATABASE_URL',
  example: 'postgres://localhost/app',
  protocols: ['postgres:', 'postgresql:'],
};

/** URLs of MySQL and MariaDB. */
export const MYSQL_URL: ServerUrl = {
  variable: 'DATABASE_URL',
  example: 'mysql://localhost/app',
  protocols: ['mysql:', 'mariadb:'],
};

/** How a URL is given. */
export interface UrlGiven {
  /** The setting of `service-webhooks.json` that has it. Default: the option is named. */
  setting?: string | undefined;
  /** What else the value may have been meant as. */
  advice?: string | undefined;
}

/**
 * Returns the URL of a server: the value of an option or a setting, or that of the place which the value names. It refuses
 * a password there. @throws Failure, which does not repeat the URL
 *
 * @param given The value; true where there is none.
 */
export async function readServerUrl(
  session: Session,
  name: string,
  { variable, example, protocols }: ServerUrl,
  given: unknown,
  { setting, advice = '' }: UrlGiven = {},
): Promise<string> {
  const taker = setting ?? `--${name}`;
  const pass = setting === undefined ? `pass --${name} ${example}` : `write ${example} into ${setting}`;
  const without = setting === undefined ? `pass --${name} without a value` : `leave out ${setting}`;
  if (given === true && session.env[variable] === undefined)
    throw new Failure('usage', `there is no URL: ${pass}, or set ${variable}, also in .env.`);
  const source = given === true ? `env:${variable}` : String(given);
  const isNamed = isSource(source);
  const address = isNamed ? String(await readSource(session, source)).trim() : source;
  // Without the slashes, a URL hides its user and password from the check below.
  const isUrl = URL.canParse(address) && /^\w+:\/\//.test(address) && protocols.includes(new URL(address).protocol);
  if (!isUrl) {
    throw new Failure('usage', `${taker} takes a URL such as ${example}, or ${SOURCES}.${isNamed ? '' : advice}`);
  }
  if (!isNamed && passwordsIn(address).length > 0) {
    const instead = `set ${variable}, also in .env, and ${without}`;
    throw new Failure('usage', `the URL has a password in it, which everyone on the machine sees: ${instead}.`);
  }
  return address;
}

/** Turns what a client of the server throws into a Failure, without the password of its URL. */
export function askServer<T>(name: string, address: string, call: () => Promise<T>): Promise<T> {
  return asked(call, (reason) => {
    const said = withoutPasswords(reason.replace(/\.$/, ''), address);
    const { host } = new URL(address);
    return new Failure('network', `${name} at ${host} does not answer: ${said}. Check the URL and the server.`);
  });
}

/** Returns the passwords of a URL as they are written there: of its user, and of its parameters. */
function passwordsIn(address: string): string[] {
  const { password, search } = new URL(address);
  const [, asTyped = ''] = /^[^:]*:\/\/[^:/?#]*:([^/?#]*)@/.exec(address) ?? [];
  const inSearch = search
    .slice(1)
    .split('&')
    .map((pair) => /^([^=]*)=(.*)$/.exec(pair) ?? [])
    .filter(([, name = '']) => /pass|secret|token/i.test(decoded(name)))
    .map(([, , value = '']) => value);
  return [password, asTyped, ...inSearch].filter((found) => found !== '');
}

function withoutPasswords(text: string, address: string): string {
  const forms = passwordsIn(address).flatMap((password) => [password, decoded(password)]);
  // The longest first: one may begin another.
  const found = forms.toSorted((a, b) => b.length - a.length);
  return found.reduce((left, password) => left.replaceAll(password, '***'), text);
}

/** A percent sign that encodes nothing stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}
