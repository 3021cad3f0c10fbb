import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import {
  aDelivery,
  aReceiver,
  bodyOf,
  type DeliveryParts,
  inShort,
  later,
  NOW,
  now,
  SECRET,
} from '../../../../../test/support/deliveries.js';
import { PATIENTLY } from '../../../../../test/support/patiently.js';
import { createRequestHandler, UNVERIFIED_CAPTURES } from '../../../src/commands/listen/handle-request.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';
import type { IncomingRequest } from '../../../src/commands/listen/read-message.js';
import { REFUSED_BODIES, UNVERIFIED_BODIES } from '../../../src/commands/listen/request-limits.js';
import { createRoutes } from '../../../src/commands/listen/routes.js';
import { LISTEN_HEADER } from '../../../src/http/answer.js';
import type { HttpMessage } from '../../../src/http/http-message.js';

const BYTES = Buffer.from(bodyOf());
const MIB = 1024 * 1024;
const running = new AbortController().signal;
const streamOf = (bytes: Uint8Array) => Readable.from([bytes]);

/** A body that does not end, of which only these bytes come. */
function endless(bytes = Buffer.of()) {
  const body = new Readable({ read() {} });
  if (bytes.length > 0) body.push(bytes);
  return body;
}

function aRequest(parts?: DeliveryParts, changes: Partial<IncomingRequest> = {}): IncomingRequest {
  const { headers, body } = aDelivery(parts);
  const request = { method: 'POST', path: '/hook?a=1', at: NOW, headers: Object.entries(headers) };
  return { ...request, body: streamOf(Buffer.from(body as string)), ...changes };
}

function aHandler(options: Partial<ListenOptions> = {}) {
  const { receiver } = aReceiver();
  const given = { secrets: [SECRET], checks: {}, receiver, now, delayMs: 0, mark: 'mark_1', routes: createRoutes([]) };
  return createRequestHandler({ ...given, ...options } as ListenOptions);
}

/** A handler that forwards to an app and captures, with what was kept. */
async function aForwarder(answer?: Parameters<typeof serveApp>[0]) {
  const app = await serveApp(answer);
  const kept: [message: HttpMessage, at: number][] = [];
  const keep = async (message: HttpMessage, at: number) => {
    kept.push([message, at]);
    return { id: 'abcd', file: 'dir/abcd.http' };
  };
  const options = { captures: { keep }, routes: createRoutes([new URL(app.url)]) };
  return { app, kept, options, handle: aHandler(options) };
}

describe('a request to listen', () => {
  it('other methods than POST are refused, and the body is dropped', async () => {
    const body = streamOf(Buffer.from('a'));
    const handled = await aHandler()({ ...aRequest(), method: 'PUT', body }, running);
    expect(inShort(handled.response)).toBe('405 method_not_allowed');
    expect(handled).toMatchObject({ kind: 'problem', problem: { code: 'method_not_allowed' } });
    await vi.waitFor(() => expect(body.readableEnded).toBe(true), PATIENTLY);
  });

  it('the answer waits for --delay, or until the command ends', async () => {
    const command = new AbortController();
    const { receiver, answers } = aReceiver();
    let isAnswered = false;
    const handling = aHandler({ receiver, delayMs: 3_600_000 })(aRequest(), command.signal);
    handling.then(() => {
      isAnswered = true;
    });
    await vi.waitFor(() => expect(answers()).toEqual(['handled']), PATIENTLY);
    expect(isAnswered).toBe(false);
    command.abort();
    expect(await handling).toMatchObject({ kind: 'delivery', response: { status: 200 } });
  });

  it('a captured delivery is reported where the command ends before the app answers', async () => {
    const command = new AbortController();
    const { handle } = await aForwarder(() => command.abort());
    expect(await handle(aRequest(), command.signal)).toMatchObject({
      ...{ kind: 'delivery', capture: { id: 'abcd' } },
      forwarded: { sent: { problem: 'listen ended before the app answered' } },
      response: { status: 502, body: '{"outcome":"app_did_not_answer"}' },
    });
  });

  it('a limited number of forged requests is captured, and every genuine one', async () => {
    const { kept, options } = await aForwarder();
    const handle = aHandler({ captures: options.captures });
    const forged = () => aRequest({ secret: 'another' });
    for (let sent = 0; sent < UNVERIFIED_CAPTURES.count + 5; sent += 1) await handle(forged(), running);
    expect(kept).toHaveLength(UNVERIFIED_CAPTURES.count);
    expect(await handle(forged(), running)).toMatchObject({ kind: 'delivery', capture: undefined });
    expect(await handle(aRequest(), running)).toMatchObject({ capture: { id: 'abcd' } });
  });

  it('a limited number of bytes of forged requests is captured', async () => {
    const { kept, options } = await aForwarder();
    const handle = aHandler({ captures: options.captures });
    const bytes = Buffer.alloc(UNVERIFIED_CAPTURES.bytes / 8);
    for (let sent = 0; sent < 10; sent += 1) await handle({ ...aRequest(), body: streamOf(bytes) }, running);
    expect(kept).toHaveLength(7);
  });

  it('a request that this listen has forwarded before is refused with 508', async () => {
    const { app, handle } = await aForwarder();
    const headers: HttpMessage['headers'] = [...aRequest().headers, [LISTEN_HEADER, 'mark_1']];
    for (const given of [headers, [[LISTEN_HEADER, 'of the sender'], ...headers] as typeof headers]) {
      const handled = await handle(aRequest({}, { headers: given }), running);
      expect(handled).toMatchObject({ kind: 'problem', response: { status: 508 } });
    }
    expect(app.got).toEqual([]);
  });

  it('a request that another listen has forwarded is handled', async () => {
    const headers: HttpMessage['headers'] = [...aRequest().headers, [LISTEN_HEADER, 'mark_2']];
    expect(await aHandler()(aRequest({}, { headers }), running)).toMatchObject({ kind: 'delivery' });
  });
});

describe('a request to listen whose signature header is refused', () => {
  const unsigned = (body: IncomingRequest['body'], headers: HttpMessage['headers'] = []) =>
    aRequest({}, { headers, body });
  const TOO_LONG = ['Content-Length', String(REFUSED_BODIES.each + 1)] as const;

  it.each([
    ['missing_signature', []],
    ['malformed_signature', [['X-Service-Signature-V2', 't=1']]],
    ['timestamp_too_old', Object.entries(aDelivery({ at: NOW - 301_000 }).headers)],
    ['legacy_not_accepted', [['X-Service-Signature', 'sha256=00']]],
  ] as const)('a large body is not read before the answer: %s', async (code, given) => {
    const { app, kept, handle } = await aForwarder();
    const handled = await handle(unsigned(endless(), [...given, TOO_LONG]), running);
    expect(handled).toMatchObject({ kind: 'problem', response: { status: 401 }, problem: { code } });
    expect([kept, app.got]).toEqual([[], []]);
  });

  it('--respond sends its status also for a body that is too large', async () => {
    const handled = await aHandler({ respond: 204 })(unsigned(endless(), [TOO_LONG]), running);
    expect(handled).toMatchObject({ kind: 'problem', response: { status: 204 } });
  });

  it('a body without a length is read up to a limit', async () => {
    let read = 0;
    const body = new Readable({
      read() {
        read += 64 * 1024;
        this.push(Buffer.alloc(64 * 1024));
      },
    });
    const handled = await aHandler()(unsigned(body), running);
    expect(handled).toMatchObject({ response: { status: 401 }, problem: { code: 'missing_signature' } });
    expect(read).toBeLessThanOrEqual(3 * REFUSED_BODIES.each);
  });

  it('a small request is captured, forwarded and inspected as every other', async () => {
    const { app, kept, handle } = await aForwarder();
    const handled = await handle(unsigned(streamOf(BYTES)), running);
    expect(handled).toMatchObject({ kind: 'delivery', inspection: { verdict: 'missing_signature', id: 'evt_1' } });
    expect([kept, app.got]).toMatchObject([[[{ body: BYTES }, NOW]], [{ body: BYTES }]]);
  });

  it('small requests are refused unread where open ones hold too many bytes', async () => {
    const handle = aHandler();
    const end = new AbortController();
    const open = (bytes: number) => {
      const body = endless(Buffer.alloc(bytes));
      return { body, handled: handle(unsigned(body), end.signal) };
    };
    const held = Array.from({ length: REFUSED_BODIES.together / REFUSED_BODIES.each }, () => open(REFUSED_BODIES.each));
    expect(await open(1).handled).toMatchObject({ kind: 'problem', problem: { code: 'missing_signature' } });
    const [first] = held;
    first?.body.push(null);
    expect(await first?.handled).toMatchObject({ kind: 'delivery' });
    expect(await handle(unsigned(streamOf(Buffer.from('a'))), running)).toMatchObject({ kind: 'delivery' });
    end.abort();
    await Promise.all(held.map(({ handled }) => handled));
  });
});

describe('the limit of unverified bytes that listen holds', () => {
  /** Requests that never end, and hold as much as is allowed. Gives what ends them. */
  function fill(handle: ReturnType<typeof aHandler>) {
    const end = new AbortController();
    const held = Array.from({ length: UNVERIFIED_BODIES / MIB }, () =>
      handle(aRequest({}, { body: endless(Buffer.alloc(MIB)) }), end.signal),
    );
    return async () => {
      end.abort();
      await Promise.all(held);
    };
  }

  it.each([
    ['with a secret', {}],
    ['without a secret', { secrets: undefined, receiver: undefined }],
  ])('a request over the limit is answered 503 until there is room, %s', async (_, options) => {
    const handle = aHandler(options);
    const empty = fill(handle);
    expect(await handle(aRequest(), running)).toMatchObject({
      kind: 'problem',
      response: { status: 503, headers: { 'retry-after': '1' }, body: '{"outcome":"busy"}' },
      problem: { message: expect.stringContaining('64 MiB') },
    });
    await empty();
    expect(await handle(aRequest(), running)).toMatchObject({ kind: 'delivery' });
  });

  it('a verified delivery does not count while its app has not answered', async () => {
    const command = new AbortController();
    let asked = 0;
    let arrived = later();
    const { options } = await aForwarder(() => {
      asked += 1;
      if (asked >= 4) arrived.resolve(); // and none is answered
    });
    const handle = aHandler({ routes: options.routes });
    const body = bodyOf({ data: { text: 'x'.repeat(15 * MIB) } });
    const send = () => handle(aRequest({ body }), command.signal);
    const first = [send(), send(), send(), send()];
    await arrived.promise;
    arrived = later();
    const last = send();
    await Promise.race([arrived.promise, last]);
    command.abort();
    expect((await Promise.all([...first, last])).map(({ kind }) => kind)).toEqual(Array(5).fill('delivery'));
  });

  it('a request without a secret counts until its app has answered', async () => {
    const [arrived, answering] = [later(), later()];
    const { options } = await aForwarder(async (_, __, res) => {
      arrived.resolve();
      await answering.promise;
      res.end();
    });
    const handle = aHandler({ secrets: undefined, receiver: undefined, routes: options.routes });
    const first = handle(aRequest({}, { body: streamOf(Buffer.alloc(MIB)) }), running);
    await arrived.promise;
    const empty = fill(handle); // of which one does not fit
    expect((await handle(aRequest({}, { body: streamOf(Buffer.alloc(1)) }), running)).response.status).toBe(503);
    answering.resolve();
    await Promise.all([first, empty()]);
  });
});
