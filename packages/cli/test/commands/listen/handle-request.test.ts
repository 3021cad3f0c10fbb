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
import { MARK_HEADER } from '../../../src/commands/listen/answer.js';
import { createRequestHandler, UNVERIFIED_CAPTURES } from '../../../src/commands/listen/handle-request.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';
import type { IncomingRequest } from '../../../src/commands/listen/read-message.js';
import { REFUSED_BODIES, UNVERIFIED_BODIES } from '../../../src/commands/listen/request-limits.js';
import { createRoutes } from '../../../src/commands/listen/routes.js';
import type { HttpMessage } from '../../../src/http/http-message.js';

const BYTES = Buffer.from(bodyOf());
const running = new AbortController().signal;

function aRequest(parts?: DeliveryParts, changes: Partial<IncomingRequest> = {}): IncomingRequest {
  const { headers, body } = aDelivery(parts);
  const request = { method: 'POST', path: '/hook?a=1', at: NOW, headers: Object.entries(headers) };
  return { ...request, body: Readable.from([Buffer.from(body as string)]), ...changes };
}

function aHandler(options: Partial<ListenOptions> = {}) {
  const { receiver } = aReceiver();
  return createRequestHandler({
    secrets: [SECRET],
    checks: {},
    receiver,
    now,
    delayMs: 0,
    mark: 'mark_1',
    routes: createRoutes([]),
    ...options,
  } as ListenOptions);
}

/** A directory of captures, with what was kept. */
function captures(problem?: Error) {
  const kept: [message: HttpMessage, at: number][] = [];
  const keep = async (message: HttpMessage, at: number) => {
    if (problem) throw problem;
    kept.push([message, at]);
    return { id: 'abcd', file: 'dir/abcd.http' };
  };
  return { kept, keep };
}

describe('a request to listen', () => {
  it('the delivery is inspected and answered', async () => {
    const handled = await aHandler()(aRequest(), running);
    expect(handled).toMatchObject({
      kind: 'delivery',
      response: { status: 200, body: '{"outcome":"handled"}' },
      ...{ inspection: { verdict: 'verified', id: 'evt_1' }, capture: undefined },
      message: { method: 'POST', path: '/hook?a=1', body: BYTES },
    });
  });

  it('the capture has each header in its order and spelling, and the exact bytes', async () => {
    const { kept, keep } = captures();
    const headers: HttpMessage['headers'] = [
      ['B', '1'],
      ['a', '2'],
      ['B', '3'],
    ];
    const handled = await aHandler({ captures: { keep } })(aRequest({}, { headers }), running);
    expect(kept).toEqual([[{ method: 'POST', path: '/hook?a=1', headers, body: BYTES }, NOW]]);
    expect(handled).toMatchObject({ capture: { id: 'abcd', file: 'dir/abcd.http' } });
  });

  it('a delivery that cannot be captured is not acknowledged', async () => {
    const { receiver, outcomes } = aReceiver();
    const problem = new Error('the disk is full');
    const handled = await aHandler({ receiver, captures: captures(problem) })(aRequest(), running);
    expect(handled).toMatchObject({
      kind: 'problem',
      problem,
      response: { status: 503, body: '{"outcome":"not_kept"}' },
    });
    expect(outcomes).toEqual([]);
  });

  it('forged requests are captured up to a number, and genuine ones beyond it', async () => {
    const { kept, keep } = captures();
    const handle = aHandler({ captures: { keep } });
    const forged = () => aRequest({ secret: 'another' });
    for (let sent = 0; sent < UNVERIFIED_CAPTURES.count + 5; sent += 1) await handle(forged(), running);
    expect(kept).toHaveLength(UNVERIFIED_CAPTURES.count);
    expect(await handle(forged(), running)).toMatchObject({ kind: 'delivery', capture: undefined });
    expect(await handle(aRequest(), running)).toMatchObject({ capture: { id: 'abcd' } });
  });

  it('forged requests are captured up to a number of bytes', async () => {
    const { kept, keep } = captures();
    const handle = aHandler({ captures: { keep } });
    const bytes = Buffer.alloc(UNVERIFIED_CAPTURES.bytes / 8);
    for (let sent = 0; sent < 10; sent += 1) await handle({ ...aRequest(), body: Readable.from([bytes]) }, running);
    expect(kept).toHaveLength(7);
  });

  it('an event of a type that is not wanted is acknowledged and forgotten', async () => {
    const { kept, keep } = captures();
    const handle = aHandler({ captures: { keep }, events: ['generation.completed'] });
    const handled = await handle(aRequest(), running);
    expect(handled).toMatchObject({ kind: 'ignored', response: { status: 200, body: '{"outcome":"not_subscribed"}' } });
    expect(kept).toEqual([]);
    expect((await aHandler({ events: ['stt.completed'] })(aRequest(), running)).kind).toBe('delivery');
    expect((await handle(aRequest({ body: '[]' }), running)).kind).toBe('ignored');
  });

  it('a request that is not a POST is refused, and its body is dropped', async () => {
    const body = Readable.from([Buffer.from('a')]);
    const handled = await aHandler()({ ...aRequest(), method: 'PUT', body }, running);
    expect(inShort(handled.response)).toBe('405 method_not_allowed');
    expect(handled).toMatchObject({ kind: 'problem', problem: { code: 'method_not_allowed' } });
    await vi.waitFor(() => expect(body.readableEnded).toBe(true), PATIENTLY);
  });

  it('a request whose body breaks off is refused', async () => {
    const broken = new AbortController();
    const reading = aHandler()({ ...aRequest(), body: new Readable({ read() {} }), signal: broken.signal }, running);
    broken.abort();
    expect(await reading).toMatchObject({ response: { status: 400 }, problem: { code: 'body_incomplete' } });
  });

  it('the rest of a body is not waited for when the command ends', async () => {
    const command = new AbortController();
    const reading = aHandler()({ ...aRequest(), body: new Readable({ read() {} }) }, command.signal);
    command.abort();
    expect(await reading).toMatchObject({ problem: { code: 'body_incomplete' } });
  });

  it('the answer comes no earlier than asked for, unless the command ends', async () => {
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

  it('a captured delivery whose app has not answered when the command ends is still reported as captured', async () => {
    const command = new AbortController();
    const app = await serveApp(() => command.abort()); // it never answers
    const routes = createRoutes([new URL(app.url)]);
    const handled = await aHandler({ captures: captures(), routes })(aRequest(), command.signal);
    expect(handled).toMatchObject({
      kind: 'delivery',
      capture: { id: 'abcd' },
      forwarded: { sent: { problem: 'listen ended before the app answered' } },
      response: { status: 502, body: '{"outcome":"app_did_not_answer"}' },
    });
  });

  it('a request that listen has forwarded itself is not forwarded again', async () => {
    const app = await serveApp();
    const headers: HttpMessage['headers'] = [...aRequest().headers, [MARK_HEADER, 'mark_1']];
    const marked: HttpMessage['headers'] = [[MARK_HEADER, 'of the sender'], ...headers];
    for (const given of [headers, marked]) {
      const handle = aHandler({ routes: createRoutes([new URL(app.url)]) });
      const handled = await handle(aRequest({}, { headers: given }), running);
      expect(handled).toMatchObject({ kind: 'problem', response: { status: 508 } });
    }
    expect(app.got).toEqual([]);
  });

  it('a request that another listen has forwarded is handled', async () => {
    const headers: HttpMessage['headers'] = [...aRequest().headers, [MARK_HEADER, 'mark_2']];
    expect(await aHandler()(aRequest({}, { headers }), running)).toMatchObject({ kind: 'delivery' });
  });
});

describe('a request to listen whose header is refused', () => {
  const unsigned = (body: IncomingRequest['body'], headers: HttpMessage['headers'] = []) =>
    aRequest({}, { headers, body });

  it.each([
    ['missing_signature', []],
    ['malformed_signature', [['X-Service-Signature-V2', 't=1']]],
    ['timestamp_too_old', Object.entries(aDelivery({ at: NOW - 301_000 }).headers)],
    ['legacy_not_accepted', [['X-Service-Signature', 'sha256=00']]],
  ] as const)('a large one is answered before its body is read: %s', async (code, given) => {
    const { kept, keep } = captures();
    const app = await serveApp();
    const body = new Readable({ read() {} }); // nothing comes
    const headers = [...given, ['Content-Length', String(REFUSED_BODIES.each + 1)] as const];
    const handle = aHandler({ captures: { keep }, routes: createRoutes([new URL(app.url)]) });
    const handled = await handle(unsigned(body, headers), running);
    expect(handled).toMatchObject({ kind: 'problem', response: { status: 401 }, problem: { code } });
    expect([kept, app.got]).toEqual([[], []]);
  });

  it('one that says nothing about its length is read up to a limit', async () => {
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

  it('a small one is captured, forwarded and inspected as every other', async () => {
    const { kept, keep } = captures();
    const app = await serveApp();
    const handle = aHandler({ captures: { keep }, routes: createRoutes([new URL(app.url)]) });
    const handled = await handle(unsigned(Readable.from([Buffer.from(bodyOf())])), running);
    expect(handled).toMatchObject({ kind: 'delivery', inspection: { verdict: 'missing_signature', id: 'evt_1' } });
    expect([kept, app.got]).toMatchObject([[[{ body: BYTES }, NOW]], [{ body: BYTES }]]);
  });

  it('one that is too large has the status of --respond all the same', async () => {
    const headers = [['Content-Length', String(REFUSED_BODIES.each + 1)]] as const;
    const handled = await aHandler({ respond: 204 })(unsigned(new Readable({ read() {} }), headers), running);
    expect(handled).toMatchObject({ kind: 'problem', response: { status: 204 } });
  });

  it('many that are small are answered without their bodies, where they hold too much together', async () => {
    const handle = aHandler();
    const end = new AbortController();
    const open = (bytes: number) => {
      const body = new Readable({ read() {} });
      body.push(Buffer.alloc(bytes));
      return { body, handled: handle(unsigned(body), end.signal) };
    };
    const held = Array.from({ length: REFUSED_BODIES.together / REFUSED_BODIES.each }, () => open(REFUSED_BODIES.each));
    expect(await open(1).handled).toMatchObject({ kind: 'problem', problem: { code: 'missing_signature' } });
    const [first] = held;
    first?.body.push(null);
    expect(await first?.handled).toMatchObject({ kind: 'delivery' });
    expect(await handle(unsigned(Readable.from([Buffer.from('a')])), running)).toMatchObject({ kind: 'delivery' });
    end.abort();
    await Promise.all(held.map(({ handled }) => handled));
  });
});

describe('the bodies that listen holds and has not verified', () => {
  const MIB = 1024 * 1024;
  /** Requests that never end, and hold as much as is allowed. */
  function fill(handle: ReturnType<typeof aHandler>, headers?: HttpMessage['headers']) {
    const end = new AbortController();
    const held = Array.from({ length: UNVERIFIED_BODIES / MIB }, () => {
      const body = new Readable({ read() {} });
      body.push(Buffer.alloc(MIB));
      return handle(aRequest({}, { body, ...(headers && { headers }) }), end.signal);
    });
    return async () => {
      end.abort();
      await Promise.all(held);
    };
  }

  it.each([
    ['with a secret', {}],
    ['without a secret', { secrets: undefined, receiver: undefined }],
  ])('a request that does not fit is answered 503, %s, until there is room', async (_, options) => {
    const handle = aHandler(options);
    const empty = fill(handle);
    const handled = await handle(aRequest({}, { body: Readable.from([Buffer.from(bodyOf())]) }), running);
    expect(handled).toMatchObject({
      kind: 'problem',
      response: { status: 503, headers: { 'retry-after': '1' }, body: '{"outcome":"busy"}' },
      problem: { message: expect.stringContaining('64 MiB') },
    });
    await empty();
    expect(await handle(aRequest({}, { body: Readable.from([Buffer.from(bodyOf())]) }), running)).toMatchObject({
      kind: 'delivery',
    });
  });

  it('a delivery that is verified counts no more, while its app has not answered', async () => {
    const command = new AbortController();
    let asked = 0;
    let arrived = later();
    const app = await serveApp(() => {
      asked += 1;
      if (asked >= 4) arrived.resolve(); // and none is answered
    });
    const handle = aHandler({ routes: createRoutes([new URL(app.url)]) });
    const body = bodyOf({ data: { text: 'x'.repeat(15 * MIB) } });
    const send = () => handle({ ...aRequest({ body }), body: Readable.from([Buffer.from(body)]) }, command.signal);
    const first = [send(), send(), send(), send()];
    await arrived.promise;
    arrived = later();
    const last = send();
    await Promise.race([arrived.promise, last]);
    command.abort();
    expect((await Promise.all([...first, last])).map(({ kind }) => kind)).toEqual(Array(5).fill('delivery'));
  });

  it('a request without a secret counts until its app has answered', async () => {
    const command = new AbortController();
    const arrived = later();
    const answering = later();
    const app = await serveApp(async (_, __, res) => {
      arrived.resolve();
      await answering.promise;
      res.end();
    });
    const handle = aHandler({ secrets: undefined, receiver: undefined, routes: createRoutes([new URL(app.url)]) });
    const first = handle(aRequest({}, { body: Readable.from([Buffer.alloc(MIB)]) }), command.signal);
    await arrived.promise;
    const empty = fill(handle); // of which one does not fit
    const { response } = await handle(aRequest({}, { body: Readable.from([Buffer.alloc(1)]) }), running);
    expect(response.status).toBe(503);
    answering.resolve();
    await Promise.all([first, empty()]);
  });
});
