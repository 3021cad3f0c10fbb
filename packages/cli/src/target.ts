import { Failure } from './failure.js';
import type { Session } from './session.js';

/** The port that `listen` uses, and the default target of other commands. */
export const DEFAULT_PORT = 4747;

/**
 * Parses a port (`3000`), a port with a path, an address without a scheme (`localhost:3000/hook`) or a URL. @throws
 * Failure
 */
export function parseTarget(text = `http://127.0.0.1:${DEFAULT_PORT}`): URL {
  const spelled = spelledOut(text);
  if (!URL.canParse(spelled))
    throw new Failure('usage', `${text} is no port and no URL: 3000, 3000/path, or http://host:3000/path.`);
  const url = new URL(spelled);
  if (!/^https?:$/.test(url.protocol))
    throw new Failure('usage', `${url.protocol} cannot be sent to: http: or https:.`);
  if (url.username !== '' || url.password !== '') {
    throw new Failure('usage', 'the URL has a password in it, which everyone on the machine sees: take it out.');
  }
  url.hash = '';
  return url;
}

function spelledOut(text: string): string {
  const [, port, rest = ''] = /^:?(\d+)([/?].*)?$/.exec(text) ?? [];
  if (port !== undefined) return rest === '' ? `http://localhost:${port}` : `http://127.0.0.1:${port}${rest}`;
  return text.includes('://') ? text : `http://${text}`;
}

/**
 * Parses a target as {@link parseTarget} does, and adds the path of the project to a port or a host alone. @throws
 * Failure
 */
export function parseApp({ config }: Pick<Session, 'config'>, text: string): URL {
  const url = parseTarget(text);
  return config.path === undefined ? url : withPathOf(url, config.path);
}

/** Returns the target with the path of the request where the target names none. A path such as `//host` is only a path. */
export function withPathOf(target: URL, path: string): URL {
  if (target.pathname !== '/' || target.search !== '' || !path.startsWith('/')) return target;
  const url = new URL(target);
  const [pathname = '/'] = path.split('?', 1);
  url.pathname = pathname;
  url.search = path.slice(pathname.length);
  return url;
}
