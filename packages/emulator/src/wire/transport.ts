import type { AnswerTime } from './answer-time.js';

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly url: string;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Sends the body in `pieces`, spread over `ms` milliseconds. Default: at once. */
  readonly slow?: { readonly ms: number; readonly pieces: number } | undefined;
  /** Resets the connection after half of the body, or when the answer arrives. Default: neither. */
  readonly reset?: 'request' | 'answer' | undefined;
}

/** The answer of a receiver. */
export interface Answer {
  readonly status: number;
  /** Headers with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The first 64 KiB of the body, as text. */
  readonly body: string;
}

/** How a request ended: with an answer, or with the reason why it failed. An answer next to a failure does not count. */
export interface Sent {
  readonly answer?: Answer | undefined;
  readonly failed?: 'timeout' | 'connection_error' | undefined;
  /** The problem in words. */
  readonly error?: string | undefined;
}

/** Sends requests to receivers. */
export interface Transport {
  /** Rejects with the error that kept the receiver from answering. */
  send(request: WireRequest, time: AnswerTime): Promise<Sent>;
  close(): void;
}

/** The part of an answer's body that is kept. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** Splits the body into the pieces to send, each with the wait before it. `reset` cuts off the second half. */
export function* piecesOf({
  body,
  slow,
  reset,
}: Pick<WireRequest, 'body' | 'slow' | 'reset'>): Generator<{ afterMs: number; bytes: Uint8Array }> {
  const sent = reset === 'request' ? body.subarray(0, body.length >> 1) : body;
  const { ms, pieces } = slow ?? { ms: 0, pieces: 1 };
  const size = Math.ceil(sent.length / pieces);
  for (let offset = 0; offset < sent.length; offset += size) {
    yield { afterMs: ms / pieces, bytes: sent.subarray(offset, offset + size) };
  }
}
