import dns from 'node:dns';
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { getDefaultAutoSelectFamily, type Socket, setDefaultAutoSelectFamily } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createHttpTransport, type HttpTransportOptions } from '../../src/wire/http-transport.js';
import type { Transport, WireRequest } from '../../src/wire/transport.js';
import { startReceiver, startServer } from '../receivers.js';
import { createTestTime } from './answer-times.js';

const KIB = 1024;
const RESET = { failed: 'connection_error', error: 'connection reset' };

let transport: Transport | undefined;
afterEach(() => {
  transport?.close();
  transport = undefined;
});

function create(options: Partial<HttpTransportOptions> = {}): Transport {
  transport = createHttpTransport({ allowLoopback: true, ...options });
  return transport;
}

function wireTo(url: string, changes: Partial<WireRequest> = {}): WireRequest {
  return { url, headers: {}, body: Uint8Array.from([1, 2, 3, 4]), slow: undefined, reset: undefined, ...changes };
}

const send = (wire: WireRequest, time = createTestTime()) => (transport ?? create()).send(wire, time);

/** A server that records the bytes it receives, the arrival of its first request and the end of its connection. */
async function startObserved(answer: (response: ServerResponse) => unknown = () => {}) {
  const events = new EventEmitter<{ arrived: []; closed: [cause: string] }>();
  const [arrived, closed] = [once(events, 'arrived'), once(events, 'closed')];
  const bytes: number[] = [];
  const url = await startServer((request, response) => {
    let cause = 'closed';
    request.on('data', (chunk: Buffer) => bytes.push(...chunk)).on('error', () => {});
    request.socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      cause = String(code);
    });
    request.socket.on('close', () => events.emit('closed', cause));
    answer(response);
    events.emit('arrived');
  });
  return { url, bytes, arrived, closed: closed.then(([cause]) => cause) };
}

describe("requests of the emulator's HTTP transport", () => {
  it('a request is a POST with the given headers in order and those that HTTP needs', async () => {
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const { url, arrived } = await startReceiver();
    await send(wireTo(url, { body, headers: { 'content-type': 'application/json', 'x-service-attempt': '1' } }));
    expect(arrived.map(({ line }) => line)).toEqual(['POST /webhooks?from=service']);
    expect(arrived[0]?.rawHeaders).toEqual([
      ...['Host', new URL(url).host, 'Content-Length', '256'],
      ...['Content-Type', 'application/json', 'X-Service-Attempt', '1', 'Connection', 'keep-alive'],
    ]);
    expect(arrived[0]?.body).toEqual(Buffer.from(body));
  });

  it('only the bytes of the body are sent, not the rest of its buffer', async () => {
    const { url, arrived } = await startReceiver();
    await send(wireTo(url, { body: Uint8Array.from([1, 2, 3, 4, 5]).subarray(1, 4) }));
    expect([...(arrived[0]?.body ?? [])]).toEqual([2, 3, 4]);
  });

  it('a body may be empty', async () => {
    const { url, arrived } = await startReceiver();
    const sent = await send(wireTo(url, { body: new Uint8Array() }));
    expect(sent.answer?.status).toBe(200);
    expect(arrived).toMatchObject([{ headers: { 'content-length': '0' }, body: Buffer.alloc(0) }]);
  });

  it('a connection is reused, and ends when the transport is closed', async () => {
    const sockets = new Set<Socket>();
    const url = await startServer((request, response) => {
      sockets.add(request.socket);
      request.resume().on('end', () => response.end());
    });
    for (let i = 0; i < 3; i += 1) await send(wireTo(url));
    expect(sockets.size).toBe(1);
    transport?.close();
    for (const socket of sockets) await once(socket, 'close');
  });

  it('a request that takes too long to send is a timeout, and its connection ends', async () => {
    const { url, bytes, closed } = await startObserved();
    expect(await send(wireTo(url, { slow: { ms: 40, pieces: 4 } }), createTestTime(2))).toEqual({ failed: 'timeout' });
    await closed;
    expect(bytes).toEqual([1, 2]);
  });

  it('closing the transport ends a running request without an answer', async () => {
    const { url, arrived } = await startObserved();
    const sent = send(wireTo(url));
    await arrived;
    transport?.close();
    await expect(sent).rejects.toThrow('socket hang up');
  });

  it('a reset of a request with an empty body is a connection error', async () => {
    const { url } = await startReceiver();
    expect(await send(wireTo(url, { body: new Uint8Array(), reset: 'request' }))).toEqual(RESET);
  });

  it('half of the body arrives before a reset at the request', async () => {
    const { url, bytes, closed } = await startObserved();
    expect(await send(wireTo(url, { reset: 'request' }))).toEqual(RESET);
    await closed;
    expect(bytes).toEqual([1, 2]);
  });
});

describe("answers to the emulator's HTTP transport", () => {
  it('an answer has a status, headers as text and a body', async () => {
    const url = await startServer((_, response) => {
      response.writeHead(418, { 'X-A': 'b', 'Set-Cookie': ['c=1', 'd=2'] }).end('tëa');
    });
    expect(await send(wireTo(url))).toEqual({
      answer: {
        status: 418,
        headers: expect.objectContaining({ 'x-a': 'b', 'set-cookie': 'c=1,d=2' }),
        body: 'tëa',
      },
    });
  });

  it.each([
    ['64 KiB', 64 * KIB, 64 * KIB],
    ['more than that', 64 * KIB + 1, 64 * KIB],
    ['a megabyte', KIB * KIB, 64 * KIB],
  ])('an answer with a body of %s is kept up to 64 KiB, and the connection is reused', async (_, length, kept) => {
    const { url, closed } = await startObserved((response) => response.end('x'.repeat(length)));
    const sent = await send(wireTo(url));
    expect([sent.answer?.status, sent.answer?.body.length]).toEqual([200, kept]);
    const first = await Promise.race([closed, send(wireTo(url)).then(({ answer }) => answer?.status)]);
    expect(first).toBe(200);
  });

  it('an answer over 1 MiB is read no further: its status counts, and the connection ends', async () => {
    const { url, closed } = await startObserved((response) => response.write('x'.repeat(KIB * KIB + 1)));
    const sent = await send(wireTo(url));
    expect([sent.failed, sent.answer?.status, sent.answer?.body.length]).toEqual([undefined, 200, 64 * KIB]);
    await closed;
  });

  it('an answer that does not arrive in time is a timeout and ends the connection', async () => {
    const time = createTestTime();
    const { url, arrived, closed } = await startObserved();
    const sent = send(wireTo(url), time);
    await arrived;
    time.pass();
    expect(await sent).toEqual({ failed: 'timeout' });
    await closed;
  });

  it('an answer whose body does not end in time is recorded with its status', async () => {
    const time = createTestTime();
    const { url, closed } = await startObserved((response) => response.write('still'));
    const sent = send(wireTo(url, { slow: { ms: 1, pieces: 1 } }), time);
    const again = setInterval(() => time.pass(), 100);
    const { answer, failed } = await sent;
    clearInterval(again);
    expect([answer ?? failed, failed]).toEqual([expect.objectContaining({ status: 200, body: 'still' }), undefined]);
    await closed;
  });

  it('an answer at a reset is recorded without its body, as a connection error', async () => {
    const { url, closed } = await startObserved((response) => response.writeHead(201, { 'x-a': 'b' }).end('made'));
    expect(await send(wireTo(url, { reset: 'answer' }))).toEqual({
      answer: { status: 201, headers: expect.objectContaining({ 'x-a': 'b' }), body: '' },
      failed: 'connection_error',
      error: 'connection reset',
    });
    expect(await closed).toBe('ECONNRESET');
  });
});

describe("hosts that the emulator's HTTP transport refuses", () => {
  it('a host is refused that has a private address next to a public one', async () => {
    const found = ['8.8.8.8', '10.0.0.1'].map((address) => ({ address, family: 4 }));
    const lookup: unknown = (_name: string, _options: unknown, callback: (...given: unknown[]) => void) =>
      callback(null, found);
    vi.spyOn(dns, 'lookup').mockImplementation(lookup as typeof dns.lookup);
    syncBuiltinESMExports();
    onTestFinished(() => {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    });
    await expect(send(wireTo('http://app.example/'))).rejects.toThrow('app.example is not public: private');
  });

  it('a host with a loopback address is refused, also where Node looks up a single address', async () => {
    const before = getDefaultAutoSelectFamily();
    setDefaultAutoSelectFamily(false);
    try {
      create({ allowLoopback: false });
      await expect(send(wireTo('http://localhost/'))).rejects.toThrow('localhost is not public: loopback');
    } finally {
      setDefaultAutoSelectFamily(before);
    }
  });

  it('an unknown host name rejects with the error of the DNS lookup', async () => {
    await expect(send(wireTo('http://nobody.invalid/'))).rejects.toThrow(/ENOTFOUND|EAI_AGAIN/);
  });
});
