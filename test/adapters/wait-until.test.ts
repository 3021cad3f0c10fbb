import { memoryStore } from 'service-webhooks';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/fetch';
import * as next from 'service-webhooks/next';
import { type SignedDelivery, signDelivery, toRequest } from 'service-webhooks/testing';
import type { ServedApp } from 'service-webhooks-suites';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { anEvent, aReceiver, aStore, later, NOW, now, SECRET } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { CALLED, LISTENING } from './mounts/every-adapter.js';
import type { Mount } from './mounts/mount.js';

const delivery = signDelivery({ event: anEvent() as never, secret: SECRET, at: NOW });
const request = () => toRequest(delivery, 'http://receiver.test/webhooks');

/** Resolves after turns of the event loop, in which an answer that does not wait reaches its sender. */
async function inTurns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise(setImmediate);
}

/** Sends a delivery, and reads its answer to the end. */
async function send(app: ServedApp, sent: SignedDelivery): Promise<number> {
  const { method, headers, body } = sent;
  if ('call' in app) return (await app.call({ method, headers: Object.entries(headers), body })).status;
  const response =
    'fetch' in app
      ? await app.fetch(request())
      : await fetch(`http://127.0.0.1:${app.port}${app.path ?? '/webhooks'}`, { method, headers, body: body.slice() });
  await response.arrayBuffer();
  return response.status;
}

const middlewares = [CALLED, LISTENING]
  .flatMap((adapters) => Object.values<readonly Mount[]>(adapters).flat())
  .filter(({ form }) => form === 'middleware');

describe.each(middlewares)('waitUntil behind $name', ({ serve, endings = [] }) => {
  it.each([undefined, 'sends bytes'] as const)(
    'waitUntil waits for a claim that has not ended when the answer arrives, where the route has the ending %s',
    async (ending) => {
      if (ending !== undefined && !endings.includes(ending)) return;
      const passed: Promise<unknown>[] = [];
      const waitUntil = (work: Promise<unknown>) => void passed.push(work);
      const memory = memoryStore();
      const complete = (...claim: Parameters<typeof memory.complete>) =>
        inTurns(100).then(() => memory.complete(...claim));
      const store = aStore({ complete }, memory);
      const { receiver, answers } = aReceiver({ on: undefined, now, waitUntil, dedupe: { store } });
      const app = await serve({
        receiver,
        before: 'nothing',
        route: async () => 200,
        ending,
        body: () => new TextEncoder().encode('done'),
        otherAnswer: new Promise(() => {}),
      });
      onTestFinished(() => app.close?.());
      expect(await send(app, delivery)).toBe(200);
      await Promise.all(passed);
      expect(answers()).toEqual(['handled']);
    },
  );
});

describe.each([
  ['Fetch', webhookHandler, webhookMiddleware],
  ['Next', next.webhookHandler, next.webhookMiddleware],
])('waitUntil as an option of the adapter of %s', (_, handler, middleware) => {
  function aPlatform() {
    const passed: Promise<unknown>[] = [];
    const options = {
      secret: SECRET,
      now,
      logger: false,
      waitUntil: (work: Promise<unknown>) => void passed.push(work),
    } as const;
    return { passed, options };
  }

  it('a handler that is past its deadline goes on, and waitUntil waits for it', async () => {
    const { passed, options } = aPlatform();
    const work = later();
    const seen: string[] = [];
    const observe = ({ kind }: { kind: string }) => void seen.push(kind);
    const POST = handler({ ...options, observe, deadlineMs: 300, on: { '*': () => work.promise } });
    expect((await POST(request())).status).toBe(503);
    expect(passed).toHaveLength(1);
    work.resolve();
    await Promise.all(passed);
    expect(seen).toEqual(['past_deadline', 'late_result']);
    expect((await POST(request())).headers.get('idempotency-replayed')).toBe('true');
  });

  it('waitUntil is not called for a handler in time', async () => {
    const { passed, options } = aPlatform();
    expect((await handler({ ...options, on: { '*': () => {} } })(request())).status).toBe(200);
    expect(passed).toEqual([]);
  });

  it.each([
    ['has no body', () => new Response(null, { status: 204 })],
    ['refuses', () => new Response('no', { status: 503 })],
    ['cannot be sent', () => undefined as never],
  ])('waitUntil is not called for a route whose Response %s', async (_, route) => {
    const { passed, options } = aPlatform();
    await middleware(options, route)(request());
    expect(passed).toEqual([]);
  });

  it('waitUntil waits until the Response of a route has been read to its end', async () => {
    const { passed, options } = aPlatform();
    const response = await middleware(options, () => new Response('done'))(request());
    expect(passed).toHaveLength(1);
    const ended = vi.fn();
    passed[0]?.then(ended);
    await inTurns(10);
    expect(ended).not.toHaveBeenCalled();
    expect(await response.text()).toBe('done');
    await vi.waitUntil(() => ended.mock.calls.length > 0, PATIENTLY);
  });

  it('waitUntil waits no longer for a Response whose reader has left', async () => {
    const { passed, options } = aPlatform();
    const response = await middleware(options, () => new Response('done'))(request());
    await response.body?.cancel();
    await expect(Promise.all(passed)).resolves.toHaveLength(1);
  });

  it('two routes that share a receiver share its waitUntil', async () => {
    const { passed, options } = aPlatform();
    const { receiver } = aReceiver({ ...options, on: undefined });
    const routes = [middleware(receiver, () => new Response('a')), middleware(receiver, () => new Response('b'))];
    const answers = await Promise.all(routes.map((route) => route(request())));
    expect(answers.map(({ status }) => status)).toEqual([200, 409]);
    await answers[0]?.text();
    await Promise.all(passed);
    expect((await routes[1]?.(request()))?.status).toBe(200);
    expect(passed).toHaveLength(1);
  });
});
