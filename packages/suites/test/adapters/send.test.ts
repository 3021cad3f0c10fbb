import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { serveListener } from '../../../../test/support/app.js';
import { type SentRequest, send } from '../../src/adapters/send.js';

const utf8 = new TextEncoder();
const pieces = [utf8.encode('one'), utf8.encode('two')];
const post: SentRequest = {
  method: 'POST',
  headers: [
    ['x-twice', 'a'],
    ['x-twice', 'b'],
  ],
  body: utf8.encode('whole'),
};

describe('a request to an app that listens', () => {
  /** An app that answers 202, with what it has received and the errors of the uploads. */
  async function anApp() {
    const received: { method: string; url: string; headers: string[]; pieces: string[] }[] = [];
    const onError = vi.fn();
    const { port } = await serveListener(async (req, res) => {
      const { method = '', url = '', rawHeaders: headers } = req;
      const one = { method, url, headers, pieces: [] as string[] };
      received.push(one);
      await readInto(one.pieces, req).catch(onError);
      res.writeHead(202, { 'x-answer': ['1', '2'] }).end('caf\u00e9');
    });
    return { port, received, onError };
  }

  async function readInto(read: string[], req: IncomingMessage): Promise<void> {
    for await (const piece of req) read.push(String(piece));
  }

  it('a whole body has a length, and the headers keep their order', async () => {
    const { port, received } = await anApp();
    expect(await send({ port }, post).answer).toEqual({
      status: 202,
      headers: expect.objectContaining({ 'x-answer': '1, 2' }),
      text: 'caf\u00e9',
    });
    const own = ['Host', 'receiver.test', 'Connection', 'close', 'Content-Length', '5'];
    const headers = [...own, 'x-twice', 'a', 'x-twice', 'b'];
    expect(received).toEqual([{ method: 'POST', url: '/webhooks', headers, pieces: ['whole'] }]);
  });

  it('the path of the app is used', async () => {
    const { port, received } = await anApp();
    await send({ port, path: '/elsewhere' }, { ...post, method: 'PUT' }).answer;
    expect(received).toMatchObject([{ method: 'PUT', url: '/elsewhere' }]);
  });

  it('pieces are sent one by one, without a length', async () => {
    const { port, received } = await anApp();
    await send({ port }, { ...post, body: pieces }).answer;
    expect(received[0]?.headers.slice(4, 6)).toEqual(['Transfer-Encoding', 'chunked']);
    expect(received[0]?.pieces).toEqual(['one', 'two']);
  });

  it('a broken upload ends after its last piece', async () => {
    const { port, received, onError } = await anApp();
    const { answer } = send({ port }, { ...post, body: pieces, broken: true });
    await expect(answer).rejects.toThrow();
    await expect.poll(() => onError).toHaveBeenCalledWith(expect.objectContaining({ code: 'ECONNRESET' }));
    expect(received[0]?.pieces.join('')).toBe('onetwo');
  });

  it('hanging up does not wait for an answer', async () => {
    const { port, server } = await serveListener(() => {});
    const sending = send({ port }, post);
    const [{ socket }] = await once(server, 'request');
    const closed = once(socket, 'close');
    sending.hangUp();
    await closed;
    await expect(sending.answer).rejects.toThrow('socket hang up');
  });

  it('a runtime without node:http is an error', () => {
    vi.stubGlobal('process', undefined);
    expect(() => send({ port: 1 }, post)).toThrow('serve() must give a fetch where there is no http of Node');
  });
});

describe('a request to an app that takes a Request', () => {
  it('the headers arrive, and the body in pieces', async () => {
    const fetch = vi.fn(async (request: Request) => new Response(await request.text(), { status: 202 }));
    const { answer } = send({ fetch }, { ...post, body: pieces });
    expect(await answer).toEqual({
      status: 202,
      headers: { 'content-type': 'text/plain;charset=UTF-8' },
      text: 'onetwo',
    });
    const [[request] = []] = fetch.mock.calls;
    expect(request).toMatchObject({ method: 'POST', url: 'http://receiver.test/webhooks' });
    expect(request?.headers.get('x-twice')).toBe('a, b');
  });

  it('only a POST has a body', async () => {
    const fetch = vi.fn((_: Request) => new Response());
    await send({ fetch }, { ...post, method: 'GET' }).answer;
    await send({ fetch }, { ...post, method: 'POST', body: new Uint8Array() }).answer;
    expect(fetch.mock.calls.map(([{ body }]) => body)).toEqual([null, expect.any(ReadableStream)]);
  });

  it('a broken upload ends after its last piece, and aborts the signal', async () => {
    const fetch = async (request: Request) => {
      const read = await request.text().catch((error: Error) => error.message);
      return new Response(`${read}, left: ${request.signal.aborted}`);
    };
    const { answer } = send({ fetch }, { ...post, body: pieces, broken: true });
    expect((await answer).text).toBe('the sender has left, left: true');
  });

  it('hanging up aborts the signal', async () => {
    const fetch = vi.fn((_: Request) => new Response());
    const sending = send({ fetch }, post);
    const isAborted = () => fetch.mock.calls[0]?.[0].signal.aborted;
    expect(isAborted()).toBe(false);
    sending.hangUp();
    expect(isAborted()).toBe(true);
    await sending.answer;
  });
});

it.each([
  ['whole', post.body],
  ['onetwo', pieces],
])('an app that is called gets the body in one piece: %s', async (whole, body) => {
  const call = vi.fn(async () => ({ status: 202, headers: { a: 'b' }, body: 'text' }));
  const sending = send({ call }, { ...post, body });
  sending.hangUp();
  expect(await sending.answer).toEqual({ status: 202, headers: { a: 'b' }, text: 'text' });
  const { method, headers } = post;
  expect(call).toHaveBeenCalledExactlyOnceWith({ method, headers, body: utf8.encode(whole) });
});
