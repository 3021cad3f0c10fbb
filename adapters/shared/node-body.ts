import type { Readable } from 'node:stream';
import { ask } from './ask.js';

/** A request of Node's; `complete` when all of it has come, read or not. */
type Incoming = Readable & { readonly complete?: boolean };

/**
 * The body of a request by its events: the iterator of a stream costs as much as the rest of a delivery. A class, since
 * an object with a symbol for a name is costly to make.
 */
export class NodeBody {
  readonly #req: Incoming;

  constructor(req: Incoming) {
    this.#req = req;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#req[Symbol.asyncIterator]();
  }

  /** Gives every chunk to `sink` until the end, or until that throws; goes on behind it when it is called again. */
  pump(sink: (chunk: unknown) => void): Promise<void> {
    const req = this.#req;
    return new Promise((resolve, reject) => {
      // After every request, so that only those that broke off pay for an Error and its stack; and none settles twice,
      // which costs more than the rest of this.
      const closed = () => req.readableEnded || reject(new Error('the upload was aborted'));
      if (!ask(req, 'readable')) return req.readableEnded ? resolve() : closed();
      const onData = (chunk: unknown) => {
        try {
          sink(chunk);
        } catch (error) {
          req.off('data', onData).pause();
          reject(error);
        }
      };
      // These stay: an `error` that nobody listens to would end the process.
      req.on('data', onData).on('end', resolve).on('error', reject).on('close', closed).resume();
    });
  }

  /** Lets go of the rest, where all of it is there already; else the connection ends, which others may be using. */
  destroy(): void {
    if (this.#req.complete) this.#req.resume();
    else this.#req.destroy();
  }
}
