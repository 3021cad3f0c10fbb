import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { LOOPBACK_NAMES } from '../../wire/loopback-host.js';

/** The header that the page sends with an action. Another site can neither read the token nor send the header. */
const TOKEN_HEADER = 'x-page-token';

/** A status, and one sentence for the network tab of the browser. */
export interface Refusal {
  status: 403 | 421;
  reason: string;
}

/**
 * Returns why a request is refused. A browser on this machine sends requests for any site that is open in it, so that
 * listening on the loopback address alone protects nothing.
 */
export function refusalOf(req: IncomingMessage, token: string): Refusal | undefined {
  const { host = '', origin } = req.headers;
  if (!isOwnHost(req)) {
    return { status: 421, reason: 'This host is not served here: open the page under 127.0.0.1 or localhost.' };
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return { status: 403, reason: 'Another site has no access.' };
  }
  if (!isFromHere(req)) return { status: 403, reason: 'Another site has no access.' };
  if (req.method !== 'POST') return undefined;
  if (origin === undefined) return { status: 403, reason: 'There is no Origin: this is for the page alone.' };
  if (!isToken(req.headers[TOKEN_HEADER], token)) {
    return { status: 403, reason: 'The page is of an earlier run: load it again.' };
  }
  return undefined;
}

/**
 * Returns whether the request is for this machine: a name that an attacker's DNS points to 127.0.0.1 is another name.
 */
export function isOwnHost({ headers, socket }: IncomingMessage): boolean {
  const own = LOOPBACK_NAMES.map((name) => `${name}:${socket.localPort}`);
  return own.includes(headers.host?.toLowerCase() ?? '');
}

/** Returns whether the browser says that this page sent the request; another port of this machine is another site. */
function isFromHere({ headers, url }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'] ?? 'none';
  if (site === 'none' || site === 'same-origin') return true;
  return url === '/' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isToken(given: string | readonly string[] | undefined, token: string): boolean {
  // Compared by byte length, because buffers of different lengths cannot be compared.
  if (typeof given !== 'string' || Buffer.byteLength(given) !== token.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(token));
}
