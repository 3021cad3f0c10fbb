import type { Output, Piece } from '../../output.js';

/** The facts to print when everything is ready. */
export interface Ready {
  /** The address that it listens on. */
  url: string;
  host: string;
  targets: readonly URL[];
  routes: readonly { pattern: string; url: URL }[];
  directory: string | undefined;
  verifies: boolean;
  endpoint: { id: string | undefined; url: string } | undefined;
  /** The address of the page. */
  page: string | undefined;
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

export function announce(
  out: Output,
  { url, host, targets, routes, directory, verifies, endpoint, page }: Ready,
): void {
  const lines: Piece[][] = [
    [
      ['strong', `Listening on ${url}`],
      targets.length > 0 ? `forwarding to ${targets.map(({ href }) => href).join(' and ')}` : undefined,
      directory && `keeping in ${directory}`,
    ],
  ];
  for (const { pattern, url } of routes) lines.push([`${pattern} goes to ${url.href}`]);
  if (page) lines.push([`Deliveries: ${page}`]);
  if (endpoint) lines.push([`A temporary endpoint sends to ${endpoint.url}; it is deleted at the end.`, endpoint.id]);
  if (!verifies) lines.push([['warn', 'Nothing is verified: there is no secret in WEBHOOK_SECRET, and no --secret.']]);
  if (!LOOPBACK.includes(host)) lines.push([['warn', 'Everyone who can reach this machine can send here.']]);
  const registered = endpoint && { id: endpoint.id, url: endpoint.url }; // without its secret
  out.record(
    {
      kind: 'listening',
      url,
      forwardsTo: targets[0]?.href,
      routes: routesOf(targets, routes),
      verifies,
      directory,
      endpoint: registered,
      page,
    },
    ...lines,
  );
}

/** Returns the routes where there is more than one app. */
function routesOf(targets: Ready['targets'], routes: Ready['routes']): object | undefined {
  if (targets.length < 2 && routes.length === 0) return undefined;
  const others = targets.map(({ href }) => ({ types: '*', url: href }));
  return [...routes.map(({ pattern, url }) => ({ types: pattern, url: url.href })), ...others];
}
