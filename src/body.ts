import { later } from './deadline.js';
import { isWebhookError, WebhookError } from './errors.js';
import { bodyTaken, concat, exactBytes, type WebhookRequest } from './http.js';

/** The body of one request: read once, or let go of politely. */
export interface Body {
  /** The exact bytes. Rejects with a WebhookError and leaves the rest of the body where it is. */
  read(
    request: Pick<WebhookRequest, 'signal' | 'rawBodyFix'>,
    maxBytes: number,
    timeoutMs: number,
  ): Promise<Uint8Array>;
  /**
   * For a refusal: reads on and forgets, in the background and within bounds, so that the sender comes to see the
   * answer. Past the bounds the sender is cut off.
   */
  drain(): void;
}

/** Where a stream puts what comes. */
export interface Sink {
  take(chunk: unknown): void;
  end(): void;
  fail(error: unknown): void;
}

/** A Fetch stream, a Node stream, or any other async iterable. */
type Stream = AsyncIterable<unknown> & {
  locked?: boolean;
  readableDidRead?: boolean;
  /** Gives every chunk to the sink, until that throws, and tells the end: cheaper than an iterator. */
  pump?(sink: Sink): void;
  getReader?(): { read(): Promise<{ done?: boolean; value?: unknown }>; cancel(): Promise<void> };
  destroy?(): void;
};

interface Chunks {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  return?(): unknown;
}

/** Takes charge of a request's body, whatever an adapter found there. Never throws. */
export function openBody(source: unknown): Body {
  return typeof (source as Stream)?.[Symbol.asyncIterator] === 'function'
    ? new StreamBody(source as Stream)
    : openBytes(source);
}

function openBytes(source: unknown): Body {
  return {
    async read({ rawBodyFix }, maxBytes) {
      if (source === undefined) throw bodyTaken('body_already_read', rawBodyFix);
      const bytes = exactBytes(source ?? '', rawBodyFix);
      if (bytes.length > maxBytes) throw bodyTooLarge(maxBytes);
      return bytes;
    },
    drain() {},
  };
}

/** A class and calls, where a closure and a promise for each step would do: one is made for every delivery. */
class StreamBody implements Body, Sink {
  readonly #stream: Stream;
  /** Somebody else has read from it, or it was read to its end. */
  #used: boolean | undefined;
  #iterator: Chunks | undefined;
  declare take: (chunk: unknown) => void;
  #done!: (error?: WebhookError) => void;

  constructor(stream: Stream) {
    this.#stream = stream;
    this.#used = stream.locked || stream.readableDidRead;
  }

  read({ signal, rawBodyFix }: Pick<WebhookRequest, 'signal' | 'rawBodyFix'>, maxBytes: number, timeoutMs: number) {
    return new Promise<Uint8Array>((resolve, reject) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      const done = (error?: WebhookError) => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', gone);
        if (error) reject(error);
        else resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : concat(chunks));
      };
      const gone = () => this.fail();
      signal?.addEventListener('abort', gone);
      const timer = later(() => this.fail(new WebhookError('body_timeout', 408, 'Does a proxy change it?')), timeoutMs);
      this.#done = done;
      if (signal?.aborted) return gone();
      if (this.#used) return this.fail(bodyTaken('body_already_read', rawBodyFix));
      this.#flow((chunk) => {
        // A stream with an encoding set yields text: what was not UTF-8 in it is already lost.
        if (!(chunk instanceof Uint8Array)) throw bodyTaken('body_already_read', rawBodyFix);
        size += chunk.length;
        if (size > maxBytes) throw bodyTooLarge(maxBytes);
        chunks.push(chunk);
      });
    });
  }

  drain() {
    const DRAIN_BYTES = 1024 * 1024;
    const DRAIN_MS = 2_000;
    if (this.#used) return;
    let left = DRAIN_BYTES;
    const timer = later(async () => {
      try {
        this.#stream.destroy?.(); // Node's own iterator would wait for the chunk that does not come
        await this.#iterator?.return?.();
      } catch {}
    }, DRAIN_MS);
    this.#done = (error) => error || clearTimeout(timer);
    this.#flow((chunk) => {
      left -= (chunk as Uint8Array).length;
      if (!(left >= 0)) throw left; // the answer is on its way; the timer ends the connection
    });
  }

  /** Every chunk to `take` from now on, until the end or until it throws. */
  async #flow(take: (chunk: unknown) => void): Promise<void> {
    this.take = take; // here alone: assigned within another closure it keeps half as much again alive for the collector
    try {
      if (this.#stream.pump) return this.#stream.pump(this);
      this.#iterator ??= iterate(this.#stream);
      for (;;) {
        const { done, value } = await this.#iterator.next();
        if (done) return this.end();
        this.take(value);
      }
    } catch (error) {
      this.fail(error);
    }
  }

  end(): void {
    this.#used = true;
    this.#done();
  }

  fail(error?: unknown): void {
    this.#done(isWebhookError(error) ? error : new WebhookError('body_incomplete', 400, 'Does a proxy change it?'));
  }
}

/** A reader can be cancelled while a read is pending, the stream's own iterator cannot. */
function iterate(stream: Stream): Chunks {
  const reader = stream.getReader?.();
  if (reader === undefined) return stream[Symbol.asyncIterator]();
  return { next: () => reader.read(), return: () => reader.cancel() };
}

/** Also used for what a Content-Length declares. */
export function bodyTooLarge(maxBytes: number): WebhookError {
  return new WebhookError('body_too_large', 413, 'Raise maxBodyBytes?', `over ${maxBytes} B`);
}
