import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { isWebhookError } from 'service-webhooks';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type BodyBounds, readBody } from '../../src/http/read-body.js';

const MIB = 1024 * 1024;

/** Sends the head of a request to a server that reads its body and answers with the text of it, or with its refusal. */
async function reading(length: number, { maxBytes = 64, timeoutMs = 5_000 }: Partial<BodyBounds> = {}) {
  const server = createServer(async (req, res) => {
    const read = await readBody(req, { maxBytes, timeoutMs }).catch((error: unknown) => error);
    settled(read);
    if (Buffer.isBuffer(read)) res.end(read);
    else res.writeHead(isWebhookError(read) ? read.status : 500).end();
  });
  let settled: (read: unknown) => void = () => {};
  const result = new Promise<unknown>((resolve) => {
    settled = resolve;
  });
  const requested = once(server, 'request') as Promise<[IncomingMessage]>;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  socket.on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: receiver.test\r\nContent-Length: ${length}\r\n\r\n`);
  const [req] = await requested;
  return { socket, req, result };
}

async function answered(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, 'data');
  return String(bytes);
}

describe('the body of a request that the command line receives', () => {
  it('any number of pieces is read to the end', async () => {
    const { socket, req, result } = await reading(6);
    socket.write('abc');
    await once(req, 'data');
    socket.write('d');
    socket.write(Buffer.from('é').subarray(0, 1));
    socket.write(Buffer.from('é').subarray(1));
    expect(String(await result)).toBe('abcdé');
  });

  it('an empty body is read', async () => {
    const { result } = await reading(0);
    expect(await result).toEqual(Buffer.alloc(0));
  });

  it('a body may be as large as the limit, and not a byte larger', async () => {
    const fits = await reading(64);
    fits.socket.write('x'.repeat(64));
    expect(await fits.result).toHaveLength(64);
    const { socket, result } = await reading(65);
    socket.write('x'.repeat(65));
    expect(await result).toMatchObject({
      code: 'body_too_large',
      problem: 'The body is larger than maxBodyBytes (64 bytes).',
    });
  });

  it('a body over the limit is dropped, and the connection stays open', async () => {
    const { socket, req, result } = await reading(MIB);
    socket.write('x'.repeat(MIB));
    expect(await answered(socket)).toMatch(/^HTTP\/1.1 413 /);
    expect(await result).toMatchObject({ code: 'body_too_large' });
    if (!req.readableEnded) await once(req, 'end');
    socket.write('POST / HTTP/1.1\r\nHost: receiver.test\r\nContent-Length: 2\r\n\r\nok');
    expect(await answered(socket)).toMatch(/^HTTP\/1.1 200 /);
  });

  it('an endless body is answered, and the connection is closed', async () => {
    const { socket, req, result } = await reading(1024 * MIB);
    const closed = once(req, 'close');
    const more = () => socket.write('x'.repeat(MIB));
    socket.on('drain', more);
    more();
    expect(await answered(socket)).toMatch(/^HTTP\/1.1 413 /);
    expect(await result).toMatchObject({ code: 'body_too_large' });
    await closed;
    expect([req.complete, req.destroyed]).toEqual([false, true]);
  });

  it('a body that does not arrive in time is refused', async () => {
    const { socket, result } = await reading(2, { timeoutMs: 20 });
    socket.write('a');
    expect(await answered(socket)).toMatch(/^HTTP\/1.1 408 /);
    expect(await result).toMatchObject({ code: 'body_timeout' });
  });

  it('a body whose connection breaks is incomplete', async () => {
    const { socket, req, result } = await reading(2);
    socket.write('a');
    await once(req, 'data');
    socket.resetAndDestroy();
    expect(await result).toMatchObject({ code: 'body_incomplete' });
  });

  it('a body in pieces of one byte takes no more memory than its bytes', async () => {
    const count = 300_000;
    const body = new Readable({ read() {} });
    for (let pushed = 0; pushed < count; pushed += 1) body.push(Buffer.of(pushed % 256));
    body.push(null);
    const bytes = await readBody(body, { maxBytes: count, timeoutMs: 60_000 });
    expect(bytes.buffer.byteLength).toBe(count);
    expect(bytes.equals(Buffer.from(Array.from({ length: count }, (_, index) => index % 256)))).toBe(true);
  });

  it.each<[string, (body: Readable, stop: AbortController) => void]>([
    ['is closed', (body) => body.destroy()],
    ['fails', (body) => body.destroy(new Error('reset'))],
    ['is given up', (_, stop) => stop.abort()],
  ])('a body that %s before or during the read is incomplete', async (_, end) => {
    for (const isBefore of [true, false]) {
      const body = new Readable({ read() {} });
      const stop = new AbortController();
      body.push('a');
      body.on('error', () => {});
      if (isBefore) end(body, stop);
      const read = readBody(body, { maxBytes: 64, timeoutMs: 5_000, signal: stop.signal });
      if (!isBefore) end(body, stop);
      await expect(read).rejects.toMatchObject({ code: 'body_incomplete' });
    }
  });
});
