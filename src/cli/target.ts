import { Failure } from './failure.js';

/** Where `listen` listens, and where others send to when nothing is said. */
export const DEFAULT_PORT = 4747;

/** A port (`3000`), an address without a scheme (`localhost:3000/hook`) or a URL. @throws Failure */
export function parseTarget(text = `http://127.0.0.1:${DEFAULT_PORT}`): URL {
  const port = /^:?(\d+)$/.exec(text)?.[1];
  const spelled = port ? `http://localhost:${port}` : text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(spelled))
    throw new Failure('usage', `${text} is no port and no URL: 3000, or http://host:3000/path.`);
  const url = new URL(spelled);
  if (!/^https?:$/.test(url.protocol))
    throw new Failure('usage', `${url.protocol} cannot be sent to: http: or https:.`);
  if (url.username !== '' || url.password !== '') {
    throw new Failure('usage', 'the URL has a password in it, which everyone on the machine sees: take it out.');
  }
  url.hash = '';
  return url;
}

/** A target that names no path takes the one of the request. */
export function withPathOf(target: URL, path: string): URL {
  if (target.pathname !== '/' || target.search !== '' || !path.startsWith('/')) return target;
  const url = new URL(target);
  const [pathname = '/'] = path.split('?', 1);
  url.pathname = pathname;
  url.search = path.slice(pathname.length);
  return url;
}
