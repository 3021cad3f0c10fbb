import { type HeaderPairs, type HttpRequest, type RequestTime, sendRequest } from 'service-webhooks-emulator';
import { describe, expect, it, vi } from 'vitest';
import { startReceiver, startServer, startSocketReceiver, startTlsReceiver } from '../receivers.js';

/** Time that never ends, and in which no wait takes long. */
const ENDLESS: RequestTime = { onPassed: () => {}, hold: async () => true };

function requestTo(url: string, changes: Partial<HttpRequest> = {}): HttpRequest {
  return { method: 'POST', url: new URL(url), headers: [], body: Uint8Array.of(1, 2, 3, 4), ...changes };
}

describe("the emulator's sendRequest", () => {
  it('the headers arrive in their order and spelling, repeated ones too, and the body byte for byte', async () => {
    const body = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const headers: HeaderPairs = [
      ['x-B', '1'],
      ['X-a', 'é'],
      ['x-b', '2'],
    ];
    const { url, arrived } = await startReceiver();
    await sendRequest(requestTo(url, { headers, body }), ENDLESS);
    expect(arrived[0]?.rawHeaders.slice(0, 10)).toEqual([
      ...['Host', new URL(url).host, 'Content-Length', '256'],
      ...headers.flat(),
    ]);
    expect(arrived[0]?.body).toEqual(Buffer.from(body));
  });

  it.each(['PUT', 'DELETE'])('a request can have the method %s', async (method) => {
    const url = await startServer((request, response) => response.end(request.method));
    expect((await sendRequest(requestTo(url, { method }), ENDLESS)).answer?.body).toBe(method);
  });

  it.each([302, 500])('an answer with the status %i resolves with that status', async (status) => {
    const url = await startServer((_, response) => response.writeHead(status, { location: '/other' }).end('see there'));
    const { answer, failed } = await sendRequest(requestTo(url), ENDLESS);
    expect(answer).toMatchObject({ status, headers: { location: '/other' }, body: 'see there' });
    expect(failed).toBe(undefined);
  });

  it('a request whose time ends before an answer has failed with a timeout', async () => {
    const onPassed = vi.fn<RequestTime['onPassed']>();
    const url = await startServer(() => onPassed.mock.calls[0]?.[0]());
    const time = { ...ENDLESS, onPassed };
    expect(await sendRequest(requestTo(url), time)).toEqual({ failed: 'timeout' });
  });

  it('a slow body is sent in its pieces, with a wait before each', async () => {
    const waits: number[] = [];
    const time = { ...ENDLESS, hold: async (ms: number) => waits.push(ms) > 0 };
    const { url, arrived } = await startReceiver();
    await sendRequest(requestTo(url, { slow: { ms: 100, pieces: 2 } }), time);
    expect(waits).toEqual([50, 50]);
    expect(arrived[0]?.body).toEqual(Buffer.of(1, 2, 3, 4));
  });

  it.each(['request', 'answer'] as const)('a connection that is reset at the %s is a failure', async (reset) => {
    const { url } = await startReceiver();
    const sent = await sendRequest(requestTo(url, { reset }), ENDLESS);
    expect(sent).toMatchObject({ failed: 'connection_error', error: 'connection reset' });
    expect(sent.answer?.status).toBe(reset === 'answer' ? 200 : undefined);
  });

  it('a connection that ends without an answer rejects with its error', async () => {
    const url = await startSocketReceiver((socket) => socket.end());
    await expect(sendRequest(requestTo(url), ENDLESS)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('an untrusted certificate is refused, unless the caller accepts any', async () => {
    const url = await startTlsReceiver();
    await expect(sendRequest(requestTo(url), ENDLESS)).rejects.toMatchObject({ code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const sent = await sendRequest(requestTo(url), ENDLESS, { agent: false, rejectUnauthorized: false });
    expect(sent.answer?.body).toBe('over TLS');
  });
});
