import type { AnswerTime } from './answer-time.js';

/** One request as it goes over the wire. */
export interface WireRequest {
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body comes in pieces, with time between them. */
  readonly slow: { readonly ms: number; readonly pieces: number } | undefined;
  /** The connection is reset when half of the body is sent, or when the answer comes. */
  readonly reset: 'request' | 'answer' | undefined;
}

/** What a receiver answered. */
export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** As text, and no more than the first 64 KiB. */
  readonly body: string;
}

/** How a request ended. An answer beside a failure is one that did not count. */
export interface Sent {
  readonly answer?: Answer | undefined;
  readonly failed?: 'timeout' | 'connection_error' | undefined;
  /** What went wrong, for a person. */
  readonly error?: string | undefined;
}

/** Brings requests to receivers. */
export interface Transport {
  /** Rejects with what kept the request from being answered. */
  send(request: WireRequest, time: AnswerTime): Promise<Sent>;
  close(): void;
}

/** How much of an answer is kept. */
export const MAX_ANSWER_BYTES = 64 * 1024;

/** The body in the pieces in which it is sent, the time before each of them, and how much of it is sent at all. */
export function* piecesOf({ body, slow, reset }: WireRequest): Generator<{ afterMs: number; bytes: Uint8Array }> {
  const sent = reset === 'request' ? body.subarray(0, body.length >> 1) : body;
  const { ms, pieces } = slow ?? { ms: 0, pieces: 1 };
  const size = Math.ceil(sent.length / pieces);
  for (let offset = 0; offset < sent.length; offset += size) {
    yield { afterMs: ms / pieces, bytes: sent.subarray(offset, offset + size) };
  }
}
