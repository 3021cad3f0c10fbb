import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { WebhookRequest, WebhookResponse } from 'service-webhooks';
import { describe, expect, it, vi } from 'vitest';
import type { HttpMessage } from '../../../src/cli/http-file.js';
import { createIntake } from '../../../src/cli/listen/intake.js';
import type { ListenOptions } from '../../../src/cli/listen/options.js';
import { aReceiver, aRequest, bodyOf, inShort, NOW, now, SECRET } from '../../support/deliveries.js';

const BYTES = new TextEncoder().encode(bodyOf());

interface Given {
  request?: WebhookRequest;
  options?: Partial<ListenOptions>;
  req?: Partial<IncomingMessage>;
  signal?: AbortSignal;
}

/** One request that comes to listen. */
function coming({ request = aRequest(), options, req, signal = new AbortController().signal }: Given = {}) {
  const rawHeaders = Object.entries(request.headers as Record<string, string>).flat();
  const { receiver } = aReceiver();
  const all = { secrets: [SECRET], receiver, now, delayMs: 0, ...options } as ListenOptions;
  const intake = createIntake({ url: '/hook?a=1', rawHeaders, ...req } as IncomingMessage, NOW, all, signal);
  return { intake, answer: intake(request) };
}

/** The same when it is answered. */
async function taken(given?: Given) {
  const { intake, answer } = coming(given);
  const response = await answer;
  return { response, taken: intake.taken };
}

/** Where captured deliveries are kept, with what was kept. */
function captures(problem?: Error) {
  const kept: [message: HttpMessage, at: number][] = [];
  const keep = async (message: HttpMessage, at: number) => {
    if (problem) throw problem;
    kept.push([message, at]);
    return { id: 'abcd', file: 'dir/abcd.http' };
  };
  return { kept, keep };
}

describe('a request that comes to listen', () => {
  it('is looked at and answered', async () => {
    const { response, taken: found } = await taken();
    expect(response).toMatchObject({ status: 200, body: '{"outcome":"handled"}' });
    expect(found).toMatchObject({
      ...{ response, seen: { verdict: 'verified', id: 'evt_1' }, capture: undefined },
      message: { method: 'POST', path: '/hook?a=1', body: BYTES },
    });
  });

  it('is kept as it came: each header in its order and spelling, the exact bytes', async () => {
    const { kept, keep } = captures();
    const { taken: found } = await taken({
      options: { captures: { keep } },
      req: { rawHeaders: ['B', '1', 'a', '2', 'B', '3'], url: undefined },
    });
    const headers = [
      ['B', '1'],
      ['a', '2'],
      ['B', '3'],
    ];
    expect(kept).toEqual([[{ method: 'POST', path: '/', headers, body: BYTES }, NOW]]);
    expect(found).toMatchObject({ capture: { id: 'abcd', file: 'dir/abcd.http' } });
  });

  it('is not acknowledged where it cannot be kept', async () => {
    const { receiver, outcomes } = aReceiver();
    const problem = new Error('the disk is full');
    const { response, taken: found } = await taken({ options: { receiver, captures: captures(problem) } });
    expect(response).toMatchObject({ status: 503, body: '{"outcome":"not_kept"}' });
    expect(found).toEqual({ problem });
    expect(outcomes).toEqual([]);
  });

  it('is acknowledged and forgotten where its type is not wanted', async () => {
    const { kept, keep } = captures();
    const options = { captures: { keep }, events: ['generation.completed'] };
    const { response, taken: found } = await taken({ options });
    expect(response).toMatchObject({ status: 200, body: '{"outcome":"not_subscribed"}' });
    expect([kept, found]).toEqual([[], undefined]);
    expect((await taken({ options: { events: ['stt.completed'] } })).taken).toBeDefined();
    expect((await taken({ request: aRequest({ body: '[]' }), options })).taken).toBeUndefined();
  });

  it('is refused where it is no POST, and its body is let go of', async () => {
    const body = Readable.from([Buffer.from('a')]);
    const { response, taken: found } = await taken({ request: { ...aRequest(), method: 'PUT', body } });
    expect(inShort(response)).toBe('405 method_not_allowed');
    expect(found).toMatchObject({ problem: { code: 'method_not_allowed', hint: 'The service sends POST.' } });
    await vi.waitFor(() => expect(body.readableEnded).toBe(true));
  });

  it('is refused where its body breaks off', async () => {
    const broken = new AbortController();
    const reading = taken({ request: { ...aRequest(), body: new Readable({ read() {} }), signal: broken.signal } });
    broken.abort();
    expect((await reading).response.status).toBe(400);
    expect((await reading).taken).toMatchObject({ problem: { code: 'body_incomplete' } });
  });

  it('is not waited for when the command ends', async () => {
    const command = new AbortController();
    const request = { ...aRequest(), body: new Readable({ read() {} }) };
    const reading = taken({ request, signal: command.signal });
    command.abort();
    expect((await reading).taken).toMatchObject({ problem: { code: 'body_incomplete' } });
  });

  it('is answered no earlier than is asked for, unless the command ends', async () => {
    const command = new AbortController();
    const { receiver, answers } = aReceiver();
    const { intake, answer } = coming({ options: { receiver, delayMs: 3_600_000 }, signal: command.signal });
    await vi.waitFor(() => expect(answers()).toEqual(['handled']));
    expect(intake.taken).toBeUndefined();
    command.abort();
    expect((await answer).status).toBe(503);
    expect(intake.taken).toMatchObject({ problem: { name: 'AbortError' } });
  });

  it('gives nothing to work on to whoever would: it is answered here', async () => {
    const { intake, answer } = coming();
    await answer;
    const { response, ...rest } = (await intake.begin(aRequest())) as { response: WebhookResponse };
    expect([inShort(response), rest]).toEqual(['200 duplicate', {}]);
  });
});
