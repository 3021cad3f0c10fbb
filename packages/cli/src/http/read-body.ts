import type { IncomingMessage } from 'node:http';
import { WebhookError } from 'service-webhooks';
import { drainBody } from './drain-body.js';

export interface BodyBounds {
  maxBytes: number;
  /** The time in which the whole body has to arrive, in milliseconds. */
  timeoutMs: number;
}

/**
 * Resolves to the body of a request. Rejects with a WebhookError, `body_too_large`, `body_timeout` or `body_incomplete`;
 * then the rest is drained.
 */
export function readBody(req: IncomingMessage, { maxBytes, timeoutMs }: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const keep = (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) refuse(tooLarge(maxBytes));
    };
    const refuse = (error: WebhookError) => {
      clearTimeout(timer);
      req.off('data', keep);
      reject(error);
      drainBody(req);
    };
    const timer = setTimeout(() => refuse(new WebhookError('body_timeout')), timeoutMs).unref();
    req.on('data', keep);
    req.on('end', () => resolve(Buffer.concat(chunks)));
    // It comes after the end too, where it changes nothing more.
    req.on('close', () => refuse(new WebhookError('body_incomplete')));
  });
}

function tooLarge(maxBytes: number): WebhookError {
  return new WebhookError('body_too_large', { message: `The body is larger than maxBodyBytes (${maxBytes} bytes).` });
}
