import type { Readable } from 'node:stream';
import { ask } from './ask.js';

/** A request of Node's; `complete` when all of it has come, read or not. */
type Incoming = Readable & { readonly complete?: boolean };

interface Sink {
  take(chunk: unknown): void;
  end(): void;
  fail(error: unknown): void;
}

/**
 * The body of a request by its events: the iterator of a stream costs as much as the rest of a delivery. A class, since
 * an object with a symbol for a name is costly to make.
 */
export class NodeBody {
  readonly #req: Incoming;
  #onData: ((chunk: unknown) => void) | undefined;

  constructor(req: Incoming) {
    this.#req = req;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#req[Symbol.asyncIterator]();
  }

  /** Gives every chunk to the sink and tells the end; where the sink throws, another call goes on behind that. */
  pump(sink: Sink): void {
    const req = this.#req;
    // After every request, so that only those that broke off pay for an Error and its stack.
    const onClose = () => {
      if (!req.readableEnded) sink.fail(new Error('the upload was aborted'));
    };
    const onEnd = () => sink.end();
    if (!ask(req, 'readable')) {
      if (req.readableEnded) onEnd();
      else onClose();
      return;
    }
    const onData = (chunk: unknown) => {
      try {
        sink.take(chunk);
      } catch (error) {
        req.off('data', onData).pause();
        sink.fail(error);
      }
    };
    const onError = (error: Error) => sink.fail(error);
    if (this.#onData) req.off('data', this.#onData); // or every chunk came twice
    this.#onData = onData;
    // These stay: an `error` that nobody listens to would end the process.
    req.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose).resume();
  }

  /** Lets go of the rest, where all of it is there already; else the connection ends, which others may be using. */
  destroy(): void {
    if (this.#req.complete) this.#req.resume();
    else this.#req.destroy();
  }
}
