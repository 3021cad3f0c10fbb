import type { Readable } from 'node:stream';
import { WebhookError } from 'service-webhooks';
import { drainBody } from './drain-body.js';

export interface BodyBounds {
  maxBytes: number;
  /** The time in which the whole body has to arrive, in milliseconds. */
  timeoutMs: number;
  /** Ends the read, as if the sender had left. */
  signal?: AbortSignal | undefined;
}

const MIN_BLOCK_BYTES = 4096;

/**
 * Resolves to the body of a request. Rejects with a WebhookError, `body_too_large`, `body_timeout` or `body_incomplete`;
 * then the rest is drained.
 */
export function readBody(body: Readable, { maxBytes, timeoutMs, signal }: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let block = Buffer.alloc(0);
    let size = 0;
    // Copied, since a chunk that is kept costs an object, and the whole block that it was cut from.
    const keep = (chunk: Buffer) => {
      const needed = size + chunk.length;
      if (needed > maxBytes) return finish(bodyTooLarge(maxBytes));
      if (needed > block.length) block = ofLength(roomFor(needed, block), block);
      block.set(chunk, size);
      size = needed;
    };
    const end = () => finish();
    const broken = () => finish(new WebhookError('body_incomplete'));
    const timer = setTimeout(() => finish(new WebhookError('body_timeout')), timeoutMs).unref();

    function finish(error?: WebhookError): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', broken);
      body.off('data', keep).off('end', end).off('close', broken);
      if (error === undefined) {
        resolve(size === block.length ? block : ofLength(size, block));
      } else {
        reject(error);
        drainBody(body); // at once, since a stream that has its bytes ready goes on without a pause
      }
    }

    if (body.destroyed || signal?.aborted) return broken();
    signal?.addEventListener('abort', broken);
    body.on('data', keep).on('end', end).on('close', broken);
    body.on('error', () => {}); // `close` follows
  });
}

function roomFor(needed: number, block: Buffer): number {
  const isFirst = block.length === 0; // most bodies are one chunk
  return isFirst ? needed : Math.max(needed, 2 * block.length, MIN_BLOCK_BYTES);
}

/** Returns the bytes in a block of another length. */
function ofLength(length: number, bytes: Buffer): Buffer<ArrayBuffer> {
  const block = Buffer.alloc(length);
  bytes.copy(block);
  return block;
}

/** Returns the error for a body that is too large, also for the length that a request declares. */
export function bodyTooLarge(maxBytes: number): WebhookError {
  return new WebhookError('body_too_large', { message: `The body is larger than maxBodyBytes (${maxBytes} bytes).` });
}
