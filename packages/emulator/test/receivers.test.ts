import { createEmulator, type Emulator, type EmulatorOptions, type Faults } from 'service-webhooks-emulator';
import { afterEach, describe, expect, it } from 'vitest';
import { CERTIFICATE } from './certificate.js';
import { startReceiver, startSocketReceiver, startTlsReceiver, status } from './receivers.js';

const START = Date.UTC(2026, 6, 11, 9);

let emulator: Emulator;
afterEach(() => emulator.close());

/** The result of one attempt. */
async function attempt(url: string, options: EmulatorOptions = {}) {
  emulator = createEmulator({ allowLoopback: true, startAt: START, ...options });
  emulator.endpoints.create({ url });
  await emulator.emit('stt.completed');
  await emulator.advance(20_000);
  const [first] = emulator.attempts.list();
  if (first === undefined) throw new Error('there was no attempt');
  return first;
}

const answering = (text: string) => startSocketReceiver((socket) => socket.end(text));

describe('receivers', () => {
  it('a receiver that does not run causes a connection error', async () => {
    expect(await attempt('http://127.0.0.1:1/')).toMatchObject({
      outcome: 'failed',
      reason: 'connection_error',
      error: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('a receiver that ends the connection causes a connection error', async () => {
    const url = await startSocketReceiver((socket) => socket.end());
    expect(await attempt(url)).toMatchObject({ reason: 'connection_error' });
  });

  it('a receiver that resets the connection causes a connection error', async () => {
    const url = await startSocketReceiver((socket) => socket.resetAndDestroy());
    expect(await attempt(url)).toMatchObject({
      reason: 'connection_error',
      error: expect.stringContaining('ECONNRESET'),
    });
  });

  it('a receiver that never answers lets its 20 s pass', async () => {
    const url = await startSocketReceiver(() => {});
    expect(await attempt(url, { hangAfterMs: 200 })).toMatchObject({ reason: 'timeout', endedAt: START + 20_000 });
  });

  it('a receiver that never ends its head lets its 20 s pass', async () => {
    const url = await startSocketReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\nx: '));
    expect(await attempt(url, { hangAfterMs: 200 })).toMatchObject({ reason: 'timeout', answer: undefined });
  });

  it.each([
    ['is no HTTP', 'hello\r\n\r\n'],
    ['has no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['has a header without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
    ['has a Content-Length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n'],
    ['has a head without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`],
  ])('an answer that %s causes a connection error', async (_, text) => {
    expect(await attempt(await answering(text))).toMatchObject({
      reason: 'connection_error',
      error: expect.any(String),
    });
  });

  it('an answer whose body breaks off counts by its status', async () => {
    const url = await answering('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly so much');
    expect(await attempt(url)).toMatchObject({
      outcome: 'acknowledged',
      answer: { status: 200, body: 'only so much' },
    });
  });

  it('an answer whose body never ends counts by its status', async () => {
    const url = await startSocketReceiver((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nstill going'));
    const made = await attempt(url, { hangAfterMs: 1_500 });
    expect(made).toMatchObject({ outcome: 'acknowledged', answer: { body: 'still going' } });
  });

  it('an endless answer is read up to 1 MiB and kept up to 64 KiB', async () => {
    let sent = 0;
    const url = await startSocketReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = (): void => {
        sent += 65_536;
        if (!socket.destroyed) socket.write('x'.repeat(65_536), more);
      };
      more();
    });
    const { outcome, answer } = await attempt(url);
    expect([outcome, answer?.body.length]).toEqual(['acknowledged', 65_536]);
    expect(sent).toBeLessThan(64 * 1024 * 1024);
  });

  it('an answer before the end of the request counts', async () => {
    const url = await startSocketReceiver((socket) => socket.end('HTTP/1.1 413 No\r\ncontent-length: 0\r\n\r\n'));
    expect(await attempt(url)).toMatchObject({ reason: 'non-2xx', answer: { status: 413 } });
  });

  it('a switch of protocols is no answer', async () => {
    const url = await answering('HTTP/1.1 101 Hello\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
    expect(await attempt(url)).toMatchObject({
      reason: 'connection_error',
      error: 'the connection ended without an answer',
      endedAt: START,
    });
  });

  it.each([0, 101, 299, 600, 999])('an answer with the status %i counts by its status', async (code) => {
    const url = await answering(`HTTP/1.1 ${String(code).padStart(3, '0')} x\r\ncontent-length: 0\r\n\r\n`);
    expect(await attempt(url)).toMatchObject({ reason: code === 299 ? '2xx' : 'non-2xx', answer: { status: code } });
  });

  it.each([
    ['two lengths', 'content-length: 0\r\ncontent-length: 5\r\n\r\nhello'],
    ['a length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['escape sequences in its headers', 'x: \x1b]0;title\x07\r\n\r\n'],
  ])('an answer with %s causes a connection error', async (_, rest) => {
    expect(await attempt(await answering(`HTTP/1.1 200 OK\r\n${rest}`))).toMatchObject({ reason: 'connection_error' });
  });

  it('a receiver that sends endless interim answers lets its 20 s pass', async () => {
    const url = await startSocketReceiver((socket) => {
      const more = (): unknown => socket.writable && socket.write('HTTP/1.1 100 Continue\r\n\r\n', more);
      more();
    });
    expect(await attempt(url, { hangAfterMs: 200 })).toMatchObject({ reason: 'timeout', endedAt: START + 20_000 });
  });

  it('a receiver that reads nothing of a large body lets its 20 s pass, and the next delivery is sent', async () => {
    const url = await startSocketReceiver((socket) => socket.pause());
    emulator = createEmulator({ allowLoopback: true, startAt: START, hangAfterMs: 200 });
    const { id } = emulator.endpoints.create({ url });
    await emulator.emit('stt.completed', { data: { text: 'x'.repeat(20 * 1024 * 1024) } });
    await emulator.advance(20_000);
    expect(emulator.attempts.list().map(({ reason }) => reason)).toEqual(['timeout']);
    emulator.endpoints.remove(id);
    const { url: other } = await startReceiver();
    emulator.endpoints.create({ url: other, events: ['stt.failed'] });
    await emulator.emit('stt.failed');
    await emulator.runUntilIdle(); // a busy machine may need a retry
    expect(emulator.totals.delivered).toBe(1);
  });

  it('the final answer counts, not an interim one', async () => {
    const url = await answering('HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 202 OK\r\ncontent-length: 2\r\n\r\nok');
    expect(await attempt(url)).toMatchObject({ answer: { status: 202, body: 'ok' } });
  });

  it('a receiver that ends idle connections loses no delivery', async () => {
    const { url, arrived } = await startReceiver((response) => {
      response.setHeader('connection', 'keep-alive');
      response.end(() => setImmediate(() => response.socket?.destroy()));
    });
    emulator = createEmulator({ allowLoopback: true, startAt: START });
    emulator.endpoints.create({ url });
    for (let i = 0; i < 50; i += 1) await emulator.emit('stt.completed');
    await emulator.runUntilIdle();
    expect(emulator.deliveries.list({ state: 'delivered' })).toHaveLength(50);
    expect(new Set(arrived.map(({ headers }) => headers['idempotency-key'])).size).toBe(50);
  });

  it('a receiver on localhost is found by its name', async () => {
    const { url } = await startReceiver(status(204));
    expect(await attempt(url.replace('127.0.0.1', 'localhost'))).toMatchObject({ outcome: 'acknowledged' });
  });

  it('a receiver on https is reached if its certificate is trusted', async () => {
    const url = await startTlsReceiver();
    expect(await attempt(url)).toMatchObject({
      reason: 'connection_error',
      error: expect.stringContaining('self-signed'),
    });
    await emulator.close();
    const trusted = await attempt(url, { tls: { ca: CERTIFICATE } });
    expect(trusted).toMatchObject({ outcome: 'acknowledged', answer: { body: 'over TLS' } });
  });

  it.each<Faults>([{ reset: { rate: 1, at: 'request' } }, { reset: { rate: 1, at: 'answer' } }])(
    'on https has its connection reset as well: %j',
    async (faults) => {
      const made = await attempt(await startTlsReceiver(), { tls: { ca: CERTIFICATE }, faults });
      expect(made).toMatchObject({ reason: 'connection_error', error: 'connection reset' });
    },
  );

  it('a receiver in the same process may throw, reject or return nonsense', async () => {
    const bad: NonNullable<EmulatorOptions['fetch']>[] = [
      () => {
        throw new Error('no');
      },
      () => Promise.reject(undefined),
      () => ({}) as Response,
    ];
    for (const fetch of bad) {
      const made = await attempt('http://localhost/', { fetch });
      expect(made.reason).toBe('connection_error');
      await emulator.close();
    }
  });

  it.each([
    ['breaks off', (controller: Controller) => controller.error(new Error('no'))],
    ['never ends', () => {}],
  ])('an answer in the same process whose body %s counts by its status', async (_, end) => {
    let cancelled = false;
    const fetch = () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode('so much')),
        pull: end,
        cancel() {
          cancelled = true;
        },
      });
      return new Response(body, { status: 202 });
    };
    const made = await attempt('http://localhost/', { fetch, hangAfterMs: 1_500 });
    expect(made).toMatchObject({ outcome: 'acknowledged', answer: { status: 202 } });
    expect(cancelled).toBe(end.length === 0);
  });

  it('a receiver in the same process may return the same Response each time', async () => {
    const once = new Response('done');
    await attempt('http://localhost/', { fetch: () => once });
    await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.totals).toMatchObject({ acknowledged: 2, failed: 0 });
  });

  it('a receiver in the same process that never answers lets its 20 s pass', async () => {
    const made = await attempt('http://localhost/', { fetch: () => new Promise(() => {}), hangAfterMs: 200 });
    expect(made).toMatchObject({ reason: 'timeout', endedAt: START + 20_000 });
  });

  it('a receiver gets nothing after the emulator is closed', async () => {
    const { url, arrived } = await startReceiver(status(500));
    await attempt(url);
    await emulator.close();
    await emulator.runUntilIdle();
    expect(arrived).toHaveLength(1);
    await expect(emulator.emit('stt.completed')).rejects.toThrow('the emulator is closed');
  });
});

type Controller = ReadableStreamDefaultController<Uint8Array>;
