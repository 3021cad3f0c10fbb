import type { IncomingMessage } from 'node:http';

const DRAIN_BYTES = 1024 * 1024;
const DRAIN_MS = 2_000;

/**
 * Reads and drops the rest of the body of a request that is refused, in the background and within bounds, so that the
 * sender receives the answer. Beyond the bounds the connection is closed.
 */
export function drainBody(req: IncomingMessage): void {
  if (req.readableEnded || req.destroyed) return;
  let drained = 0;
  const drop = (chunk: Buffer) => {
    drained += chunk.length;
    if (drained > DRAIN_BYTES) req.pause();
  };
  const timer = setTimeout(() => {
    req.off('data', drop);
    // To destroy a request that has arrived completely would close a connection that other requests use.
    if (req.complete) req.resume();
    else req.destroy();
  }, DRAIN_MS).unref();
  req.on('close', () => clearTimeout(timer));
  req.on('data', drop).resume();
}
