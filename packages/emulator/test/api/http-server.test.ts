import { once } from 'node:events';
import { connect, Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { exchange } from '../../../../test/support/raw-http.js';
import type { ApiAnswer, ApiRequest } from '../../src/api/api-request.js';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../src/api/http-server.js';

let server: HttpServer | undefined;
afterEach(() => server?.close());

/** A server whose API always gives the same answer, its requests, and the server of Node behind it. */
async function start(answer: Partial<ApiAnswer> = {}, options: Partial<HttpServerOptions> = {}, reads = false) {
  const requests: ApiRequest[] = [];
  const api = async (request: ApiRequest) => {
    requests.push(request);
    if (reads) await request.readBody();
    return { status: 200, headers: { 'x-a': 'b' }, body: 'é', ...answer };
  };
  server = createHttpServer(api, { baseUrl: undefined, maxBodyBytes: 9, bodyTimeoutMs: 1_000, ...options });
  const listen = vi.spyOn(Server.prototype, 'listen');
  const listening = await server.listen(0);
  const [node] = listen.mock.contexts as [Server];
  return { ...listening, requests, node };
}

/** Everything that the server sends until it ends the connection. */
async function converse(port: number, said: string): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  socket.write(said);
  return (await socket.toArray()).join('');
}

const get = (target: string, headers = '') =>
  `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}\r\n`;

describe("requests to the emulator's HTTP server", () => {
  it('the API receives a request with its headers as text and the address of the client', async () => {
    const { port, url, requests } = await start();
    await converse(port, get('/a', 'Set-Cookie: c\r\nSet-Cookie: d\r\n'));
    const headers = { host: 'localhost', connection: 'close', 'set-cookie': 'c,d' };
    const { readBody: _, ...request } = requests[0] ?? expect.unreachable();
    expect(request).toEqual({ method: 'GET', path: '/a', headers, ip: '127.0.0.1', baseUrl: url, refusal: undefined });
  });

  it.each([
    ['/a?b=/c', '/a'],
    ['/a#b', '/a'],
    ['http://other.example/a?b', '/a'],
    ['HTTPS://other.example/a', '/a'],
    ['http://other.example?b', ''],
    ['/http://other.example/a', '/http://other.example/a'],
  ])('the API receives for the request target %s the path %j', async (target, path) => {
    const { port, requests } = await start();
    await converse(port, get(target));
    expect(requests).toMatchObject([{ path }]);
  });

  it.each([
    ['GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 'invalid_request', 'The Host header is missing.'],
    ['GET / HTTP/1.0\r\n\r\n', undefined, undefined],
    [get('/', 'Expect: 100-Continue\r\n'), undefined, undefined],
    [get('/', 'Expect: tea\r\n'), 'invalid_request', 'The only expectation that can be met is 100-continue.'],
    [
      get('/').replace('localhost', 'attacker.example'),
      'forbidden',
      'The Host header names another server. Send requests to 127.0.0.1 or localhost.',
    ],
  ])('the API receives the request %j with the reason to refuse it: %s', async (said, code, message) => {
    const { port, requests } = await start({}, { baseUrl: 'https://api.example' });
    await converse(port, said);
    expect(requests).toMatchObject([{ baseUrl: 'https://api.example', refusal: code && { code, message } }]);
  });

  it('bytes that are not HTTP reach the API without method and path, and the connection ends', async () => {
    const { port, url, requests } = await start({ status: 400 });
    expect(await converse(port, 'nonsense\r\n\r\n')).toBe(
      'HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nx-a: b\r\nconnection: close\r\n\r\nÃ©',
    );
    const expected = { method: '', path: '', headers: {}, ip: '127.0.0.1', baseUrl: url };
    expect(requests).toMatchObject([{ ...expected, refusal: { code: 'invalid_request' } }]);
    expect(await requests[0]?.readBody()).toHaveLength(0);
  });

  it('a request whose client disconnects before its end does not reach the API', async () => {
    const { port, requests, node } = await start();
    node.once('connection', (accepted: Socket) => accepted.once('data', () => socket.resetAndDestroy()));
    const brokenOff = once(node, 'clientError');
    const socket = connect(port, '127.0.0.1', () => socket.write('GET /'));
    expect((await brokenOff)[0]).toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toEqual([]);
  });

  it('a request that does not arrive in time is passed to the API as timed out', async () => {
    const { port, requests, node } = await start();
    node.once('connection', (socket: Socket) => {
      const error = Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      socket.once('data', () => node.emit('clientError', error, socket));
    });
    await converse(port, 'GET /');
    expect(requests).toMatchObject([{ refusal: { code: 'request_timeout' } }]);
  });

  it('a CONNECT request reaches the API, and the connection ends', async () => {
    const { port, requests } = await start({ status: 599 });
    const heard = await converse(port, 'CONNECT other:443 HTTP/1.1\r\nHost: other:443\r\n\r\n');
    expect(heard).toMatch(/^HTTP\/1\.1 599 \r\n/);
    expect(requests).toMatchObject([{ method: 'CONNECT', path: 'other:443', refusal: undefined }]);
  });

  it('the server keeps running when the client of a CONNECT request disconnects', async () => {
    const { port, node } = await start();
    const handedOver = once(node, 'connect');
    const socket = connect(port, '127.0.0.1');
    socket.write('CONNECT other:443 HTTP/1.1\r\nHost: localhost\r\n\r\n');
    const [, accepted] = (await handedOver) as [unknown, Socket];
    accepted.emit('error', new Error('reset'));
    expect(accepted.destroyed).toBe(true);
    socket.destroy();
  });
});

describe("answers of the emulator's HTTP server", () => {
  it('an answer has its length in bytes unless its headers set another one', async () => {
    const { port } = await start();
    expect((await exchange(port, Buffer.from(get('/')))).headers).toMatchObject({ 'content-length': '2', 'x-a': 'b' });
    await server?.close();
    const other = await start({ headers: { 'content-length': '1' }, body: 'a' });
    expect((await exchange(other.port, Buffer.from(get('/')))).headers).toMatchObject({ 'content-length': '1' });
  });

  it('an answer without a body has no length', async () => {
    const { port } = await start({ status: 204, body: '' });
    const { status, headers } = await exchange(port, Buffer.from(get('/')));
    expect([status, Object.keys(headers)]).toEqual([204, ['x-a', 'date', 'connection']]);
  });

  it('the connection ends without an answer when a header of the answer is invalid', async () => {
    const { port } = await start({ headers: { 'a b': 'c' } });
    expect(await converse(port, get('/'))).toBe('');
  });
});

describe('a request to the emulator that is answered before its body is complete', () => {
  async function answerEarly() {
    const { port } = await start();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    const closed = once(socket, 'close');
    socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n1234');
    await once(socket, 'data');
    return { socket, closed };
  }

  it('the rest of the body may arrive for 2 s, then the connection ends', async () => {
    const { socket, closed } = await answerEarly();
    vi.advanceTimersByTime(1_999);
    expect([vi.getTimerCount(), socket.destroyed]).toEqual([1, false]);
    vi.advanceTimersByTime(1);
    await closed;
  });

  it('no timer is left when the body was complete', async () => {
    const { port } = await start({}, {}, true);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await exchange(port, Buffer.from('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}'));
    expect(vi.getTimerCount()).toBe(0);
  });

  it('after the rest of the body, the next request on the connection is answered', async () => {
    const { socket, closed } = await answerEarly();
    socket.write('56789GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await once(socket, 'data');
    expect(vi.getTimerCount()).toBe(0);
    socket.destroy();
    await closed;
  });
});

describe("the emulator's HTTP server after it was closed", () => {
  it('listen() starts it again', async () => {
    await start();
    await server?.close();
    const { url } = (await server?.listen(0)) ?? expect.unreachable();
    expect((await fetch(url)).status).toBe(200);
  });
});
