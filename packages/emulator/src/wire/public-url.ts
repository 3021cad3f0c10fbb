import ipaddr from 'ipaddr.js';

/** Names that exist only inside a network. */
const INTERNAL_NAMES: readonly (readonly [name: string, kind: string])[] = [
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
 * Returns why an endpoint cannot have this URL; undefined where it can.
 *
 * `allowLoopback` allows the loopback addresses of this machine, also over http.
 */
export function refusedUrl(value: unknown, allowLoopback: boolean): string | undefined {
  if (typeof value !== 'string') return 'must be a string';
  if (value.length > 2048) return 'is longer than 2048 characters';
  // URL parsers remove or change these characters, each in its own way, so two of them may see two hosts.
  if (/[\p{Cc}\p{Cf}\p{White_Space}\\]/u.test(value)) return 'contains white space, control characters or a backslash';
  if (!URL.canParse(value)) return 'is not a URL';
  const [, authority] = /^https?:\/\/([^/?#]+)/i.exec(value) ?? [];
  if (authority === undefined) return 'must begin with https://';
  if (authority.includes('@')) return 'contains credentials';
  const { protocol, hostname } = new URL(value);
  const kind = kindOf(hostname);
  const allowed = kind === undefined || (kind === 'loopback' && allowLoopback);
  if (!allowed) return `is not public: ${kind}`;
  return protocol === 'https:' || kind === 'loopback' ? undefined : 'must begin with https://';
}

/** Returns the kind of an address; undefined for a public one. */
export function kindOfAddress(address: string): string | undefined {
  if (METADATA.includes(address)) return 'metadata';
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? range;
  const isAssigned = parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_IPV6);
  return isAssigned ? undefined : 'reserved';
}

/** The names of a server on the loopback interface. */
const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/** Returns whether a Host header names the loopback interface, on any port. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK_NAMES.includes(host.toLowerCase().replace(/:\d+$/, ''));
}

/** The public part of IPv6. Other spellings of IPv4 addresses, among others, are outside of it. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Where the virtual machines of cloud providers fetch their credentials. */
const METADATA = ['169.254.169.254', '168.63.129.16', '100.100.100.200', 'fd00:ec2::254'];

const WORDS: Readonly<Record<string, string>> = {
  linkLocal: 'link-local',
  uniqueLocal: 'private',
  carrierGradeNat: 'private',
};

/** The URL parser has already converted every spelling of an IPv4 address to dotted decimals. */
function kindOf(hostname: string): string | undefined {
  const name = hostname.replace(/[[\]]/g, '').replace(/\.+$/, '');
  if (ipaddr.isValid(name)) return kindOfAddress(name);
  const found = INTERNAL_NAMES.find(([internal]) => name === internal || name.endsWith(`.${internal}`));
  return found?.[1] ?? (name.includes('.') ? undefined : 'internal');
}
