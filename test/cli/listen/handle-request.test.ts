import { Readable } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { MARK_HEADER } from '../../../src/cli/listen/answer.js';
import {
  createRequestHandler,
  type IncomingRequest,
  UNVERIFIED_CAPTURES,
} from '../../../src/cli/listen/handle-request.js';
import type { ListenOptions } from '../../../src/cli/listen/options.js';
import { createRoutes } from '../../../src/cli/listen/routes.js';
import type { HttpMessage } from '../../../src/wire/http-message.js';
import { serveApp } from '../../support/app.js';
import {
  aDelivery,
  aReceiver,
  bodyOf,
  type DeliveryParts,
  inShort,
  NOW,
  now,
  SECRET,
} from '../../support/deliveries.js';

const BYTES = new TextEncoder().encode(bodyOf());
const running = new AbortController().signal;

function aRequest(parts?: DeliveryParts, changes: Partial<IncomingRequest> = {}): IncomingRequest {
  const { headers, body } = aDelivery(parts);
  return { method: 'POST', path: '/hook?a=1', at: NOW, headers: Object.entries(headers), body, ...changes };
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
    const forged = aRequest({ secret: 'another' });
    for (let sent = 0; sent < UNVERIFIED_CAPTURES.count + 5; sent += 1) await handle(forged, running);
    expect(kept).toHaveLength(UNVERIFIED_CAPTURES.count);
    expect(await handle(forged, running)).toMatchObject({ kind: 'delivery', capture: undefined });
    expect(await handle(aRequest(), running)).toMatchObject({ capture: { id: 'abcd' } });
  });

  it('forged requests are captured up to a number of bytes', async () => {
    const { kept, keep } = captures();
    const handle = aHandler({ captures: { keep } });
    const body = Buffer.alloc(UNVERIFIED_CAPTURES.bytes / 8);
    for (let sent = 0; sent < 10; sent += 1) await handle({ ...aRequest(), body }, running);
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
    await vi.waitFor(() => expect(body.readableEnded).toBe(true));
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
    await vi.waitFor(() => expect(answers()).toEqual(['handled']));
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
    const handled = await aHandler({ routes: createRoutes([new URL(app.url)]) })(aRequest({}, { headers }), running);
    expect(handled).toMatchObject({ kind: 'problem', response: { status: 508 } });
    expect(app.got).toEqual([]);
  });

  it('a request that another listen has forwarded is handled', async () => {
    const headers: HttpMessage['headers'] = [...aRequest().headers, [MARK_HEADER, 'mark_2']];
    expect(await aHandler()(aRequest({}, { headers }), running)).toMatchObject({ kind: 'delivery' });
  });
});
