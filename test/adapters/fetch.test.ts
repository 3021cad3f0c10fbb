import { webhookMiddleware } from 'service-webhooks/fetch';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { aReceiver, aRequest } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { calledMounts, mounts } from './mounts/fetch.js';
import { whatCameOf } from './returned-answers.js';
import { runSuite } from './run-suite.js';

runSuite([...mounts, ...calledMounts]);

const returning = (answer: unknown) => whatCameOf((receiver) => webhookMiddleware(receiver, () => answer as Response));

describe('a route behind the Fetch adapter', () => {
  it.each([
    ['an Error', new Error('no disk')],
    ['nothing', undefined],
    ['data', { done: true }],
    ['a Response whose body other code reads', taken(new Response('done'))],
  ])('the event is released with 500 after %s', async (_, answer) => {
    expect(await returning(answer)).toEqual({ status: 500, decided: ['failed'] });
  });

  it('the Response of the route is sent with its status, headers and body', async () => {
    const headers = [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
      ['x-of-the-app', 'yes'],
    ] satisfies [string, string][];
    let sent: Response | undefined;
    await whatCameOf((receiver) => async (request) => {
      const route = () => new Response('done', { status: 201, statusText: 'Made', headers });
      sent = await webhookMiddleware(receiver, route)(request);
      return sent.clone();
    });
    expect([sent?.status, sent?.statusText, await sent?.text()]).toEqual([201, 'Made', 'done']);
    expect([sent?.headers.getSetCookie(), sent?.headers.get('x-of-the-app')]).toEqual([['a=1', 'b=2'], 'yes']);
  });
});

describe('a Response of the Fetch adapter that is not read to its end', () => {
  async function answered(signal?: AbortSignal) {
    const { receiver, answers } = aReceiver({ on: undefined });
    const { method, headers, body } = aRequest();
    const init = { method, headers: headers as Record<string, string>, body: body as string, signal: signal ?? null };
    const response = await webhookMiddleware(
      receiver,
      () => new Response('done'),
    )(new Request('http://receiver.test', init));
    return { response, answers };
  }

  it('after 30 seconds, the event is neither completed nor released until its lease ends', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { answers } = await answered();
    await vi.advanceTimersByTimeAsync(29_000);
    expect(answers()).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(answers()).toEqual(['failed']);
  });

  it('when the sender disconnects, the event is neither completed nor released until its lease ends', async () => {
    const sender = new AbortController();
    const { response, answers } = await answered(sender.signal);
    await response.body?.getReader().read();
    sender.abort();
    await vi.waitUntil(() => answers().length > 0, PATIENTLY);
    expect(answers()).toEqual(['failed']);
  });
});

function taken(response: Response): Response {
  response.body?.getReader();
  return response;
}
