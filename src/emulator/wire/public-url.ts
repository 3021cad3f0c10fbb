import ipaddr from 'ipaddr.js';

/** Names that only mean something inside a network. */
const INTERNAL_NAMES: readonly (readonly [name: string, what: string])[] = [
  ['localhost', 'loopback'],
  ['localdomain', 'loopback'],
  ['metadata.google.internal', 'metadata'],
  ['metadata.goog', 'metadata'],
  ['internal', 'internal'],
  ['local', 'internal'],
  ['lan', 'internal'],
  ['home', 'internal'],
  ['home.arpa', 'internal'],
  ['corp', 'internal'],
  ['intranet', 'internal'],
  ['private', 'internal'],
];

/**
 * Why an endpoint cannot have this URL; undefined where it can (specification, section 2.3).
 *
 * `allowLoopback` lets the loopback addresses of this machine pass, over http as well.
 */
export function refusedUrl(value: unknown, allowLoopback: boolean): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > 2048) return 'is longer than 2048 characters';
  // A parser drops, turns or strips these: another one may then see another host.
  if (/[\p{Cc}\p{Cf}\p{White_Space}\\]/u.test(value)) return 'contains white space, control characters or a backslash';
  if (!URL.canParse(value)) return 'is no URL';
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(value) ?? [];
  if (authority === undefined) return 'must begin with https://';
  if (authority.includes('@')) return 'contains credentials';
  const { protocol, hostname } = new URL(value);
  const what = whatIs(hostname);
  const allowed = what === undefined || (what === 'loopback' && allowLoopback);
  if (!allowed) return `is not public: ${what}`;
  return protocol === 'https:' || what === 'loopback' ? undefined : 'must begin with https://';
}

/** What kind of address it is; undefined for one of the public internet. */
export function whatIsAddress(address: string): string | undefined {
  if (METADATA.includes(address)) return 'metadata';
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? range;
  const isAssigned = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
  return isAssigned ? undefined : 'reserved';
}

/** Of IPv6 all that is public; outside of it there are also other ways to write IPv4 addresses. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Of clouds, where virtual machines ask for their secrets. */
const METADATA = ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254'];

const WORDS: Readonly<Record<string, string>> = {
  linkLocal: 'link-local',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
};

/** The parser has already made dotted decimals of every other way to write an IPv4 address. */
function whatIs(hostname: string): string | undefined {
  const name = hostname.replace(/[[\]]/g, '').replace(/\.+$/, '');
  if (ipaddr.isValid(name)) return whatIsAddress(name);
  const found = INTERNAL_NAMES.find(([internal]) => name === internal || name.endsWith(`.${internal}`));
  return found?.[1] ?? (name.includes('.') ? undefined : 'internal');
}
