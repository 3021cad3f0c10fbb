import { createReadStream } from 'node:fs';
import { addAbortSignal, type Readable } from 'node:stream';
import { Failure, fileFailure } from './failure.js';

/** Larger than any delivery; reading a device or an endless pipe ends here. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Reads the bytes of a file, or of stdin for `-`. @throws Failure */
export type ReadInput = (path: string) => Promise<Buffer>;

/** `stdin` is opened by the call. */
export function createReadInput(io: { stdin(): Readable & { isTTY?: boolean }; signal: AbortSignal }): ReadInput {
  let taken = false;
  return (path) => {
    if (path !== '-') return readAll(createReadStream(path), path, io.signal);
    if (taken) throw new Failure('usage', 'stdin can be read only once: give one of the two as a file.');
    taken = true;
    const stdin = io.stdin();
    if (stdin.isTTY) throw new Failure('usage', 'stdin is a terminal: name a file, or pipe something in.');
    return readAll(stdin, 'stdin', io.signal);
  };
}

async function readAll(stream: Readable, name: string, signal: AbortSignal): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw fileFailure(name, error);
  }
  if (size > MAX_BYTES) throw new Failure('file', `${name}: over 64 MiB, which no delivery has; check the path`);
  return Buffer.concat(chunks);
}
