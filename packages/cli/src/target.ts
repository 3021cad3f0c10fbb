import { Failure } from './failure.js';
import type { Session } from './session.js';

/** The port that `listen` uses, and the default target of other commands. */
export const DEFAULT_PORT = 4747;

/** The path of the endpoint for a target that is a port alone, unless the project names another one. */
const DEFAULT_PATH = '/webhooks';

/**
 * Parses a port (`3000`), a port with a path, an address without a scheme (`localhost:3000/hook`) or a URL. A port is one
 * of `localhost`, which stands for 127.0.0.1 and ::1: Vite listens on the second alone. @throws Failure
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
  if (port !== undefined) return `http://localhost:${port}${rest}`;
  return text.includes('://') ? text : `http://${text}`;
}

/**
 * Parses the target of a delivery as {@link parseTarget} does. A port alone has the path of the project, or `/webhooks`.
 * @throws Failure
 */
export function parseApp({ config }: Pick<Session, 'config'>, text: string): URL {
  const url = parseTarget(text);
  return /^:?\d+$/.test(text) ? withPathOf(url, config.path ?? DEFAULT_PATH) : url;
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
