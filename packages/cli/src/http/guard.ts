import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The header that the page sends with an action. Another site can neither read the token nor send the header. */
const TOKEN_HEADER = 'x-page-token';

/** The names of a server on the loopback interface. */
const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]'];

/** A status, and one sentence for the network tab of the browser. */
export interface Refusal {
  status: 403 | 421;
  reason: string;
}

export interface OwnSite {
  /** More names of this server, in lower case, which count with its port alone. */
  names?: readonly string[];
  /** Names under which a tunnel leads here, in lower case and on any port. */
  tunnels?: readonly string[];
  /** Whether another site may cause this request. */
  isLink?: (req: IncomingMessage) => boolean;
}

/**
 * Returns which header shows that a request may be of another site that is open in a browser; undefined for a request of
 * a program, or of a page of this server. Listening on the loopback address alone protects nothing, because a browser on
 * this machine sends requests for any site, and an attacker's DNS may point any name to this machine.
 */
export function foreignHeader(req: IncomingMessage, own: OwnSite = {}): 'host' | 'origin' | undefined {
  if (!isOwnHost(req, own)) return 'host';
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = req.headers;
  const origins = ['http', 'https'].map((scheme) => `${scheme}://${host}`.toLowerCase());
  if (origin !== undefined && !origins.includes(origin.toLowerCase())) return 'origin';
  return site === 'none' || site === 'same-origin' || own.isLink?.(req) ? undefined : 'origin';
}

/** Returns why a request for the API next to the page is refused. */
export function foreignRefusal(req: IncomingMessage): Refusal | undefined {
  const header = foreignHeader(req);
  return header && REFUSALS[header];
}

/** Returns why a request for the page is refused. */
export function refusalOf(req: IncomingMessage, token: string): Refusal | undefined {
  const header = foreignHeader(req, { isLink: isLinkToPage });
  if (header !== undefined) return REFUSALS[header];
  if (req.method !== 'POST') return undefined;
  if (req.headers.origin === undefined) {
    return { status: 403, reason: 'There is no Origin: this is for the page alone.' };
  }
  if (!isToken(req.headers[TOKEN_HEADER], token)) {
    return { status: 403, reason: 'The page is of an earlier run: load it again.' };
  }
  return undefined;
}

const REFUSALS: Readonly<Record<'host' | 'origin', Refusal>> = {
  host: { status: 421, reason: 'This host is not served here: use 127.0.0.1 or localhost.' },
  origin: { status: 403, reason: 'Another site has no access.' },
};

function isOwnHost({ headers, socket }: IncomingMessage, { names = [], tunnels = [] }: OwnSite): boolean {
  const host = headers.host?.toLowerCase() ?? '';
  const port = `:${socket.localPort}`;
  // The address that the request came to is a name of this server too: no other site can be at this address and port.
  const own = [...LOOPBACK_NAMES, hostOf(socket.localAddress ?? ''), ...names];
  if (own.some((name) => host === name + port || (port === ':80' && host === name))) return true;
  return tunnels.includes(host.replace(/:\d+$/, ''));
}

/** Returns an address in the form of a URL and of a Host header. */
export function hostOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=[\d.]+$)/, '');
  return plain.includes(':') ? `[${plain}]` : plain;
}

/** Returns whether a person followed a link to the page: another site may have one. */
function isLinkToPage({ headers, url }: IncomingMessage): boolean {
  return url === '/' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isToken(given: string | readonly string[] | undefined, token: string): boolean {
  // Compared by byte length, because buffers of different lengths cannot be compared.
  if (typeof given !== 'string' || Buffer.byteLength(given) !== token.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(token));
}
