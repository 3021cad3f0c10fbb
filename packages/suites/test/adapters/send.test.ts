import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
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

describe('a request of a case, to an app that listens', () => {
  let server: Server;
  let port: number;
  let seen: { method: string; url: string; headers: string[]; pieces: string[] }[];
  let broken: Promise<unknown>;

  beforeEach(async () => {
    seen = [];
    broken = new Promise((resolve) => {
      server = createServer(async (req, res) => {
        const { method = '', url = '', rawHeaders: headers } = req;
        const got = { method, url, headers, pieces: [] as string[] };
        seen.push(got);
        await read(req, got.pieces).catch(resolve);
        res.writeHead(202, { 'x-answer': ['1', '2'] }).end('caf\u00e9');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    ({ port } = server.address() as AddressInfo);
  });

  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it('has a length where its body is one, and its headers as they are, on a connection of its own', async () => {
    const answer = await send({ port }, post).answer;
    expect(answer).toEqual({
      status: 202,
      headers: expect.objectContaining({ 'x-answer': '1, 2' }),
      text: 'caf\u00e9',
    });
    const own = ['Host', 'receiver.test', 'Connection', 'close', 'Content-Length', '5'];
    const headers = [...own, 'x-twice', 'a', 'x-twice', 'b'];
    expect(seen).toEqual([{ method: 'POST', url: '/webhooks', headers, pieces: ['whole'] }]);
  });

  it('goes to the path of the app', async () => {
    await send({ port, path: '/elsewhere' }, { ...post, method: 'PUT' }).answer;
    expect(seen).toMatchObject([{ method: 'PUT', url: '/elsewhere' }]);
  });

  it('is sent piece by piece, without a length', async () => {
    await send({ port }, { ...post, body: pieces }).answer;
    expect(seen[0]?.headers.slice(4, 6)).toEqual(['Transfer-Encoding', 'chunked']);
    expect(seen[0]?.pieces).toEqual(['one', 'two']);
  });

  it('breaks off behind its last piece', async () => {
    const { answer } = send({ port }, { ...post, body: pieces, broken: true });
    await expect(broken).resolves.toMatchObject({ code: 'ECONNRESET' });
    expect(seen[0]?.pieces.join('')).toBe('onetwo');
    await expect(answer).rejects.toThrow();
  });

  it('is left without waiting', async () => {
    const unanswered = createServer();
    const came = new Promise<IncomingMessage>((resolve) => unanswered.on('request', resolve));
    await new Promise<void>((resolve) => unanswered.listen(0, '127.0.0.1', resolve));
    const sending = send({ port: (unanswered.address() as AddressInfo).port }, post);
    const { socket } = await came;
    const left = new Promise((resolve) => socket.on('close', resolve));
    sending.hangUp();
    await left;
    await expect(sending.answer).rejects.toThrow('socket hang up');
    unanswered.close();
  });

  it('needs node:http', () => {
    vi.stubGlobal('process', undefined);
    expect(() => send({ port }, post)).toThrow('serve() must give a fetch where there is no http of Node');
  });
});

describe('a request of a case, to an app that takes a Request', () => {
  it('has its headers and its body in pieces', async () => {
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

  it('has no body but with POST', async () => {
    const bodies: unknown[] = [];
    const fetch = (request: Request) => {
      bodies.push(request.body);
      return new Response();
    };
    await send({ fetch }, { ...post, method: 'GET' }).answer;
    await send({ fetch }, { ...post, method: 'POST', body: new Uint8Array() }).answer;
    expect(bodies).toEqual([null, expect.any(ReadableStream)]);
  });

  it('breaks off behind its last piece, and is left then', async () => {
    const fetch = async (request: Request) => {
      const read = await request.text().catch((error: Error) => error.message);
      return new Response(`${read}, left: ${request.signal.aborted}`);
    };
    const { answer } = send({ fetch }, { ...post, body: pieces, broken: true });
    expect((await answer).text).toBe('the sender has left, left: true');
  });

  it('is left when its sender hangs up', async () => {
    const left = vi.fn();
    const fetch = (request: Request) => {
      request.signal.addEventListener('abort', left);
      return new Response();
    };
    const sending = send({ fetch }, post);
    expect(left).not.toHaveBeenCalled();
    sending.hangUp();
    expect(left).toHaveBeenCalledOnce();
    await sending.answer;
  });
});

describe('a request of a case, to an app that is called', () => {
  it.each([
    ['whole', post.body],
    ['onetwo', pieces],
  ])('has its body as one: %s', async (whole, body) => {
    const call = vi.fn(async () => ({ status: 202, headers: { a: 'b' }, body: 'text' }));
    const sending = send({ call }, { ...post, body });
    sending.hangUp();
    expect(await sending.answer).toEqual({ status: 202, headers: { a: 'b' }, text: 'text' });
    const { method, headers } = post;
    expect(call).toHaveBeenCalledExactlyOnceWith({ method, headers, body: utf8.encode(whole) });
  });
});

async function read(req: IncomingMessage, into: string[]): Promise<void> {
  for await (const piece of req) into.push(String(piece));
}
