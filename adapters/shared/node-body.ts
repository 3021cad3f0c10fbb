import type { Readable } from 'node:stream';

/**
 * The body of a request by its events: `pump` gives every chunk to `sink` until the end, or until that throws, and goes
 * on behind it when it is called again. The iterator of a stream costs as much as the rest of a delivery.
 */
export function nodeBody(req: Readable) {
  return {
    [Symbol.asyncIterator]: () => req[Symbol.asyncIterator](),
    pump: (sink: (chunk: unknown) => void) =>
      new Promise<void>((resolve, reject) => {
        // After every request, so that only those that broke off pay for an Error and its stack.
        const closed = () => (req.readableEnded ? resolve() : reject(new Error('the upload was aborted')));
        if (req.destroyed || req.readableEnded) return closed();
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
      }),
    destroy: () => req.destroy(),
  };
}
