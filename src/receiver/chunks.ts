/** Called with the chunks of a stream, one by one, and once with its end. */
export interface ChunkConsumer {
  /** Returns whether to continue reading. */
  chunk(chunk: unknown): boolean;
  end(): void;
  /** The stream broke off. */
  fail(): void;
}

/** A stream that is being read. */
export interface ChunkFlow {
  /** Stops reading, and closes the stream where it has more to come. */
  cutOff(): void;
}

/** The events of a Node stream, and the fields that a request of `node:http` adds. */
interface NodeStream {
  on(event: 'data' | 'end' | 'error' | 'close', listener: (value: unknown) => void): NodeStream;
  pause(): void;
  resume(): void;
  destroy(): void;
  readonly readable: boolean;
  readonly readableEnded: boolean;
  /** Whether all of the request has arrived, read or not. */
  readonly complete?: boolean;
}

interface Chunks {
  next(): Promise<{ done?: boolean | undefined; value?: unknown }>;
  cancel?(): unknown;
}

/** Starts to read a Node stream, a Fetch stream, or any other async iterable. Never throws. */
export function startFlow(stream: AsyncIterable<unknown>, consumer: ChunkConsumer): ChunkFlow {
  return isNodeStream(stream) ? flowOfNodeStream(stream, consumer) : flowOfIterable(stream, consumer);
}

function isNodeStream(stream: object): stream is NodeStream {
  const { on, pause, resume } = stream as Partial<NodeStream>;
  return [on, pause, resume].every((method) => typeof method === 'function');
}

/** Reads by events, because the iterator of a Node stream is much slower. */
function flowOfNodeStream(stream: NodeStream, consumer: ChunkConsumer): ChunkFlow {
  const closed = () => {
    if (!stream.readableEnded) consumer.fail();
  };
  if (!stream.readable) {
    if (stream.readableEnded) consumer.end();
    else consumer.fail();
  } else {
    stream
      .on('data', (chunk) => {
        if (!consumer.chunk(chunk)) stream.pause();
      })
      .on('end', () => consumer.end())
      .on('error', () => consumer.fail())
      .on('close', closed)
      .resume();
  }
  return {
    cutOff() {
      // Destroying a stream that has arrived completely would close a connection that other requests use.
      if (stream.complete) stream.resume();
      else stream.destroy();
    },
  };
}

function flowOfIterable(stream: AsyncIterable<unknown>, consumer: ChunkConsumer): ChunkFlow {
  let chunks: Chunks | undefined;
  const readAll = async () => {
    try {
      chunks = chunksOf(stream);
      for (;;) {
        const { done, value } = await chunks.next();
        if (done) return consumer.end();
        if (!consumer.chunk(value)) return;
      }
    } catch {
      consumer.fail();
    }
  };
  readAll();
  return {
    async cutOff() {
      try {
        await chunks?.cancel?.();
      } catch {} // an error of the stream after the read ended has no effect
    },
  };
}

/** Reads by a reader where there is one, because it can be cancelled while a read is pending and an iterator cannot. */
function chunksOf(stream: AsyncIterable<unknown> & { getReader?(): ReadableStreamDefaultReader }): Chunks {
  const reader = stream.getReader?.();
  if (reader) return { next: () => reader.read(), cancel: () => reader.cancel() };
  const iterator = stream[Symbol.asyncIterator]();
  return { next: () => iterator.next(), cancel: () => iterator.return?.() };
}
