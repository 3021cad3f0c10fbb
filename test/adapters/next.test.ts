import { webhookHandler } from 'service-webhooks/next';
import { afterAll, describe, expect, it, vi } from 'vitest';
import type { AppRoute } from '../integration/next/start-next.js';
import { aDelivery, aReceiver, aRequest, later, now } from '../support/deliveries.js';
import { PATIENTLY } from '../support/patiently.js';
import { mounts, next } from './mounts/next.js';
import { runSuite } from './run-suite.js';
import { runVectors } from './run-vectors.js';

afterAll(() => next?.close());

runSuite(mounts);
describe.each(mounts)('over a socket to $name', runVectors);

describe.skipIf(next === undefined)('waitUntil that is `after` of Next', () => {
  it('`after` takes the work after a response, and what fails outside a request is logged', async () => {
    const logger = { error: vi.fn(), warn: vi.fn() };
    const failures = () => logger.warn.mock.calls.filter(([, { code }]) => code === 'wait_until_failed').length;
    const observe = vi.fn(async () => {});
    const work = later();
    const taken: Promise<unknown>[] = [];
    let after: Parameters<AppRoute>[1];
    const { receiver } = aReceiver({
      now,
      logger,
      observe,
      deadlineMs: 300,
      on: { '*': () => work.promise },
      waitUntil(late) {
        after?.(late); // throws outside a request
        taken.push(late);
      },
    });
    const receive = webhookHandler(receiver);
    const route: AppRoute = (request, given) => {
      after = given;
      return receive(request);
    };
    const { port, mount } = next ?? expect.fail('Next is not installed');
    const { headers, body } = aDelivery();
    const sent = { method: 'POST', headers, body: body as string };
    const { status } = await fetch(`http://127.0.0.1:${port}${mount(route, '/webhooks')}`, sent);
    expect([status, taken.length]).toEqual([503, 2]); // the handler, and what the observer returned
    work.resolve();
    await vi.waitUntil(() => taken.length === 3, PATIENTLY); // and what it returned for the late result
    await Promise.all(taken);
    expect([observe.mock.calls.length, failures()]).toEqual([2, 0]);

    expect((await receiver(aRequest())).headers['idempotency-replayed']).toBe('true');
    await vi.waitUntil(() => failures() === 1, PATIENTLY);
    expect(taken).toHaveLength(3);
  });
});
