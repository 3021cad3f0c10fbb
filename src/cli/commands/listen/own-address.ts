import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

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
