import { describe, expect, it } from 'vitest';
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

/** A body that starts with these chunks and continues with `pull`. */
function streaming(chunks: readonly Uint8Array[], pull: (controller: Controller) => void | Promise<void> = () => {}) {
  let cancelled = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
    },
    pull,
    cancel() {
      cancelled += 1;
    },
  });
  return { response: new Response(body, { status: 202 }), cancelled: () => cancelled };
}

type Controller = ReadableStreamDefaultController<Uint8Array>;
const text = (content: string) => new TextEncoder().encode(content);

describe('requests of the fetch transport', () => {
  it('a request is a POST with the given headers and bytes that follows no redirect', async () => {
    const seen: { request: Request; bytes: number[] }[] = [];
    await send(async (request) => {
      seen.push({ request, bytes: [...new Uint8Array(await request.arrayBuffer())] });
      return new Response();
    });
    const { request, bytes } = seen[0] ?? expect.unreachable();
    expect([request.method, request.url, request.redirect]).toEqual([
      'POST',
      'https://app.example/webhooks?a=b',
      'manual',
    ]);
    expect(Object.fromEntries(request.headers)).toEqual({
      'content-type': 'application/json',
      'x-service-attempt': '1',
    });
    expect(bytes).toEqual([1, 2, 3, 4]);
  });

  it('a receiver may change the bytes of its request', async () => {
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

  it('a request starts at once, and its answer leaves a turn to other work', async () => {
    let received = false;
    let answered = false;
    const sent = send(() => {
      received = true;
      return new Response();
    }).then(() => {
      answered = true;
    });
    expect(received).toBe(true);
    for (let i = 0; i < 50; i += 1) await Promise.resolve();
    expect(answered).toBe(false);
    await sent;
  });

  it('a slow body arrives in pieces, each when it is read and its time has come', async () => {
    const time = createTestTime();
    let seen: Awaited<ReturnType<typeof readAll>> | undefined;
    const receive: FetchReceiver = async (request) => {
      expect(time.held).toEqual([]);
      seen = await readAll(request);
      return new Response();
    };
    expect(await send(receive, { slow: { ms: 40, pieces: 4 } }, time)).toMatchObject({ answer: { status: 200 } });
    expect([seen, time.held]).toEqual([{ bytes: [1, 2, 3, 4] }, [10, 10, 10, 10]]);
  });

  it('a slow body over 0 ms does not wait', async () => {
    const time = createTestTime(0);
    let seen: unknown;
    const receive: FetchReceiver = async (request) => {
      seen = await readAll(request);
      return new Response();
    };
    await send(receive, { slow: { ms: 0, pieces: 2 } }, time);
    expect([seen, time.held]).toEqual([{ bytes: [1, 2, 3, 4] }, []]);
  });

  it.each<[what: string, bytes: number[], changes: Partial<WireRequest>, endsAt?: number]>([
    ['too slow', [1, 2], { slow: { ms: 40, pieces: 4 } }, 2],
    ['reset', [1, 2], { reset: 'request' }],
    ['slow and reset', [1, 2], { reset: 'request', slow: { ms: 40, pieces: 2 } }],
  ])('a body that is %s breaks off', async (_, bytes, changes, endsAt) => {
    let seen: unknown;
    const receive: FetchReceiver = async (request) => {
      seen = await readAll(request);
      return new Response();
    };
    await send(receive, changes, createTestTime(endsAt));
    expect(seen).toEqual({ bytes, error: 'Error: connection reset' });
  });
});

describe('answers of the fetch transport', () => {
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
    'an answer does not count if the connection is reset at the %s',
    async (reset) => {
      expect(await send(() => new Response('done'), { reset })).toEqual({
        answer: { status: 200, headers: { 'content-type': 'text/plain;charset=UTF-8' }, body: 'done' },
        failed: 'connection_error',
        error: 'connection reset',
      });
    },
  );

  it('an answer that does not arrive in time is a timeout', async () => {
    const time = createTestTime();
    const receive = () => {
      setImmediate(() => time.pass());
      return new Promise<never>(() => {});
    };
    expect(await send(receive, {}, time)).toEqual({ failed: 'timeout' });
  });

  it('an error of the receiver rejects', async () => {
    const receive = () => {
      throw new Error('no');
    };
    await expect(send(receive)).rejects.toThrow('no');
  });

  it('chunks are joined, also in the middle of a character', async () => {
    const [a, b] = [text('té').subarray(0, 2), text('té').subarray(2)];
    const { response } = streaming([text('x'), a, b], (controller) => controller.close());
    expect((await send(() => response)).answer?.body).toBe('xté');
  });

  it('an incomplete last character becomes U+FFFD', async () => {
    const { response } = streaming([text('té').subarray(0, 2)], (controller) => controller.close());
    expect((await send(() => response)).answer?.body).toBe('t\ufffd');
  });

  it('an answer whose body breaks off counts', async () => {
    const { response } = streaming([text('so much')], (controller) => {
      setImmediate(() => controller.error(new Error()));
    });
    expect(await send(() => response)).toEqual({ answer: { status: 202, headers: {}, body: 'so much' } });
  });

  it('an answer whose body does not end in time counts, and its body is cancelled', async () => {
    const time = createTestTime();
    const { response, cancelled } = streaming([text('so much')], () => {
      setImmediate(() => time.pass());
      return new Promise(() => {});
    });
    expect(await send(() => response, {}, time)).toEqual({ answer: { status: 202, headers: {}, body: 'so much' } });
    expect(cancelled()).toBe(1);
  });

  it.each([
    ['exactly 64 KiB', [64 * KIB]],
    ['64 KiB in two', [63 * KIB, KIB]],
    ['more than that', [63 * KIB, 2 * KIB, KIB]],
  ])('a body of %s is kept up to 64 KiB and read no further', async (_, sizes) => {
    const chunks = sizes.map((size) => new Uint8Array(size).fill(120));
    const { response, cancelled } = streaming(chunks, () => new Promise(() => {}));
    const sent = await send(() => response);
    expect([sent.answer?.body, cancelled()]).toEqual(['x'.repeat(64 * KIB), 1]);
  });

  it('a body of endless empty chunks is read no further than 65 536 of them', async () => {
    let chunks = 0;
    const { response, cancelled } = streaming([], (controller) => {
      chunks += 1;
      controller.enqueue(new Uint8Array());
    });
    const { answer } = await send(() => response);
    expect([answer?.status, answer?.body, cancelled()]).toEqual([202, '', 1]);
    expect(chunks).toBeLessThan(70_000);
  });

  it('a shorter body is kept completely', async () => {
    const { answer } = await send(() => new Response('x'.repeat(64 * KIB - 1)));
    expect(answer?.body).toHaveLength(64 * KIB - 1);
  });

  it('a receiver may return the same Response each time', async () => {
    const once = new Response('done');
    const transport = createFetchTransport(() => once);
    const wire = {
      url: 'https://app.example/',
      headers: {},
      body: new Uint8Array(),
      slow: undefined,
      reset: undefined,
    };
    const sent = [await transport.send(wire, createTestTime()), await transport.send(wire, createTestTime())];
    expect(sent.map(({ answer }) => answer?.body)).toEqual(['done', '']);
    transport.close();
  });
});
