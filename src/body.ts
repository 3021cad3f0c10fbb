import { unref } from './deadline.js';
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

/** A Fetch stream, a Node stream, or any other async iterable. */
type Stream = AsyncIterable<unknown> & {
  locked?: boolean;
  readableDidRead?: boolean;
  /** Gives every chunk to `sink` until the end, or until that throws: cheaper than an iterator, where there is one. */
  pump?(sink: (chunk: unknown) => void): Promise<void>;
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
    ? openStream(source as Stream)
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

function openStream(stream: Stream): Body {
  /** Somebody else has read from it, or it was read to its end. */
  let used = stream.locked || stream.readableDidRead;
  let iterator: Chunks | undefined;
  let sink: (chunk: unknown) => void;
  let running: Promise<void> | undefined;
  const pump = async () => {
    iterator ??= iterate(stream);
    for (let chunk = await iterator.next(); !chunk.done; chunk = await iterator.next()) sink(chunk.value);
  };
  /** Every chunk to `next` from now on, until the end or until it throws. */
  const flow = async (next: typeof sink) => {
    sink = next;
    running ??= stream.pump?.((chunk) => sink(chunk)) ?? pump();
    try {
      await running;
      used = true;
    } finally {
      running = undefined;
    }
  };
  return {
    read: ({ signal, rawBodyFix }, maxBytes, timeoutMs) =>
      new Promise((resolve, reject) => {
        const chunks: Uint8Array[] = [];
        let size = 0;
        const finish = () => {
          clearTimeout(timer);
          signal?.removeEventListener('abort', gone);
        };
        const fail = (error: unknown) => {
          finish();
          reject(error);
        };
        const stop = (code: 'body_incomplete' | 'body_timeout', status: 400 | 408) =>
          fail(new WebhookError(code, status, 'Does a proxy change it?'));
        const gone = () => stop('body_incomplete', 400);
        signal?.addEventListener('abort', gone);
        const timer = setTimeout(stop, timeoutMs, 'body_timeout', 408);
        unref(timer);
        if (signal?.aborted) return gone();
        if (used) return fail(bodyTaken('body_already_read', rawBodyFix));
        flow((chunk) => {
          // A stream with an encoding set yields text: what was not UTF-8 in it is already lost.
          if (!(chunk instanceof Uint8Array)) throw bodyTaken('body_already_read', rawBodyFix);
          size += chunk.length;
          if (size > maxBytes) throw bodyTooLarge(maxBytes);
          chunks.push(chunk);
        }).then(
          () => {
            finish();
            resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : concat(chunks));
          },
          (error) => (isWebhookError(error) ? fail(error) : gone()),
        );
      }),
    drain() {
      const DRAIN_BYTES = 1024 * 1024;
      const DRAIN_MS = 2_000;
      if (used) return;
      let left = DRAIN_BYTES;
      const timer = setTimeout(async () => {
        try {
          stream.destroy?.(); // Node's own iterator would wait for the chunk that does not come
          await iterator?.return?.();
        } catch {}
      }, DRAIN_MS);
      unref(timer);
      flow((chunk) => {
        left -= (chunk as Uint8Array).length;
        if (!(left >= 0)) throw left; // the answer is on its way; the timer ends the connection
      }).then(
        () => clearTimeout(timer),
        () => {},
      );
    },
  };
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
