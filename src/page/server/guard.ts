import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The header that the page sends with an action. Another site can neither read the token nor send the header. */
const TOKEN_HEADER = 'x-page-token';

/** A status, and one sentence for whoever looks into the network tab. */
export interface Refusal {
  status: 403 | 421;
  reason: string;
}

/**
 * Why a request is not answered. A browser on this machine sends requests for any site that is open in it, so that the
 * loopback address alone keeps nobody out.
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

/** Whether this machine was asked for: a name that an attacker's DNS has moved to 127.0.0.1 is still another name. */
export function isOwnHost({ headers, socket }: IncomingMessage): boolean {
  const own = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${socket.localPort}`);
  return own.includes(headers.host?.toLowerCase() ?? '');
}

/** What the browser says of the site that asks; another port of this machine is `same-site`, and another site. */
function isFromHere({ headers, url }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'] ?? 'none';
  if (site === 'none' || site === 'same-origin') return true;
  return url === '/' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isToken(given: string | readonly string[] | undefined, token: string): boolean {
  // In bytes: those of another number cannot be compared.
  if (typeof given !== 'string' || Buffer.byteLength(given) !== token.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(token));
}
