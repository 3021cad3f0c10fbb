import type { Readable } from 'node:stream';
import { ApiError } from './api-error.js';
import { MAX_JSON_BYTES } from './not-shown.js';

export interface ReadBodyLimits {
  /** Above this a body is refused. */
  maxBodyBytes: number;
  /** A body that has not come by then is refused; in real time. */
  bodyTimeoutMs: number;
}

/**
 * The bytes of a body. Of one that is longer than any that a route takes, all are counted, but only the first are
 * kept. What comes after a refusal is read and forgotten, so that whoever sends it comes to see the answer.
 *
 * Rejects with an ApiError: `file_too_large`, `request_timeout`, `invalid_request` for a body that breaks off.
 */
export function readBody(stream: Readable, { maxBodyBytes, bodyTimeoutMs }: ReadBodyLimits): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const kept: Uint8Array[] = [];
    let size = 0;
    const refuse = (error: ApiError) => {
      clearTimeout(timer);
      reject(error);
    };
    const breakOff = () => refuse(new ApiError('invalid_request', 'The body breaks off.'));
    const timer = setTimeout(() => refuse(new ApiError('request_timeout')), bodyTimeoutMs);
    stream.on('data', (chunk: Uint8Array) => {
      if (size <= MAX_JSON_BYTES) kept.push(chunk);
      size += chunk.length;
      if (size > maxBodyBytes) refuse(new ApiError('file_too_large'));
    });
    stream.on('end', () => {
      clearTimeout(timer);
      resolve(Buffer.concat(kept));
    });
    stream.on('error', breakOff);
    stream.on('close', breakOff);
  });
}
