import { once } from 'node:events';
import { PassThrough, Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { readBody } from '../../src/api/api-request.js';

const MIB = 1024 * 1024;
const LIMITS = { maxBodyBytes: 4 * MIB, bodyTimeoutMs: 1_000 };

const codeOf = (body: Promise<unknown>) =>
  body.then(
    () => 'read',
    ({ code, message }) => [code, message],
  );

describe("readBody of the emulator's API", () => {
  it('a body is read completely and leaves no timer', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const chunks = ['ab', '', 'c'].map((text) => Buffer.from(text));
    expect(Buffer.from(await readBody(Readable.from(chunks), LIMITS)).toString()).toBe('abc');
    expect(vi.getTimerCount()).toBe(0);
  });

  it('a body of exactly the limit is read, and one byte more is refused', async () => {
    const [a, b] = [new Uint8Array(2), new Uint8Array(3)];
    expect(await readBody(Readable.from([a, b]), { ...LIMITS, maxBodyBytes: 5 })).toHaveLength(5);
    expect(await codeOf(readBody(Readable.from([a, b]), { ...LIMITS, maxBodyBytes: 4 }))).toEqual([
      'file_too_large',
      expect.any(String),
    ]);
  });

  it('only a part of a body that is too large for every route is kept in memory', async () => {
    const chunks = Array.from({ length: 8 }, () => new Uint8Array(MIB / 2));
    expect(await readBody(Readable.from(chunks), LIMITS)).toHaveLength(MIB + 1);
  });

  it('a refused body is still read to its end', async () => {
    const stream = new PassThrough();
    const refused = codeOf(readBody(stream, { ...LIMITS, maxBodyBytes: 2 }));
    stream.write('abc');
    expect(await refused).toMatchObject(['file_too_large', {}]);
    stream.end('more');
    await once(stream, 'close');
    expect(stream.readableEnded).toBe(true);
  });

  it('a body that does not arrive within the time limit is refused, and not earlier', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stream = new PassThrough();
    let code: unknown;
    codeOf(readBody(stream, LIMITS)).then((found) => {
      code = found;
    });
    await vi.advanceTimersByTimeAsync(999);
    expect(code).toBe(undefined);
    await vi.advanceTimersByTimeAsync(1);
    expect(code).toMatchObject(['request_timeout', {}]);
    stream.destroy();
  });

  it('a pending body without a socket keeps the process alive until the time limit refuses it', () => {
    const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
    const before = timers();
    const stream = new PassThrough();
    void codeOf(readBody(stream, LIMITS));
    expect(timers()).toBe(before + 1);
    stream.destroy();
  });

  it.each([
    ['an error', (stream: PassThrough) => stream.destroy(new Error('no'))],
    ['no more', (stream: PassThrough) => stream.destroy()],
  ])('a body whose stream ends with %s is refused and leaves no timer', async (_, end) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stream = new PassThrough();
    const code = codeOf(readBody(stream, LIMITS));
    stream.write('a');
    end(stream);
    expect(await code).toEqual(['invalid_request', 'The body breaks off.']);
    expect(vi.getTimerCount()).toBe(0);
  });
});
