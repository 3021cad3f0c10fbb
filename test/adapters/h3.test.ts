import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { H3, type H3Event, HTTPError, HTTPResponse } from 'h3';
import { toNodeHandler } from 'h3/node';
import { PermanentError } from 'service-webhooks';
import { webhookMiddleware } from 'service-webhooks/h3';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { calledMounts, http2Mounts, mounts } from './mounts/h3.js';
import { UNSERIALISABLE, whatCameOf } from './returned-answers.js';
import { runSuite } from './run-suite.js';

// h3 1 prints what a route throws.
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));

runSuite([...mounts, ...http2Mounts, ...calledMounts]);

type Route = (event: H3Event) => unknown;

const called = (route: Route) =>
  whatCameOf((receiver) => {
    const app = new H3({ silent: true }).post('/webhooks', webhookMiddleware(receiver, route));
    return (request) => app.fetch(request);
  });

const onNode = (route: Route) =>
  whatCameOf((receiver) => {
    const app = new H3({ silent: true }).post('/webhooks', webhookMiddleware(receiver, route));
    const server = createServer(toNodeHandler(app) as RequestListener).listen(0);
    onTestFinished(() => void server.close());
    return ({ method, headers, body }) =>
      fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`, {
        method,
        headers,
        body,
        duplex: 'half',
      } as RequestInit);
  });

describe.each([
  ['without a server', called],
  ['on Node', onNode],
])('a route behind the adapter for h3 2 %s', (_, returning) => {
  it.each<[string, Route, number]>([
    ['an HTTPError', () => new HTTPError({ status: 503 }), 503],
    ['an Error', () => new Error('no disk'), 500],
    ['an HTTPResponse with 503', () => new HTTPResponse('later', { status: 503 }), 503],
    ['an HTTPResponse after a status of the event', (event) => later(event, new HTTPResponse('later')), 503],
    ['a Response with 503', () => new Response('later', { status: 503 }), 503],
    ['data after a status of the event', (event) => later(event, { later: true }), 503],
    ['the symbol of a missing route', () => Symbol.for('h3.notFound'), 404],
    ...UNSERIALISABLE.map(([what, data]): [string, Route, number] => [`data ${what}`, () => data, 500]),
    ['data whose toJSON() throws', () => new Unreadable(), 500],
  ])('the event is released after %s', async (_, route, expected) => {
    expect(await returning(route)).toEqual({ status: expected, decided: ['failed'] });
  });

  it.each<[string, Route, number]>([
    ['an HTTPResponse', () => new HTTPResponse('done', { status: 202 }), 202],
    ['a Response', () => Response.json({ done: true }), 200],
    ['data with a status', () => ({ status: 500 }), 200],
    ['nothing', () => undefined, 200],
  ])('the event is completed after %s', async (_, route, expected) => {
    expect(await returning(route)).toEqual({ status: expected, decided: ['handled'] });
  });

  it('a PermanentError completes the event, so that no retry runs', async () => {
    expect(await returning(() => new PermanentError('no such clip'))).toEqual({ status: 200, decided: ['discarded'] });
  });
});

it.each<[string, () => unknown]>([
  ['an HTTPResponse', () => new HTTPResponse(breaking())],
  ['a stream of Node', () => Readable.from(generator())],
])('a route of h3 2 without a server releases the event when %s breaks', async (_, route) => {
  expect((await called(route)).decided).toEqual(['failed']);
});

class Unreadable {
  toJSON(): never {
    throw new Error('no disk');
  }
}

function later<Answer>(event: H3Event, answer: Answer): Answer {
  event.res.status = 503;
  return answer;
}

const breaking = () => new ReadableStream({ pull: (controller) => controller.error(new Error('it breaks')) });

async function* generator() {
  yield 'one';
  throw new Error('it breaks');
}
