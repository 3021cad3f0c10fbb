import type { ServerResponse } from 'node:http';
import type { WebhookResponse } from 'service-webhooks';

/** Sends an answer, unless other code has begun one or the sender has left. */
export function sendOnNode(res: ServerResponse, { status, headers, body }: WebhookResponse): void {
  if (res.headersSent || res.destroyed) return;
  const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(body) };
  res.writeHead(status, { ...headers, ...length }).end(body);
}
