import type { ResponseEnd } from 'service-webhooks';

/** Called with the end of a body: read to its end, broken by the app, or no longer wanted by its reader. */
type OnEnd = (ended: ResponseEnd, error?: unknown) => Promise<unknown>;

/**
 * Returns a body whose end is reported, in place of a body that is a stream; undefined for any other. The reader sees
 * the end of the stream after it was reported.
 *
 * @throws TypeError for a stream that other code reads
 */
export function watchBody(body: unknown, onEnd: OnEnd): unknown {
  if (typeof body !== 'object' || body === null) return undefined;
  if (isWebStream(body)) return marked(watchStream(body, onEnd), body);
  if (isNodeStream(body)) return watchNodeStream(body, onEnd);
  if (isIterable(body))
    return marked(
      watchSteps(
        body,
        onEnd,
        startUnreadTimer(() => onEnd('unknown')),
      ),
      body,
    );
  return undefined;
}

/**
 * Gives a stream the own properties of the one in whose place it is: Elysia marks a stream of server-sent events with one.
 * Symbols stay out, because Node keeps the state of a stream in some.
 */
function marked<Watched extends object>(watched: Watched, body: object): Watched {
  return Object.assign(watched, Object.fromEntries(Object.entries(body).filter(([name]) => !(name in watched))));
}

/** A server that has not begun to read a body after this time has sent another answer in its place. */
const UNREAD_MS = 30_000;

/** Returns the function that stops the timer. */
function startUnreadTimer(onUnread: () => unknown): () => void {
  const timer: { unref?(): void } | number = setTimeout(onUnread, UNREAD_MS);
  if (typeof timer === 'object') timer.unref?.();
  return () => clearTimeout(timer as ReturnType<typeof setTimeout>);
}

/** Recognises a stream by its method, because one of a polyfill is not an instance of the global class. */
function isWebStream(body: object): body is ReadableStream {
  return typeof (body as Partial<ReadableStream>).getReader === 'function';
}

function watchStream(stream: ReadableStream, onEnd: OnEnd): ReadableStream {
  const reader = stream.getReader();
  const stopTimer = startUnreadTimer(() => onEnd('unknown'));
  const broken = async (error: unknown) => {
    await onEnd('failed', error);
    throw error;
  };
  return new ReadableStream(
    {
      async pull(controller) {
        stopTimer();
        const { done, value } = await reader.read().catch(broken);
        if (!done) return controller.enqueue(value);
        await onEnd('ok');
        controller.close();
      },
      cancel(reason) {
        stopTimer();
        onEnd('unknown');
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 }, // reads nothing that the server has not asked for
  );
}

interface NodeStream {
  once(event: string, listener: (error?: unknown) => void): NodeStream;
  readableDidRead?: boolean;
  readableEnded?: boolean;
  destroyed?: boolean;
}

function isNodeStream(body: object): body is NodeStream {
  const { once, pipe } = body as { once?: unknown; pipe?: unknown };
  return typeof once === 'function' && typeof pipe === 'function';
}

/** After the first end that is reported, others have no effect. */
function watchNodeStream(stream: NodeStream, onEnd: OnEnd): NodeStream {
  if (stream.readableEnded || stream.destroyed) onEnd('unknown');
  const stopTimer = startUnreadTimer(() => stream.readableDidRead || onEnd('unknown'));
  return stream
    .once('end', () => onEnd('ok'))
    .once('error', (error) => onEnd('failed', error))
    .once('close', () => {
      stopTimer();
      onEnd('unknown');
    });
}

function isIterable(body: object): body is AsyncGenerator {
  const { next, [Symbol.asyncIterator]: iterate } = body as Partial<AsyncGenerator>;
  return typeof next === 'function' || typeof iterate === 'function';
}

/** The timer is started before, because a generator runs nothing before it is read. */
async function* watchSteps(body: AsyncGenerator, onEnd: OnEnd, stopTimer: () => void): AsyncGenerator {
  stopTimer();
  try {
    const value = yield* body;
    await onEnd('ok');
    return value;
  } catch (error) {
    await onEnd('failed', error);
    throw error;
  } finally {
    await onEnd('unknown'); // after the others it has no effect
  }
}
