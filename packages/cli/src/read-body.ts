import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { WebhookError } from 'service-webhooks';

export interface ReadLimits {
  maxBytes: number;
  timeoutMs: number;
  /** Ends the read as if the sender had left. */
  signal?: AbortSignal | undefined;
}

const MIN_BLOCK_BYTES = 4096;

/**
 * Reads the exact bytes of a body. The caller drops the rest after an error.
 *
 * @throws WebhookError (as a rejection) `body_too_large`, `body_timeout`, `body_incomplete`
 */
export function readBody(body: Readable, { maxBytes, timeoutMs, signal }: ReadLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let block = new Uint8Array(0);
    let size = 0;
    const take = (chunk: Uint8Array) => {
      const needed = size + chunk.length;
      if (needed > maxBytes) return finish(bodyTooLarge(maxBytes));
      if (needed > block.length) {
        // A copy, since a chunk that is kept holds the whole block that it was cut from.
        const larger = new Uint8Array(size === 0 ? needed : Math.max(needed, 2 * block.length, MIN_BLOCK_BYTES));
        larger.set(block);
        block = larger;
      }
      block.set(chunk, size);
      size = needed;
    };
    const end = () => finish();
    const broken = () => finish(new WebhookError('body_incomplete'));
    const timer = setTimeout(() => finish(new WebhookError('body_timeout')), timeoutMs).unref();

    function finish(error?: WebhookError): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', broken);
      body.off('data', take).off('end', end).off('close', broken);
      if (error) reject(error);
      else resolve(size === block.length ? block : block.slice(0, size));
    }

    if (body.readableEnded) return end();
    if (body.destroyed || signal?.aborted) return broken();
    signal?.addEventListener('abort', broken);
    // After an error comes `close`.
    body
      .on('data', take)
      .on('end', end)
      .on('close', broken)
      .on('error', () => {});
  });
}

/** Returns the error for a body that is too large, also for the length that a request declares. */
export function bodyTooLarge(maxBytes: number): WebhookError {
  return new WebhookError('body_too_large', { message: `The body is larger than maxBodyBytes (${maxBytes} bytes).` });
}

const DROP_BYTES = 1024 * 1024;
const DROP_MS = 2_000;

/**
 * For a refusal: reads and drops the rest of a body, in the background and within bounds, so that the sender receives the
 * answer. Beyond the bounds the connection is closed.
 */
export function dropBody(body: Readable): void {
  if (body.readableEnded || body.destroyed) return;
  let dropped = 0;
  const drop = (chunk: Uint8Array) => {
    dropped += chunk.length;
    if (dropped > DROP_BYTES) body.pause();
  };
  const timer = setTimeout(() => {
    body.off('data', drop);
    // To destroy a request that has arrived completely would close a connection that other requests use.
    if ((body as Partial<IncomingMessage>).complete) body.resume();
    else body.destroy();
  }, DROP_MS).unref();
  body
    .on('data', drop)
    .on('close', () => clearTimeout(timer))
    .on('end', () => clearTimeout(timer))
    .on('error', () => {})
    .resume();
}
