import { once } from 'node:events';
import { get } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { clientOf, failureOf, failureOn, useApi } from './clients.js';
import { breakOff, hangUp, json, type Reply, serveApi, text } from './serve-api.js';

const api = useApi();

/** A client whose answers consist of these chunks, however a connection would cut them. */
function clientOfChunks(chunks: Uint8Array<ArrayBuffer>[]) {
  const fetch = async () => new Response(ReadableStream.from<Uint8Array<ArrayBuffer>>(chunks));
  return clientOf('https://api.example', { fetch, maxAttempts: 1 }).client;
}

describe('the body of an answer', () => {
  it('chunks of one byte cost little more memory than their sum', async () => {
    const LENGTH = 100_000;
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      const start = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\n"\r\n';
      socket.once('data', () => socket.write(start + '1\r\nx\r\n'.repeat(LENGTH)));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void server.close());

    setFlagsFromString('--expose-gc');
    const collectGarbage: () => void = runInNewContext('gc');
    const memory = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return heapUsed + external;
    };
    const before = memory();
    let received = 0;
    let growth = 0;
    // Counts what the client receives; the server ends the answer when everything but its end has arrived.
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        received += chunk.length;
        if (received !== LENGTH + 1) return;
        growth = memory() - before;
        for (const socket of sockets) socket.end('1\r\n"\r\n0\r\n\r\n');
      },
    });
    // Node's own fetch joins chunks that arrive together; the fetch of another runtime may pass each of them on.
    const fetch = async (url: string, { headers, signal }: RequestInit) => {
      const [response] = await once(
        get(url, { headers: headers as Record<string, string>, signal: signal as AbortSignal }),
        'response',
      );
      return new Response(Readable.toWeb(response).pipeThrough(count));
    };
    const { port } = server.address() as { port: number };
    const { data } = await clientOf(`http://127.0.0.1:${port}`, { fetch }).client.voices();
    expect(data).toBe('x'.repeat(LENGTH));
    expect(growth).toBeLessThan(80 * LENGTH);
    expect(growth).not.toBe(0);
  });

  it.each([1, 2, 3, 5, 1024, 65_535, 65_536, 65_537, 200_000])(
    'characters of up to four bytes survive chunks of %i bytes',
    async (size) => {
      const data = 'aé€😀'.repeat(7_000);
      const bytes = new TextEncoder().encode(JSON.stringify(data));
      const chunks: Uint8Array<ArrayBuffer>[] = [];
      for (let start = 0; start < bytes.length; start += size) chunks.push(bytes.slice(start, start + size));
      expect((await clientOfChunks(chunks).voices()).data).toBe(data);
    },
  );

  it('small and large chunks are kept in their order', async () => {
    const parts = ['"', 'a'.repeat(70_000), 'b', 'c'.repeat(65_536), 'd', 'e'.repeat(40_000), 'f'.repeat(40_000), '"'];
    const encoder = new TextEncoder();
    const { data } = await clientOfChunks(parts.map((part) => encoder.encode(part))).voices();
    expect(data).toBe(parts.slice(1, -1).join(''));
  });

  it.each([
    [4, 4],
    [undefined, 10 * 2 ** 20],
  ])('with maxAnswerBytes %j an answer may have %i bytes, and no more', async (maxAnswerBytes, largest) => {
    const { client } = clientOf(api.url, { maxAnswerBytes });
    const data = 'x'.repeat(largest - 2);
    api.replies.push(json(data), json(`${data}x`));
    expect(await client.voices()).toMatchObject({ data });
    const failure = await failureOf(client.voices());
    expect(failure).toMatchObject({ code: 'too_large', status: 200 });
    expect(failure.message).toContain(
      `GET /v1/voices failed: the answer (status 200) has more than ${largest} bytes. `,
    );
  });

  it('an endless stream is cancelled as soon as it is too large', async () => {
    const pull = vi.fn((controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(100)));
    const cancel = vi.fn();
    const body = new ReadableStream<Uint8Array>({ pull, cancel });
    const { client } = clientOf(api.url, { fetch: async () => new Response(body), maxAnswerBytes: 1_000 });
    expect(await failureOf(client.voices())).toMatchObject({ code: 'too_large' });
    expect(cancel).toHaveBeenCalledOnce();
    expect(pull.mock.calls.length).toBeLessThan(20);
  });

  it('a stream is cancelled at the time limit, even where fetch ignores the signal', async () => {
    const cancel = vi.fn();
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise(setImmediate);
        controller.enqueue(new Uint8Array(1));
      },
      cancel,
    });
    const { client } = clientOf(api.url, { fetch: async () => new Response(body) });
    expect(await failureOf(client.voices({ timeoutMs: 5 }))).toMatchObject({ code: 'timed_out' });
    await expect.poll(() => cancel).toHaveBeenCalledOnce();
  });
});

describe('a failed connection', () => {
  it.each<[what: string, reply: Reply, failure: object]>([
    ['cut off within the answer', breakOff, { code: 'broken_off', message: expect.stringContaining('after 5 bytes') }],
    ['cut off before the answer', hangUp, { code: 'no_connection', hint: expect.stringContaining('baseUrl') }],
    ['compressed in a broken way', text('no gzip', 200, { 'content-encoding': 'gzip' }), { code: 'broken_off' }],
  ])('a call whose answer is %s rejects with a ClientError', async (_, reply, failure) => {
    expect(await failureOn(api, reply)).toMatchObject({ name: 'ClientError', attempts: 1, ...failure });
  });

  it.each<[thrown: unknown, words: string]>([
    [undefined, 'fetch failed'],
    [null, 'fetch failed'],
    ['text', 'fetch failed'],
    [{ cause: null }, 'fetch failed'],
    [{ code: 7, message: '' }, 'fetch failed'],
    [{ cause: { code: 'EPIPE', message: '' } }, 'EPIPE'],
    [{ cause: { code: '', message: 'no route' } }, 'no route'],
    [{ message: 'a certificate of \u001b[31m\u009b' }, 'a certificate of \\u001b[31m\\u009b'],
  ])('a fetch that throws %j is no_connection', async (thrown, words) => {
    const fetch = () => {
      throw thrown;
    };
    const failure = await failureOf(clientOf(api.url, { fetch, maxAttempts: 1 }).client.voices());
    expect(failure).toMatchObject({ code: 'no_connection', nothingDone: false });
    expect(failure.message).toContain(`GET /v1/voices failed: ${words}. `);
  });

  it.each(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT'])(
    'a fetch that fails with %s has sent nothing',
    async (code) => {
      const fetch = () => Promise.reject(new TypeError('fetch failed', { cause: { code } }));
      expect(await failureOf(clientOf(api.url, { fetch, maxAttempts: 1 }).client.voices())).toMatchObject({
        code: 'no_connection',
        nothingDone: true,
      });
    },
  );
});

describe('the API key', () => {
  it.each<[status: number, kind: string]>([
    [300, 'nothing'],
    [301, 'another server'],
    [302, 'an address that is no URL'],
    [307, 'another server'],
    [308, 'the same server'],
  ])('a redirect with %i to %s is an error, and no other server gets a request', async (status, kind) => {
    const other = await serveApi();
    onTestFinished(() => other.close());
    const targets: Record<string, [location: string | undefined, origin: string]> = {
      nothing: [undefined, 'nowhere'],
      'another server': [`${other.url}/v1/voices?secret=1`, other.url],
      'an address that is no URL': ['http://', 'nowhere'],
      'the same server': ['/v1/voices/', api.url],
    };
    const [location, origin] = targets[kind] ?? expect.unreachable(kind);
    api.replies.push(text('', status, location === undefined ? {} : { location }));
    const failure = await failureOf(api.client.request({ method: 'POST', path: '/v1/voices', body: 1 }));
    expect(failure).toMatchObject({ code: 'redirected', status, attempts: 1 });
    expect(failure.message).toContain(
      `POST /v1/voices failed: the answer is a redirect (status ${status}) to ${origin}. `,
    );
    expect(other.seen).toEqual([]);
    expect(api.seen).toHaveLength(1);
  });

  it('a redirect of a browser, which hides the status, is an error', async () => {
    const { client } = clientOf(api.url, { fetch: async () => Response.error() });
    expect(await failureOf(client.voices())).toMatchObject({ code: 'redirected', status: 0 });
  });

  it('an error of fetch that quotes the request is not passed on', async () => {
    const fetch = async (_url: string, init: RequestInit): Promise<Response> => {
      throw Object.assign(new TypeError(`cannot send ${JSON.stringify(init)}`), { init, code: 'ECONNRESET' });
    };
    const failure = await failureOf(clientOf(api.url, { fetch, maxAttempts: 1 }).client.voices());
    expect(failure).toMatchObject({ code: 'no_connection' });
    expect(failure.cause).toBeUndefined();
    expect(failure.message).toContain('ECONNRESET, cannot send');
  });
});
