import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { Elysia } from 'elysia';
import express from 'express';
import fastify from 'fastify';
import * as h3v2 from 'h3';
import { toNodeHandler } from 'h3/node';
import * as h3v1 from 'h3v1';
import { Hono } from 'hono';
import Koa from 'koa';
import { createReceiver, type Outcome, type Receiver } from 'service-webhooks';
import * as awsLambda from 'service-webhooks/aws-lambda';
import * as azureFunctions from 'service-webhooks/azure-functions';
import * as elysiaAdapter from 'service-webhooks/elysia';
import * as expressAdapter from 'service-webhooks/express';
import * as fastifyAdapter from 'service-webhooks/fastify';
import * as fetchAdapter from 'service-webhooks/fetch';
import * as h3Adapter from 'service-webhooks/h3';
import * as honoAdapter from 'service-webhooks/hono';
import * as koaAdapter from 'service-webhooks/koa';
import * as nextAdapter from 'service-webhooks/next';
import * as nextPages from 'service-webhooks/next-pages';
import * as nodeAdapter from 'service-webhooks/node';
import { sampleEvent, signDelivery, toRequest } from 'service-webhooks/testing';
import { describe, expect, it } from 'vitest';
import { SECRET } from '../../support/deliveries.js';
import { server as serveHono } from '../mounts/hono.js';
import { listenNode } from '../mounts/listen.js';

/** A handler of any adapter, which the compiler would refuse in most of the places below. */
// biome-ignore lint/suspicious/noExplicitAny: that is the mistake
type AnyHandler = (...args: any[]) => any;

const ADAPTERS: Record<string, { webhookHandler(receiver: Receiver): AnyHandler; webhookMiddleware: AnyHandler }> = {
  'aws-lambda': awsLambda,
  'azure-functions': azureFunctions,
  elysia: elysiaAdapter,
  express: expressAdapter,
  fastify: fastifyAdapter,
  fetch: fetchAdapter,
  h3: h3Adapter,
  hono: honoAdapter,
  koa: koaAdapter,
  next: nextAdapter,
  'next-pages': nextPages,
  node: nodeAdapter,
};

interface Framework {
  /** The adapters that are right there. */
  right: readonly string[];
  /** The end of the message, which names the framework and the import. */
  says: string;
  /** Serves a handler as an app of the framework does, and sends it a delivery. */
  deliver(handler: AnyHandler, request: Request): Promise<number>;
}

const overHttp = (listener: RequestListener, request: Request) => send(listenNode(listener), request);

async function send(listening: ReturnType<typeof listenNode>, request: Request): Promise<number> {
  const { port, close } = await listening;
  const { method, headers } = request;
  const url = `http://127.0.0.1:${port}/webhooks`;
  const { status } = await fetch(url, { method, headers, body: await request.arrayBuffer() });
  await close();
  return status;
}

const express4: typeof express = createRequire(import.meta.url)('express4');
const NODE = ['express', 'next-pages', 'node'];

const onExpress = (create: typeof express): Framework => ({
  right: NODE,
  says: 'This is a request of Express: import from service-webhooks/express, and in Nest from service-webhooks/nest.',
  deliver: (handler, request) => overHttp(create().post('/webhooks', handler), request),
});

const FRAMEWORKS: Record<string, Framework> = {
  'Express 4': onExpress(express4),
  'Express 5': onExpress(express),
  Node: {
    right: NODE,
    says: 'This is a request of Node: import from service-webhooks/node.',
    deliver: (handler, request) => overHttp((req, res) => void handler(req, res), request),
  },
  'an API route of Next': {
    right: NODE,
    says: 'as in an API route of Next: import from service-webhooks/next-pages, or elsewhere from service-webhooks/node.',
    deliver: (handler, request) =>
      overHttp((req, res) => void handler(req, Object.assign(res, { json() {}, status() {} })), request),
  },
  'the App Router of Next': {
    right: ['fetch', 'next', 'azure-functions'],
    says: 'This is a Fetch Request: import from service-webhooks/fetch, and in the App Router of Next from service-webhooks/next.',
    deliver: async (handler, request) => (await handler(request, { params: Promise.resolve({}) })).status,
  },
  'an endpoint of SvelteKit': {
    right: ['elysia'],
    says: 'import from service-webhooks/fetch, and pass only the request, as in ({ request }) => receive(request).',
    deliver: async (handler, request) => (await handler({ request, params: {}, locals: {} })).status,
  },
  Hono: {
    right: ['hono'],
    says: 'This is a Hono context: import from service-webhooks/hono.',
    deliver: (handler, request) => send(serveHono(new Hono().post('/webhooks', handler)) as never, request),
  },
  Koa: {
    right: ['koa'],
    says: 'This is a Koa context: import from service-webhooks/koa.',
    deliver: (handler, request) => overHttp(new Koa().use(handler).callback() as RequestListener, request),
  },
  'a route of Fastify': {
    right: [],
    says: "import from service-webhooks/fastify, and register the plugin, as in app.register(webhookHandler(…), { prefix: '/webhooks' }).",
    async deliver(handler, request) {
      const app = fastify();
      app.post('/webhooks', handler);
      await app.ready();
      return overHttp(app.routing as RequestListener, request);
    },
  },
  'h3 1': {
    right: ['h3'],
    says: 'This is an event of h3: import from service-webhooks/h3.',
    deliver: (handler, request) =>
      overHttp(h3v1.toNodeListener(h3v1.createApp().use('/webhooks', h3v1.eventHandler(handler))), request),
  },
  'h3 2, as middleware': {
    right: ['h3'],
    says: 'This is an event of h3: import from service-webhooks/h3.',
    deliver: (handler, request) =>
      overHttp(toNodeHandler(new h3v2.H3().use('/webhooks', handler)) as RequestListener, request),
  },
  'h3 2': {
    right: ['h3'],
    says: 'This is an event of h3: import from service-webhooks/h3.',
    deliver: (handler, request) =>
      overHttp(toNodeHandler(new h3v2.H3().post('/webhooks', handler)) as RequestListener, request),
  },
  Elysia: {
    right: ['elysia'],
    says: 'This is an Elysia context: import from service-webhooks/elysia.',
    deliver: async (handler, request) =>
      (await new Elysia().post('/webhooks', (context) => handler(context)).handle(request)).status,
  },
  'Azure Functions': {
    right: ['azure-functions', 'fetch', 'next'], // its request has the form of a Fetch Request
    says: 'This is a request of Azure Functions: import from service-webhooks/azure-functions.',
    deliver: async (handler, request) => (await handler(request, { invocationId: '1' })).status,
  },
  'AWS Lambda': {
    right: ['aws-lambda'],
    says: 'This is an event of AWS Lambda: import from service-webhooks/aws-lambda.',
    async deliver(handler, request) {
      const event = {
        requestContext: { http: { method: 'POST' } },
        headers: Object.fromEntries(request.headers),
        body: await request.text(),
      };
      return (await handler(event, {})).status;
    },
  },
};

function aReceiver() {
  const outcomes: Outcome[] = [];
  const printed: string[] = [];
  const print = (message: string) => void printed.push(message);
  const logger = { error: print, warn: print };
  const handled: string[] = [];
  const on = { '*': ({ id }: { id: string }) => void handled.push(id) };
  const receiver = createReceiver({ secret: SECRET, on, logger, observe: (outcome) => void outcomes.push(outcome) });
  return { receiver, printed, outcomes, handled };
}

const aRequest = () =>
  toRequest(signDelivery({ event: sampleEvent('stt.completed'), secret: SECRET }), 'http://localhost/webhooks');

/** How many arguments each framework passes to a handler and to middleware: some count the parameters before they call. */
const PARAMETERS: Record<string, [handler: number, middleware: number]> = {
  'aws-lambda': [1, 1],
  'azure-functions': [1, 1],
  elysia: [1, 1],
  express: [2, 3],
  fastify: [1, 1],
  fetch: [1, 1],
  h3: [1, 1],
  hono: [1, 2],
  koa: [1, 2],
  next: [1, 1],
  'next-pages': [2, 2],
  node: [2, 3],
};

it.each(Object.entries(ADAPTERS))('the endpoints of %s declare the arguments that they take', (name, adapter) => {
  const { receiver } = aReceiver();
  const endpoints = [adapter.webhookHandler(receiver), adapter.webhookMiddleware(receiver, () => {})];
  expect(endpoints.map(({ length }) => length)).toEqual(PARAMETERS[name]);
});

describe.each(Object.entries(FRAMEWORKS))('%s', (_, { right, says, deliver }) => {
  const wrong = Object.keys(ADAPTERS).filter((name) => !right.includes(name));
  // Elysia reads the source of its handler, which must take the request alone: nothing else is left to tell callers apart.
  const named = wrong.filter((name) => name !== 'elysia');

  it.each(named)('the webhookHandler of %s is refused with the right import, and the service retries', async (name) => {
    const { receiver, printed, outcomes, handled } = aReceiver();
    const status = await deliver((ADAPTERS[name] as (typeof ADAPTERS)[string]).webhookHandler(receiver), aRequest());
    expect(status).toBe(500);
    expect(printed).toEqual([expect.stringContaining(`${says} (wrong_adapter)`)]);
    expect(outcomes).toMatchObject([{ kind: 'failed', error: { code: 'wrong_adapter', retryable: false } }]);
    expect(handled).toEqual([]);
  });

  it.each(named)('the webhookMiddleware of %s is refused too, and its route does not run', async (name) => {
    const { receiver, printed, handled } = aReceiver();
    const middleware = (ADAPTERS[name] as (typeof ADAPTERS)[string]).webhookMiddleware(receiver, () => {
      handled.push('route');
    });
    expect(await deliver(middleware, aRequest())).toBe(500);
    expect(printed).toEqual([expect.stringContaining(`${says} (wrong_adapter)`)]);
    expect(handled).toEqual([]);
  });

  it.each(right)('the webhookHandler of %s is not refused', async (name) => {
    const { receiver, printed, handled } = aReceiver();
    await deliver((ADAPTERS[name] as (typeof ADAPTERS)[string]).webhookHandler(receiver), aRequest());
    expect(printed.join()).not.toContain('wrong_adapter');
    expect(handled.length + printed.length).toBeGreaterThan(0);
  });
});

describe('an adapter that is registered as a plugin of Fastify', () => {
  const wrong = Object.keys(ADAPTERS).filter((name) => !['fastify', 'elysia'].includes(name));

  it.each(wrong)('the app does not start with that of %s, and the error names the right import', async (name) => {
    const { webhookHandler } = ADAPTERS[name] as (typeof ADAPTERS)[string];
    const app = fastify();
    app.register(webhookHandler(aReceiver().receiver), { prefix: '/webhooks' });
    await expect(app.ready()).rejects.toThrow(
      'This is a Fastify instance: import from service-webhooks/fastify. (wrong_adapter)',
    );
  });
});
