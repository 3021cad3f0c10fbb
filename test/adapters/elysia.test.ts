import { Elysia, status } from 'elysia';
import { PermanentError } from 'service-webhooks';
import { type ElysiaContextLike, webhookHandler, webhookMiddleware } from 'service-webhooks/elysia';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { aDelivery, aReceiver } from '../support/deliveries.js';
import { calledMounts } from './mounts/elysia.js';
import { UNSERIALISABLE, whatCameOf } from './returned-answers.js';
import { runSuite } from './run-suite.js';

// Elysia prints an answer that breaks.
beforeEach(() => void vi.spyOn(console, 'warn').mockImplementation(() => {}));

runSuite(calledMounts);

it('webhookHandler on Elysia gets the exact body where the route has no parse option', async () => {
  const { receiver } = aReceiver();
  const app = new Elysia().post('/webhooks', webhookHandler(receiver));
  const { headers, body } = aDelivery();
  const response = await app.handle(new Request('http://localhost/webhooks', { method: 'POST', headers, body }));
  expect([response.status, await response.json()]).toEqual([200, { outcome: 'handled' }]);
});

const returning = (route: (context: ElysiaContextLike) => unknown) =>
  whatCameOf((receiver) => {
    const app = new Elysia().post('/webhooks', webhookMiddleware(receiver, route), { parse: 'none' });
    return (request) => app.handle(request);
  });

describe('a route behind the Elysia adapter', () => {
  it.each<[string, (context: ElysiaContextLike) => unknown, number]>([
    ['an Error', () => new Error('no disk'), 500],
    ['an error of its own class', () => new RangeError('no disk'), 500],
    ['status(503)', () => status(503, 'later'), 503],
    ['a Response with 503', () => new Response('later', { status: 503 }), 503],
    ['a Response after set.status = 503', (context) => later(context, new Response('later')), 503],
    ['data after set.status = 503', (context) => later(context, { later: true }), 503],
    ['data after set.status by its name', (context) => later(context, 'later', 'Service Unavailable'), 503],
    ['a generator that sets 503 before its first value', (context) => refusing(context), 503],
    ['a function that makes a Response with 503', () => () => new Response('later', { status: 503 }), 503],
    ['a function in status(200) that does', () => status(200, async () => new Response('', { status: 503 })), 503],
    ['an object whose toResponse() has 503', () => new Refusal(), 503],
    ['an error whose toResponse() has 503', () => Object.assign(new Error(), new Refusal()), 503],
    ...UNSERIALISABLE.map(([what, data]): [string, () => unknown, number] => [`data ${what}`, () => data, 500]),
    ['such data in status(200)', () => status(200, { count: 1n }), 500],
    ['a Response with 503 in status(200)', () => status(200, new Response('later', { status: 503 })), 503],
  ])('the event is released after %s', async (_, route, expected) => {
    expect(await returning(route)).toEqual({ status: expected, decided: ['failed'] });
  });

  it.each<[string, (context: ElysiaContextLike) => unknown, number]>([
    ['data with a field code', () => ({ code: 500, response: 'of another service' }), 200],
    ['status(202)', () => status(202, { taken: true }), 202],
    ['data after set.status by its name', (context) => later(context, 'done', 'Created'), 201],
    ['a generator that only returns', () => returningAtOnce(), 200],
    ['a function', () => () => 'done', 200],
    ['data with a method toResponse()', () => ({ toResponse: () => new Response('', { status: 503 }) }), 200],
    ['a Response', () => Response.json({ done: true }), 200],
    ['nothing', () => undefined, 200],
  ])('the event is completed after %s', async (_, route, expected) => {
    expect(await returning(route)).toEqual({ status: expected, decided: ['handled'] });
  });

  it('a PermanentError completes the event, so that no retry runs', async () => {
    expect(await returning(() => new PermanentError('no such clip'))).toEqual({ status: 200, decided: ['discarded'] });
  });

  it.each<[string, () => unknown]>([
    ['a generator', () => generator(true)],
    [
      'a stream in status(200)',
      () => status(200, new ReadableStream({ pull: (c) => c.error(new Error('it breaks')) })),
    ],
  ])('the event is released when %s of the route throws', async (_, route) => {
    expect((await returning(route)).decided).toEqual(['failed']);
  });

  it('the event is completed at the end of a generator', async () => {
    expect(await returning(() => generator(false))).toEqual({ status: 200, decided: ['handled'] });
  });
});

function later<Answer>({ set }: ElysiaContextLike, answer: Answer, status: number | string = 503): Answer {
  set.status = status;
  return answer;
}

class Refusal {
  readonly toResponse = () => new Response('later', { status: 503 });
}

async function* refusing(context: ElysiaContextLike) {
  yield later(context, 'later');
}

// biome-ignore lint/correctness/useYield: it stands for a generator that found nothing to stream
async function* returningAtOnce() {
  return 'done';
}

async function* generator(breaks: boolean) {
  yield new Uint8Array(1);
  if (breaks) throw new Error('it breaks');
  yield new Uint8Array(1);
}
