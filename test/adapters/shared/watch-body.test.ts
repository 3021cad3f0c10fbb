import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { watchBody } from '../../../adapters/shared/watch-body.js';

/** Watches a body, and collects the ends that are reported. */
function watched(body: unknown) {
  const ends: string[] = [];
  const result = watchBody(body, async (ended) => ends.push(ended));
  return { ends, result };
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

describe('a stream of Node as a body', () => {
  it('ends when it has been read', async () => {
    const stream = new PassThrough();
    const { ends } = watched(stream);
    stream.end('done');
    await stream.toArray();
    expect(ends[0]).toBe('ok');
  });

  it('that has ended before has an unknown end, because other code has read it', async () => {
    const stream = new PassThrough();
    stream.end('done');
    await stream.toArray();
    expect(watched(stream).ends[0]).toBe('unknown');
  });

  it('that was destroyed before has an unknown end', () => {
    expect(watched(new PassThrough().destroy()).ends[0]).toBe('unknown');
  });

  it('has an unknown end when its reading has not begun after 30 seconds', async () => {
    const { ends } = watched(new PassThrough());
    await vi.advanceTimersByTimeAsync(29_999);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['unknown']);
  });

  it('may be read for longer than 30 seconds', async () => {
    const stream = new PassThrough();
    const { ends } = watched(stream);
    stream.resume().write('the first part');
    await vi.advanceTimersByTimeAsync(0);
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ends).toEqual([]);
  });
});

describe('a body of a polyfill', () => {
  it('is watched by its method getReader()', async () => {
    const { ends, result } = watched({
      getReader: () => ({ read: () => Promise.reject(new Error('it breaks')), cancel: async () => {} }),
    });
    await expect(new Response(result as ReadableStream).text()).rejects.toThrow();
    expect(ends).toEqual(['failed']);
  });
});
