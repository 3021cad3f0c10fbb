import type { WebhookError } from '../errors.js';
import type { HeaderSource } from '../verify/headers.js';

/** The exact bytes of a request, all at once or in chunks. Node's `req` and a Fetch `request.body` are both valid. */
export type BodySource = Uint8Array | AsyncIterable<Uint8Array> | string | null;

/** A request as an adapter passes it to a receiver. */
export interface WebhookRequest {
  method: string;
  headers: HeaderSource;
  /** The body. `undefined` means that the request had a body and other code has read it. */
  body: BodySource | undefined;
  /** Aborted when the sender has disconnected: the receiver then no longer waits for the body. */
  signal?: AbortSignal | undefined;
  /**
   * How to keep the raw body in this framework, as a sentence: part of the message where a parser has read the body.
   */
  rawBodyFix?: string | undefined;
  /** Why an adapter cannot read the request: the receiver logs the error, and answers with its status. */
  error?: WebhookError | undefined;
}

/** The answer that an adapter returns to its framework. */
export interface WebhookResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}
