import type { Readable } from 'node:stream';
import { createFirstBytes } from '../wire/first-bytes.js';
import { ApiError } from './api-error.js';

/** A request to the API, from the HTTP server or from `emulator.fetch`. */
export interface ApiRequest {
  readonly method: string;
  /** The path without the query, which no route reads. */
  readonly path: string;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly ip: string;
  /** The beginning of links in answers. */
  readonly baseUrl: string;
  /** Reads the whole body. Rejects with an ApiError. */
  readBody(): Promise<Uint8Array>;
  /** Why the server has already refused the request. */
  readonly refusal?: ApiError | undefined;
}

/** An answer of the API. */
export interface ApiAnswer {
  readonly status: number;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Returns whether an answer with that status has a body. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}

export interface ReadBodyLimits {
  /** The largest body that is accepted, in bytes. */
  maxBodyBytes: number;
  /** How long the body may take to arrive, in real milliseconds. */
  bodyTimeoutMs: number;
}

/** The largest JSON body that a route accepts. */
const MAX_JSON_BYTES = 1024 * 1024;

/**
 * Reads a body. All bytes are counted, but of one that is too large for every route only the first part is kept. After
 * a refusal the rest is still read, so that the client can read the answer.
 *
 * Rejects with an ApiError: `file_too_large`, `request_timeout`, `invalid_request` for a body that breaks off.
 */
export function readBody(stream: Readable, { maxBodyBytes, bodyTimeoutMs }: ReadBodyLimits): Promise<Uint8Array> {
  let timer: NodeJS.Timeout | undefined;
  const read = new Promise<Uint8Array>((resolve, reject) => {
    const kept = createFirstBytes(MAX_JSON_BYTES + 1); // one more than a route accepts, which tells the two apart
    let received = 0;
    const breakOff = () => reject(new ApiError('invalid_request', 'The body breaks off.'));
    timer = setTimeout(() => reject(new ApiError('request_timeout')), bodyTimeoutMs);
    stream.on('data', (chunk: Uint8Array) => {
      received += chunk.length;
      kept.append(chunk);
      if (received > maxBodyBytes) reject(new ApiError('file_too_large'));
    });
    stream.on('end', () => resolve(kept.bytes()));
    stream.on('error', breakOff);
    stream.on('close', breakOff);
  });
  return read.finally(() => clearTimeout(timer));
}

/** Reads a JSON object. Rejects with an ApiError: `invalid_json`, `invalid_body`, and those of the body. */
export async function readJsonObject(request: ApiRequest): Promise<Record<string, unknown>> {
  const bytes = await request.readBody();
  const mediaType = request.headers['content-type']?.split(';')[0];
  if (mediaType?.trim().toLowerCase() !== 'application/json') throw new ApiError('invalid_json');
  if (bytes.length > MAX_JSON_BYTES) throw new ApiError('invalid_body');
  const value = parseJson(bytes);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ApiError('invalid_body');
  return value as Record<string, unknown>;
}

// A byte order mark is kept, so that JSON.parse refuses it.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch {
    throw new ApiError('invalid_json');
  }
}
