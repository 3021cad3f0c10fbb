import type { Socket } from 'node:net';
import type { EmulatorOptions } from 'service-webhooks-emulator';
import { describe, expect, it, vi } from 'vitest';
import { CERTIFICATE } from './certificate.js';
import { START, startEmulator } from './emulators.js';
import { startReceiver, startSocketReceiver, startTlsReceiver, status } from './receivers.js';

/** The result of one attempt. */
async function attempt(url: string, options: EmulatorOptions = {}) {
  const { emulator } = startEmulator({ allowLoopback: true, fetch: undefined, ...options });
  emulator.endpoints.create({ url });
  await emulator.emit('stt.completed');
  await emulator.advance(20_000);
  return emulator.attempts.list()[0] ?? expect.unreachable();
}

const answering = (text: string) => startSocketReceiver((socket) => socket.end(text));

describe("the emulator's connection to a receiver", () => {
  it.each<[what: string, answer: (socket: Socket) => unknown, error: string]>([
    ['ends the connection', (socket) => socket.end(), 'socket hang up'],
    ['resets the connection', (socket) => socket.resetAndDestroy(), 'ECONNRESET'],
    [
      'switches protocols',
      (socket) => socket.end('HTTP/1.1 101 Hello\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
      'the connection ended without an answer',
    ],
  ])('a receiver that %s causes a connection error', async (_, answer, error) => {
    expect(await attempt(await startSocketReceiver(answer))).toMatchObject({
      ...{ outcome: 'failed', reason: 'connection_error', endedAt: START },
      error: expect.stringContaining(error),
    });
  });

  it('a receiver that does not run causes a connection error', async () => {
    const { reason, error } = await attempt('http://127.0.0.1:1/');
    expect([reason, error]).toEqual(['connection_error', expect.stringContaining('ECONNREFUSED')]);
  });

  it.each<[what: string, answer: (socket: Socket) => unknown]>([
    ['never answers', () => {}],
    ['never ends its head', (socket) => socket.write('HTTP/1.1 200 OK\r\nx: ')],
    [
      'sends endless interim answers',
      (socket) => {
        const more = (): unknown => socket.writable && socket.write('HTTP/1.1 100 Continue\r\n\r\n', more);
        more();
      },
    ],
  ])('an attempt to a receiver that %s times out after 20 s', async (_, answer) => {
    expect(await attempt(await startSocketReceiver(answer), { hangAfterMs: 200 })).toMatchObject({
      ...{ reason: 'timeout', answer: undefined, endedAt: START + 20_000 },
    });
  });

  it('an attempt times out when the receiver reads nothing of a large body, and others are sent', async () => {
    const { emulator } = startEmulator({ allowLoopback: true, fetch: undefined, hangAfterMs: 200 });
    const { id } = emulator.endpoints.create({ url: await startSocketReceiver((socket) => socket.pause()) });
    await emulator.emit('stt.completed', { data: { text: 'x'.repeat(20 * 1024 * 1024) } });
    await emulator.advance(20_000);
    expect(emulator.attempts.list()).toMatchObject([{ reason: 'timeout' }]);
    emulator.endpoints.remove(id);
    emulator.endpoints.create({ url: (await startReceiver()).url, events: ['stt.failed'] });
    await emulator.emit('stt.failed');
    await emulator.runUntilIdle(); // a busy machine may need a retry
    expect(emulator.totals.delivered).toBe(1);
  });

  it('no delivery is lost when the receiver closes idle connections', async () => {
    const { url, arrived } = await startReceiver((response) => {
      response.setHeader('connection', 'keep-alive');
      response.end(() => setImmediate(() => response.socket?.destroy()));
    });
    const { emulator } = startEmulator({ allowLoopback: true, fetch: undefined });
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
    const { reason, error } = await attempt(url);
    expect([reason, error]).toEqual(['connection_error', expect.stringContaining('self-signed')]);
    const trusted = await attempt(url, { tls: { ca: CERTIFICATE } });
    expect(trusted).toMatchObject({ outcome: 'acknowledged', answer: { body: 'over TLS' } });
  });

  it.each(['request', 'answer'] as const)('a connection over https can be reset at the %s', async (at) => {
    const options: EmulatorOptions = { tls: { ca: CERTIFICATE }, faults: { reset: { rate: 1, at } } };
    const made = await attempt(await startTlsReceiver(), options);
    expect(made).toMatchObject({ reason: 'connection_error', error: 'connection reset' });
  });
});

describe('raw HTTP answers to the emulator', () => {
  it.each([
    ['is no HTTP', 'hello\r\n\r\n'],
    ['has no status', 'HTTP/1.1 OK\r\n\r\n'],
    ['has a header without a colon', 'HTTP/1.1 200 OK\r\nnonsense\r\n\r\n'],
    ['has a Content-Length that is none', 'HTTP/1.1 200 OK\r\ncontent-length: many\r\n\r\n'],
    ['has a head without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200_000)}`],
    ['has two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\ncontent-length: 5\r\n\r\nhello'],
    ['has a length and chunks', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['has escape sequences in its headers', 'HTTP/1.1 200 OK\r\nx: \x1b]0;title\x07\r\n\r\n'],
  ])('an answer that %s causes a connection error', async (_, text) => {
    const { reason, error } = await attempt(await answering(text));
    expect([reason, error]).toEqual(['connection_error', expect.stringContaining('Parse Error')]);
  });

  it.each([
    ['breaks off', 'content-length: 100\r\n\r\nonly so much'],
    ['is no longer HTTP', 'transfer-encoding: chunked\r\n\r\nc\r\nonly so much\r\nZ\r\n'],
  ])('a 2xx answer whose body %s acknowledges the delivery', async (_, rest) => {
    const made = await attempt(await answering(`HTTP/1.1 200 OK\r\n${rest}`));
    expect(made).toMatchObject({ outcome: 'acknowledged', answer: { status: 200, body: 'only so much' } });
  });

  it.each([0, 101, 299, 413, 600, 999])(
    'an answer with the status %i is recorded with it, and only a 2xx acknowledges',
    async (code) => {
      const url = await answering(`HTTP/1.1 ${String(code).padStart(3, '0')} x\r\ncontent-length: 0\r\n\r\n`);
      expect(await attempt(url)).toMatchObject({ reason: code === 299 ? '2xx' : 'non-2xx', answer: { status: code } });
    },
  );

  it('the final answer decides after an interim answer', async () => {
    const url = await answering('HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 202 OK\r\ncontent-length: 2\r\n\r\nok');
    expect(await attempt(url)).toMatchObject({ answer: { status: 202, body: 'ok' } });
  });
});

describe("the emulator's option fetch", () => {
  const attemptWith = (fetch: EmulatorOptions['fetch'], options: EmulatorOptions = {}) =>
    attempt('http://localhost/', { fetch, ...options });

  it.each<[what: string, fetch: NonNullable<EmulatorOptions['fetch']>]>([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(undefined)],
    ['returns nonsense', () => ({}) as Response],
  ])('a receiver that %s causes a connection error', async (_, fetch) => {
    expect((await attemptWith(fetch)).reason).toBe('connection_error');
  });

  it('an attempt whose fetch never answers times out after 20 s', async () => {
    const made = await attemptWith(() => new Promise(() => {}), { hangAfterMs: 200 });
    expect(made).toMatchObject({ reason: 'timeout', answer: undefined, endedAt: START + 20_000 });
  });

  it.each<[what: string, pull: (controller: ReadableStreamDefaultController) => void, cancelled: number]>([
    ['breaks off', (controller) => controller.error(new Error('no')), 0],
    ['never ends', () => {}, 1],
  ])('a 2xx Response whose body %s acknowledges the delivery', async (_, pull, cancelled) => {
    const cancel = vi.fn();
    const start = (controller: ReadableStreamDefaultController) =>
      controller.enqueue(new TextEncoder().encode('so much'));
    // With a high-water mark of 0, the first chunk is read before the stream continues.
    const fetch = () =>
      new Response(new ReadableStream({ start, pull, cancel }, { highWaterMark: 0 }), { status: 202 });
    const made = await attemptWith(fetch, { hangAfterMs: 1_500 });
    expect(made).toMatchObject({ outcome: 'acknowledged', answer: { status: 202, body: 'so much' } });
    expect(cancel).toHaveBeenCalledTimes(cancelled);
  });

  it('fetch may return the same Response each time', async () => {
    const once = new Response('done');
    const { emulator } = startEmulator({ fetch: () => once });
    emulator.endpoints.create({ url: 'https://app.example/' });
    for (let i = 0; i < 2; i += 1) await emulator.emit('stt.completed');
    await emulator.settled();
    expect(emulator.attempts.list()).toMatchObject([
      { outcome: 'acknowledged', answer: { body: 'done' } },
      { outcome: 'acknowledged', answer: { body: '' } },
    ]);
  });
});
