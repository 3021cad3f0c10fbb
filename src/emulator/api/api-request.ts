import type { ApiError } from './api-error.js';

/** A request to the API, whatever it came through. */
export interface ApiRequest {
  readonly method: string;
  /** Without the query, which no route reads. */
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly ip: string;
  /** What links in answers begin with. */
  readonly baseUrl: string;
  /** The whole body. Rejects with an ApiError. */
  readBody(): Promise<Uint8Array>;
  /** What was wrong with it before it came here. */
  readonly refusal?: ApiError | undefined;
}

/** What the API answers. */
export interface ApiAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Whether an answer with that status has a body. */
export function hasBody(status: number): boolean {
  return status !== 204 && status !== 205 && status !== 304;
}
