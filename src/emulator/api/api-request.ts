import type { ApiError } from './api-error.js';

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
