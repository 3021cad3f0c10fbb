import { describe, expect, it, vi } from 'vitest';
import { createFetchTransport, type FetchReceiver } from '../../src/wire/fetch-transport.js';
import type { WireRequest } from '../../src/wire/transport.js';
import { createTestTime } from './answer-times.js';

const KIB = 1024;

function send(fetch: FetchReceiver, changes: Partial<WireRequest> = {}, time = createTestTime()) {
  const wire: WireRequest = {
    url: 'https://app.example/webhooks?a=b',
    headers: { 'content-type': 'application/json', 'x-service-attempt': '1' },
    body: Uint8Array.from([1, 2, 3, 4]),
    slow: undefined,
    reset: undefined,
    ...changes,
  };
  return createFetchTransport(fetch).send(wire, time);
}

/** The bytes of a body, and the error with which it broke off. */
async function readAll(request: Request): Promise<{ bytes: number[]; error?: string }> {
  const bytes: number[] = [];
  try {
    for await (const chunk of request.body ?? []) bytes.push(...chunk);
    return { bytes };
  } catch (error) {
    return { bytes, error: String(error) };
  }
}

/** Sends a request to a receiver that reads its body, and returns what it read. */
async function bodyOf(changes: Partial<WireRequest>, time = createTestTime()) {
  let read: Awaited<ReturnType<typeof readAll>> | undefined;
  const sent = await send(
    async (request) => {
      expect(time.held).toEqual([]);
      read = await readAll(request);
      return new Response();
    },
    changes,
    time,
  );
  expect(sent.answer?.status).toBe(200);
  return read;
}

/** A body that starts with these chunks and continues with `pull`. */
function streaming(chunks: readonly Uint8Array[], pull: (controller: Controller) => void | Promise<void> = () => {}) {
  const cancel = vi.fn();
  const start = (controller: Controller) => {
    for (const chunk of chunks) controller.enqueue(chunk);
  };
  return { response: new Response(new ReadableStream({ start, pull, cancel }), { status: 202 }), cancel };
}

type Controller = ReadableStreamDefaultController<Uint8Array>;
const text = (content: string) => new TextEncoder().encode(content);

describe("requests of the emulator's fetch transport", () => {
  it('a request is a POST with the given headers and bytes that follows no redirect', async () => {
    await send(async (request) => {
      expect(request).toMatchObject({ method: 'POST', url: 'https://app.example/webhooks?a=b', redirect: 'manual' });
      const headers = Object.fromEntries(request.headers);
      expect(headers).toEqual({ 'content-type': 'application/json', 'x-service-attempt': '1' });
      return new Response();
    });
    expect(await bodyOf({})).toEqual({ bytes: [1, 2, 3, 4] });
  });

  it('a receiver that changes the bytes of its request does not change the sent body', async () => {
    const body = Uint8Array.from([1, 2, 3, 4]);
    await send(
      async (request) => {
        new Uint8Array(await request.arrayBuffer()).fill(0);
        return new Response();
      },
      { body },
    );
    expect([...body]).toEqual([1, 2, 3, 4]);
  });

  it('fetch is called at once, and its answer arrives only after other pending work', async () => {
    const receive = vi.fn(() => new Response());
    const answered = vi.fn();
    const sent = send(receive).then(answered);
    expect(receive).toHaveBeenCalled();
    for (let i = 0; i < 50; i += 1) await Promise.resolve();
    expect(answered).not.toHaveBeenCalled();
    await sent;
  });

  it.each([
    [{ ms: 40, pieces: 4 }, [10, 10, 10, 10]],
    [{ ms: 0, pieces: 2 }, []],
  ])('a slow body with %j arrives in pieces, each when it is read', async (slow, held) => {
    const time = createTestTime();
    expect(await bodyOf({ slow }, time)).toEqual({ bytes: [1, 2, 3, 4] });
    expect(time.held).toEqual(held);
  });

  it.each<[what: string, changes: Partial<WireRequest>, endsAt?: number]>([
    ['too slow', { slow: { ms: 40, pieces: 4 } }, 2],
    ['reset', { reset: 'request' }],
    ['slow and reset', { reset: 'request', slow: { ms: 40, pieces: 2 } }],
  ])('a request body that is %s breaks off with an error', async (_, changes, endsAt) => {
    const broken = { bytes: [1, 2], error: 'Error: connection reset' };
    expect(await bodyOf(changes, createTestTime(endsAt))).toEqual(broken);
  });
});

describe("answers to the emulator's fetch transport", () => {
  it('an answer has a status, headers and a body as text', async () => {
    const receive = () => new Response('tëa', { status: 418, headers: { 'X-A': 'b' } });
    expect(await send(receive)).toEqual({
      answer: { status: 418, headers: { 'content-type': 'text/plain;charset=UTF-8', 'x-a': 'b' }, body: 'tëa' },
    });
  });

  it('an answer may have no body', async () => {
    expect(await send(() => new Response(null, { status: 204 }))).toEqual({
      answer: { status: 204, headers: {}, body: '' },
    });
  });

  it.each(['request', 'answer'] as const)(
    'a reset at the %s makes the attempt a connection error, although fetch has answered',
    async (reset) => {
      expect(await send(() => new Response('done'), { reset })).toEqual({
        answer: { status: 200, headers: { 'content-type': 'text/plain;charset=UTF-8' }, body: 'done' },
        failed: 'connection_error',
        error: 'connection reset',
      });
    },
  );

  it.each([
    [
      'chunks are joined in the middle of a character',
      [text('x'), text('té').subarray(0, 2), text('té').subarray(2)],
      'xté',
    ],
    ['an incomplete last character becomes U+FFFD', [text('té').subarray(0, 2)], 't\ufffd'],
  ])('the body of an answer is decoded from UTF-8: %s', async (_, chunks, body) => {
    const { response } = streaming(chunks, (controller) => controller.close());
    expect((await send(() => response)).answer?.body).toBe(body);
  });

  it.each([
    ['exactly 64 KiB', [64 * KIB]],
    ['64 KiB in two', [63 * KIB, KIB]],
    ['more than that', [63 * KIB, 2 * KIB, KIB]],
  ])('an answer with a body of %s is kept up to 64 KiB and read no further', async (_, sizes) => {
    const chunks = sizes.map((size) => new Uint8Array(size).fill(120));
    const { response, cancel } = streaming(chunks, () => new Promise(() => {}));
    const sent = await send(() => response);
    expect([sent.answer?.body, cancel.mock.calls.length]).toEqual(['x'.repeat(64 * KIB), 1]);
  });

  it('no more than 65,536 empty chunks of an answer are read', async () => {
    let chunks = 0;
    const { response, cancel } = streaming([], (controller) => {
      chunks += 1;
      controller.enqueue(new Uint8Array());
    });
    const { answer } = await send(() => response);
    expect([answer?.status, answer?.body, cancel.mock.calls.length]).toEqual([202, '', 1]);
    expect(chunks).toBeLessThan(70_000);
  });

  it('a body below 64 KiB is kept completely', async () => {
    const { answer } = await send(() => new Response('x'.repeat(64 * KIB - 1)));
    expect(answer?.body).toHaveLength(64 * KIB - 1);
  });
});
