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

describe('the reported end of a response body that is a Node stream', () => {
  it('a body that is read to its end is reported as ok', async () => {
    const stream = new PassThrough();
    const { ends } = watched(stream);
    stream.end('done');
    await stream.toArray();
    expect(ends[0]).toBe('ok');
  });

  it('a body that other code has read is reported as unknown', async () => {
    const stream = new PassThrough();
    stream.end('done');
    await stream.toArray();
    expect(watched(stream).ends[0]).toBe('unknown');
  });

  it('a destroyed body is reported as unknown', () => {
    expect(watched(new PassThrough().destroy()).ends[0]).toBe('unknown');
  });

  it('a body that has no reader for 30 seconds is reported as unknown', async () => {
    const { ends } = watched(new PassThrough());
    await vi.advanceTimersByTimeAsync(29_999);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(ends).toEqual(['unknown']);
  });

  it('nothing is reported while a slow reader takes longer than 30 seconds', async () => {
    const stream = new PassThrough();
    const { ends } = watched(stream);
    stream.resume().write('the first part');
    await vi.advanceTimersByTimeAsync(0);
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ends).toEqual([]);
  });
});

describe('the reported end of a response body that is a polyfilled web stream', () => {
  it('a reader from getReader() that rejects is reported as failed', async () => {
    const { ends, result } = watched({
      getReader: () => ({ read: () => Promise.reject(new Error('it breaks')), cancel: async () => {} }),
    });
    await expect(new Response(result as ReadableStream).text()).rejects.toThrow();
    expect(ends).toEqual(['failed']);
  });
});
