import { createByteBuffer } from '../byte-buffer.js';
import { exactBytes } from '../bytes.js';
import { WebhookError } from '../errors.js';
import { unrefTimeout } from '../timers.js';
import { type ChunkFlow, startFlow } from './chunks.js';
import type { Deadline } from './deadline.js';
import type { WebhookRequest } from './request.js';

/** The body of one request: read once, or dropped. */
export interface Body {
  /** Resolves to the exact bytes. Rejects with a WebhookError; then the rest is drained. */
  read(
    request: Pick<WebhookRequest, 'signal' | 'rawBodyFix'>,
    maxBytes: number,
    deadline: Pick<Deadline, 'whenBodyIsLate'>,
  ): Promise<Uint8Array>;
  /**
   * For a refusal: reads and drops the rest of the body, in the background and within bounds, so that the sender
   * receives the answer. Beyond the bounds the connection is closed.
   */
  drain(): void;
}

/** Wraps the body of a request, in whatever form an adapter passes it. Never throws. */
export function openBody(source: unknown): Body {
  return isStream(source) ? streamBody(source) : bytesBody(source);
}

/** Returns the error for a body that is too large, also for the length that a request declares. */
export function bodyTooLarge(maxBytes: number): WebhookError {
  return new WebhookError('body_too_large', { message: `The body is larger than maxBodyBytes (${maxBytes} bytes).` });
}

type Stream = AsyncIterable<unknown> & { locked?: boolean; readableDidRead?: boolean };

function isStream(source: unknown): source is Stream {
  return typeof (source as Stream | undefined | null)?.[Symbol.asyncIterator] === 'function';
}

function bytesBody(source: unknown): Body {
  return {
    async read({ rawBodyFix }, maxBytes) {
      if (source === undefined) throw new WebhookError('body_already_read', { hint: rawBodyFix });
      const bytes = exactBytes(source ?? '', rawBodyFix);
      if (bytes.length > maxBytes) throw bodyTooLarge(maxBytes);
      return bytes;
    },
    drain() {},
  };
}

const DRAIN_BYTES = 1024 * 1024;
const DRAIN_MS = 2_000;

function streamBody(stream: Stream): Body {
  const taken = stream.locked || stream.readableDidRead; // other code has read from the stream
  let flow: ChunkFlow | undefined;
  let ended = false;
  /** The pending read; undefined while draining. */
  let reading: { take(chunk: unknown): void; finish(error?: WebhookError): void } | undefined;
  let drained = 0;
  let drainTimer: ReturnType<typeof setTimeout> | undefined;

  const consumer = {
    chunk(chunk: unknown) {
      if (reading) reading.take(chunk);
      else drained += (chunk as Uint8Array).length;
      return drained <= DRAIN_BYTES;
    },
    end: () => stop(),
    fail: () => stop(new WebhookError('body_incomplete')),
  };

  function stop(error?: WebhookError): void {
    ended = true;
    clearTimeout(drainTimer);
    reading?.finish(error);
  }

  function drain(): void {
    if (taken || ended || drainTimer !== undefined) return;
    reading = undefined;
    drainTimer = unrefTimeout(() => flow?.cutOff(), DRAIN_MS);
    flow ??= startFlow(stream, consumer);
  }

  return {
    drain,
    read: ({ signal, rawBodyFix }, maxBytes, deadline) =>
      new Promise((resolve, reject) => {
        const buffer = createByteBuffer();
        const gone = () => finish(new WebhookError('body_incomplete'));
        const finish = (error?: WebhookError) => {
          if (reading === undefined) return;
          signal?.removeEventListener('abort', gone);
          deadline.whenBodyIsLate(() => {}); // so that the buffer is not kept while the handler runs
          reading = undefined;
          if (error === undefined) return resolve(buffer.bytes());
          reject(error);
          drain();
        };
        const take = (chunk: unknown) => {
          // A stream with an encoding yields text, in which bytes that were not UTF-8 are already lost.
          if (!(chunk instanceof Uint8Array))
            return finish(new WebhookError('body_already_read', { hint: rawBodyFix }));
          const bytes = exactBytes(chunk);
          if (buffer.size() + bytes.length > maxBytes) finish(bodyTooLarge(maxBytes));
          else buffer.append(bytes);
        };
        reading = { take, finish };
        if (signal?.aborted) return gone();
        if (taken) return finish(new WebhookError('body_already_read', { hint: rawBodyFix }));
        signal?.addEventListener('abort', gone);
        deadline.whenBodyIsLate(() => finish(new WebhookError('body_timeout')));
        flow = startFlow(stream, consumer);
      }),
  };
}
