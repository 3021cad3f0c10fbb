import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { InvalidArgumentError } from '@commander-js/extra-typings';

/** Event types, and the app that receives their deliveries. */
export interface Route {
  /** An event type, in which `*` stands for any characters. */
  pattern: string;
  /** A port or a URL, as it was typed. */
  app: string;
}

/** The targets of deliveries. */
export interface Routes {
  /** Every app, each once. */
  readonly apps: readonly URL[];
  /** Returns the apps for an event of this type; none: `listen` answers itself. */
  targets(type: string | undefined): readonly URL[];
}

/** Returns the routes, and the apps for every type without a route. */
export function createRoutes(apps: readonly URL[], routes: readonly { pattern: string; url: URL }[] = []): Routes {
  const all = new Map([...apps, ...routes.map(({ url }) => url)].map((url) => [url.href, url]));
  return {
    apps: [...all.values()],
    targets(type = '') {
      const routed = routes.filter(({ pattern }) => matches(pattern, type)).map(({ url }) => url);
      return routed.length > 0 ? routed : apps;
    },
  };
}

/** Compares by parts and not by a regular expression, because any sender chooses the type. */
function matches(pattern: string, type: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return type === pattern;
  if (!type.startsWith(first) || !type.endsWith(last) || type.length < first.length + last.length) return false;
  let from = first.length;
  for (const part of rest) {
    const at = type.indexOf(part, from);
    if (at === -1 || at + part.length > type.length - last.length) return false;
    from = at + part.length;
  }
  return true;
}

/** Parses `generation.*=3000/a`, which may be given several times. */
export function routeArgument(text: string, others: readonly Route[] = []): readonly Route[] {
  const [, pattern, app] = /^([\w.*]+)=(.+)$/.exec(text) ?? [];
  if (pattern === undefined || app === undefined) {
    throw new InvalidArgumentError('It takes event types and an app, as in generation.*=3000/a.');
  }
  return [...others, { pattern, app }];
}

/** Returns whether a URL leads to a port of this machine, under any name. */
export async function isOwnAddress(url: URL, port: number): Promise<boolean> {
  const urlPort = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  if (urlPort !== port) return false;
  const found = await lookup(url.hostname.replace(/^\[|\]$/g, ''), { all: true }).catch(() => []);
  const own = Object.values(networkInterfaces()).flatMap((some) => (some ?? []).map(({ address }) => address));
  return found.some(
    ({ address }) => /^(127\.|::1$|0\.0\.0\.0$|::$|::ffff:127\.)/.test(address) || own.includes(address),
  );
}
