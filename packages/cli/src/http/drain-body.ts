import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

const DRAIN_BYTES = 1024 * 1024;
const DRAIN_MS = 2_000;

/**
 * Reads and drops the rest of the body of a request that is refused, in the background and within bounds, so that the
 * sender receives the answer. Beyond the bounds the connection is closed.
 */
export function drainBody(body: Readable): void {
  if (body.readableEnded || body.destroyed) return;
  let drained = 0;
  const drop = (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > DRAIN_BYTES) body.pause();
  };
  const timer = setTimeout(() => {
    body.off('data', drop);
    // To destroy a request that has arrived completely would close a connection that other requests use.
    if ((body as Partial<IncomingMessage>).complete) body.resume();
    else body.destroy();
  }, DRAIN_MS).unref();
  body.on('close', () => clearTimeout(timer));
  body.on('error', () => {});
  body.on('data', drop).resume();
}
