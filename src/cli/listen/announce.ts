import type { Output, Piece } from '../output.js';

/** What is said when everything is ready. */
export interface Ready {
  /** Where it listens. */
  url: string;
  host: string;
  target: URL | undefined;
  directory: string | undefined;
  verifies: boolean;
  endpoint: { id: string | undefined; url: string } | undefined;
  /** Where the page is. */
  page: string | undefined;
}

const LOOPBACK = ['127.0.0.1', '::1', 'localhost'];

export function announce(out: Output, { url, host, target, directory, verifies, endpoint, page }: Ready): void {
  const lines: Piece[][] = [
    [
      ['strong', `Listening on ${url}`],
      target && `handing on to ${target.href}`,
      directory && `keeping in ${directory}`,
    ],
  ];
  if (page) lines.push([`Deliveries: ${page}`]);
  if (endpoint) lines.push([`A temporary endpoint sends to ${endpoint.url}; it is deleted at the end.`, endpoint.id]);
  if (!verifies) lines.push([['warn', 'Nothing is verified: there is no secret in WEBHOOK_SECRET, and no --secret.']]);
  if (!LOOPBACK.includes(host)) lines.push([['warn', 'Everyone who can reach this machine can send here.']]);
  const registered = endpoint && { id: endpoint.id, url: endpoint.url }; // and not its secret
  out.record(
    { kind: 'listening', url, forwardsTo: target?.href, verifies, directory, endpoint: registered, page },
    ...lines,
  );
}
