import { WebhookError } from 'service-webhooks';
import { describe, expect, it } from 'vitest';
import { serveApp } from '../../../../../test/support/app.js';
import { aReceiver, aRequest, bodyOf } from '../../../../../test/support/deliveries.js';
import { answerTo, plain, refusedWith } from '../../../src/commands/listen/answer.js';
import type { ListenOptions } from '../../../src/commands/listen/options.js';

const request = aRequest();
const message = {
  ...{ method: 'POST', path: '/hook?a=1', body: Buffer.from(bodyOf()) },
  headers: Object.entries(request.headers as Record<string, string>),
};
const { signal } = new AbortController();
const answered = (options: Partial<ListenOptions>, ...targets: readonly URL[]) =>
  answerTo(request, message, targets, { mark: 'mark_1', ...options } as ListenOptions, signal);
const json = (status: number, body: string) => ({ status, headers: { 'content-type': 'application/json' }, body });

describe('what the sender is answered', () => {
  it('what the sender is answered is what a receiver says where there is a secret', async () => {
    const { receiver } = aReceiver();
    const { response, forwarded } = await answered({ receiver });
    expect(response).toMatchObject({ status: 200, body: '{"outcome":"handled"}' });
    expect(forwarded).toBeUndefined();
  });

  it('what the sender is answered is yes without one', async () => {
    expect(await answered({})).toEqual({ response: json(200, '{"outcome":"unverified"}') });
  });

  it('what the sender is answered is the status that was asked for, whatever a receiver would say', async () => {
    const { receiver, outcomes } = aReceiver();
    expect(await answered({ receiver, respond: 503 })).toEqual({ response: json(503, '{"outcome":"as_told"}') });
    expect(outcomes).toEqual([]);
  });

  it('what the sender is answered is what the app says, without the headers that mean nothing to a sender', async () => {
    const app = await serveApp((_, __, res) => {
      const headers = { 'Content-Type': 'text/plain', 'Retry-After': '7', 'Idempotency-Replayed': 'true', Server: 'a' };
      res.writeHead(429, headers).end('slow down');
    });
    const { response, forwarded } = await answered({}, new URL(app.url));
    expect(response).toEqual({
      ...{ status: 429, body: 'slow down' },
      headers: { 'content-type': 'text/plain', 'retry-after': '7', 'idempotency-replayed': 'true' },
    });
    expect(forwarded).toMatchObject({ url: `${app.url}/hook?a=1`, sent: { status: 429, body: 'slow down' } });
    expect(app.got).toMatchObject([{ method: 'POST', path: '/hook?a=1', body: message.body }]);
    expect(app.got[0]?.headers).toMatchObject(Object.fromEntries(message.headers));
  });

  it('what the sender is answered has the status that was asked for in the place of that of the app', async () => {
    const app = await serveApp((_, __, res) => res.end('done'));
    const { response } = await answered({ respond: 500 }, new URL(app.url));
    expect(response).toMatchObject({ status: 500, body: 'done' });
    expect(app.got).toHaveLength(1);
  });

  it('what the sender is answered is 502 where the app did not answer', async () => {
    const app = await serveApp((_, req) => req.socket.destroy());
    const { response, forwarded } = await answered({}, new URL(app.url));
    expect(response).toEqual(json(502, '{"outcome":"app_did_not_answer"}'));
    expect(forwarded?.sent.problem).toContain('closed without an answer');
  });

  it('what the sender is answered is 502 where the command ends before the app has answered', async () => {
    const controller = new AbortController();
    const app = await serveApp(() => controller.abort(new Error('Ctrl+C')));
    const options = { mark: 'mark_1' } as ListenOptions;
    expect(await answerTo(request, message, [new URL(app.url)], options, controller.signal)).toMatchObject({
      response: { status: 502 },
      forwarded: { sent: { problem: 'listen ended before the app answered' } },
    });
  });

  it.each([204, 205, 304])('what the sender is answered has no body where %i allows none', (status) => {
    expect(plain(status, 'as_told')).toMatchObject({ status, body: '' });
  });
});

describe('the answer to a refused request', () => {
  it.each([
    ['method_not_allowed', { method: 'PUT' }],
    ['missing_signature', { headers: {} }],
    ['body_too_large', { body: Buffer.alloc(2_000) }],
    ['body_incomplete', { body: (async function* () {})(), signal: AbortSignal.abort() }],
  ] as const)('is that of a receiver, byte for byte: %s', async (code, changes) => {
    const { receiver } = aReceiver({ maxBodyBytes: 1_000 });
    const answer = await receiver({ ...request, ...changes });
    const response = refusedWith(new WebhookError(code));
    expect(response).toEqual(answer);
    expect(Object.entries(response.headers)).toEqual(Object.entries(answer.headers));
  });
});
