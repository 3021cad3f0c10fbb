import { createServer, type IncomingMessage } from 'node:http';

import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { PATIENTLY } from '../../../test/support/patiently.js';
import { dropBody, readBody } from '../src/read-body.js';

const LIMITS = { maxBytes: 1_000, timeoutMs: 10_000 };
const open = (...chunks: string[]) => {
  const stream = new Readable({ read() {} });
  for (const chunk of chunks) stream.push(Buffer.from(chunk));
  return stream;
};

describe('readBody', () => {
  it('readBody returns the bytes of all chunks', async () => {
    const bytes = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256));
    for (const size of [1, 7, 1_000]) {
      const chunks = Array.from({ length: Math.ceil(1_000 / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(await readBody(Readable.from(chunks), LIMITS)).toEqual(new Uint8Array(bytes));
    }
    expect(await readBody(Readable.from([]), LIMITS)).toHaveLength(0);
  });

  it('readBody takes chunks of one byte in the time of their bytes', async () => {
    const count = 300_000;
    const one = Buffer.from('a');
    const stream = new Readable({ read() {} });
    for (let pushed = 0; pushed < count; pushed += 1) stream.push(one);
    stream.push(null);
    const begun = performance.now();
    expect(await readBody(stream, { ...LIMITS, maxBytes: count })).toHaveLength(count);
    expect(performance.now() - begun).toBeLessThan(5_000);
  });

  it('readBody refuses a body above the limit, and takes one of exactly the limit', async () => {
    expect(await readBody(Readable.from([Buffer.alloc(1_000)]), LIMITS)).toHaveLength(1_000);
    await expect(readBody(Readable.from([Buffer.alloc(1_000), Buffer.alloc(1)]), LIMITS)).rejects.toMatchObject({
      code: 'body_too_large',
      problem: 'The body is larger than maxBodyBytes (1000 bytes).',
    });
  });

  it('readBody refuses a body that does not arrive in time', async () => {
    await expect(readBody(open('a'), { ...LIMITS, timeoutMs: 20 })).rejects.toMatchObject({ code: 'body_timeout' });
  });

  it.each<[string, (stream: Readable, stop: AbortController) => void]>([
    ['closes', (stream) => stream.destroy()],
    ['fails', (stream) => stream.destroy(new Error('reset'))],
    ['is aborted', (_, stop) => stop.abort()],
  ])('readBody refuses a body that %s before its end', async (_, end) => {
    for (const isBefore of [true, false]) {
      const [stream, stop] = [open('a'), new AbortController()];
      stream.on('error', () => {});
      if (isBefore) end(stream, stop);
      const reading = readBody(stream, { ...LIMITS, signal: stop.signal });
      if (!isBefore) end(stream, stop);
      await expect(reading).rejects.toMatchObject({ code: 'body_incomplete' });
    }
  });

  it('readBody leaves no listener on the signal', async () => {
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    const add = vi.spyOn(signal, 'addEventListener');
    await readBody(Readable.from([Buffer.from('a')]), { ...LIMITS, signal });
    expect(remove.mock.calls).toEqual(add.mock.calls);
  });
});

/** A server that refuses every request without its body. Resolves to what the sender of a long body gets. */
async function refused(bytes: number) {
  const requests: IncomingMessage[] = [];
  const server = createServer((req, res) => {
    requests.push(req);
    dropBody(req);
    res.writeHead(401).end('no');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let got = '';
  let isClosed = false;
  socket
    .on('data', (data) => {
      got += data;
    })
    .on('close', () => {
      isClosed = true;
    })
    .on('error', () => {});
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n`);
  return { socket, requests, got: () => got, isClosed: () => isClosed };
}

describe('dropBody', () => {
  it('dropBody lets the sender of a body within the bounds use its connection again', async () => {
    const { socket, requests, got, isClosed } = await refused(500_000);
    socket.write(Buffer.alloc(500_000));
    await vi.waitUntil(() => got().includes('no'), PATIENTLY);
    socket.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n');
    await vi.waitUntil(() => requests.length === 2, PATIENTLY);
    await sleep(2_500);
    expect(isClosed()).toBe(false);
  });

  it('dropBody closes the connection of a body that does not end, after two seconds', async () => {
    const { got, isClosed } = await refused(500_000);
    await vi.waitUntil(() => got().includes('no'), PATIENTLY);
    expect(isClosed()).toBe(false);
    await vi.waitUntil(isClosed, PATIENTLY);
  });

  it('dropBody reads no more than its bound', async () => {
    let read = 0;
    const stream = new Readable({
      read() {
        read += 64 * 1024;
        this.push(Buffer.alloc(64 * 1024));
      },
    });
    dropBody(stream);
    await vi.waitUntil(() => stream.destroyed, PATIENTLY);
    expect(read).toBeGreaterThan(1024 * 1024);
    expect(read).toBeLessThan(2 * 1024 * 1024);
  });

  it('dropBody leaves a body alone that has ended or is closed', async () => {
    const ended = Readable.from([]);
    ended.resume();
    await vi.waitUntil(() => ended.readableEnded, PATIENTLY);
    dropBody(ended);
    const closed = open('a').destroy();
    dropBody(closed);
    expect([ended.listenerCount('data'), closed.listenerCount('data')]).toEqual([0, 0]);
  });
});
