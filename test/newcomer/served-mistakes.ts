import { sign } from 'service-webhooks';
import { bodyOf, SECRET } from '../support/deliveries.js';

/** A mistake in a program that starts and answers, and what its author must see. */
export interface ServedMistake {
  name: string;
  code: string;
  /** The changes of each delivery that is sent, one after the other. Default: one delivery without changes. */
  deliveries?: readonly Parts[];
  /** Status, and the code or the outcome in the body. */
  answers: readonly string[];
  /** What the one entry in the terminal has to contain; undefined where nothing may be printed. */
  entry?: readonly (string | RegExp)[];
}

interface Parts {
  secret?: string;
  event?: Record<string, unknown>;
}

/** No entry may contain it. */
export const PRIVATE_DATA = 'https://storage.example/private-clip';
export const WEBHOOK_PATH = '/webhooks';

/** What is sent to a program: signed at this moment. */
export function newcomerDelivery({ secret = SECRET, event }: Parts = {}) {
  const body = bodyOf({ data: { clipId: 'clip_1', note: PRIVATE_DATA }, ...event });
  const at = Date.now();
  return {
    body,
    headers: { 'content-type': 'application/json', ...sign({ body, secret, at }), 'x-service-attempt': '2' },
    /** With the right secret: whoever has these can forge the delivery. */
    expected: Object.values(sign({ body, secret: SECRET, at })).map((value) => value.replace(/^.*=/, '')),
  };
}

const express = (options: string, before = '', version = 'express') => `
  import express from '${version}';
  import { webhookHandler } from 'service-webhooks/express';
  const secret = process.env.WEBHOOK_SECRET;
  const app = express();
  ${before}
  app.post('/webhooks', webhookHandler({ ${options} }));
  app.listen(3000);`;

const PARSED = [/body parser ran first/, '(body_already_parsed)'];

export const servedMistakes: readonly ServedMistake[] = [
  {
    name: 'express.json() above the receiver',
    code: express("secret, on: { '*'() {} }", 'app.use(express.json());'),
    answers: ['500 body_already_parsed'],
    entry: [...PARSED, 'Mount the receiver above app.use(express.json())'],
  },
  {
    name: 'express.json() above the receiver, in Express 4',
    code: express("secret, on: { '*'() {} }", 'app.use(express.json());', 'express4'),
    answers: ['500 body_already_parsed'],
    entry: [...PARSED, 'Mount the receiver above app.use(express.json())'],
  },
  {
    name: 'a body parser above the receiver, in Koa',
    code: `
      import { json } from 'node:stream/consumers';
      import Koa from 'koa';
      import { webhookHandler } from 'service-webhooks/koa';
      const app = new Koa();
      app.use(async (ctx, next) => { ctx.request.body = await json(ctx.req); await next(); });
      app.use(webhookHandler({ secret: process.env.WEBHOOK_SECRET, on: { '*'() {} } }));
      app.listen(3000);`,
    answers: ['500 body_already_parsed'],
    entry: [...PARSED, 'Mount the receiver above app.use(bodyParser())'],
  },
  {
    name: 'the body read above the receiver, in Hono',
    code: `
      import { Hono } from 'hono';
      import { webhookHandler } from 'service-webhooks/hono';
      const app = new Hono();
      const read = async (c, next) => { await c.req.raw.text(); await next(); };
      app.post('/webhooks', read, webhookHandler({ secret: process.env.WEBHOOK_SECRET, on: { '*'() {} } }));
      export default app;`,
    answers: ['500 body_already_read'],
    entry: [/read before the receiver/, '(body_already_read)'],
  },
  {
    name: 'an onRequest hook that reads the body, in Fastify',
    code: `
      import { text } from 'node:stream/consumers';
      import Fastify from 'fastify';
      import { webhookHandler } from 'service-webhooks/fastify';
      const app = Fastify();
      app.addHook('onRequest', async (request) => { await text(request.raw); });
      app.register(webhookHandler({ secret: process.env.WEBHOOK_SECRET, on: { '*'() {} } }), { prefix: '/webhooks' });
      app.listen({ port: 3000 });`,
    answers: ['500 body_already_read'],
    entry: ['Let no onRequest or preParsing hook read the body', '(body_already_read)'],
  },
  {
    name: 'the secret of another endpoint, three deliveries',
    code: express("secret, on: { '*'() {} }"),
    deliveries: Array<Parts>(3).fill({ secret: 'the secret of another endpoint' }),
    answers: Array<string>(3).fill('401 signature_mismatch'),
    entry: [
      'The signature does not match',
      "this endpoint's secret",
      'npx service-webhooks-cli explain',
      '(signature_mismatch)',
    ],
  },
  {
    name: 'a wrong header prefix',
    code: express("secret, headerPrefix: 'x-acme', on: { '*'() {} }"),
    answers: ['401 missing_signature'],
    entry: ['no x-acme-signature-v2 header, but it has x-service-signature-v2', 'headerPrefix', '(missing_signature)'],
  },
  {
    name: 'a handler that throws',
    code: express("secret, on: { 'stt.completed': () => { throw new RangeError('the disk is full'); } }"),
    answers: ['500 handler_failed'],
    entry: [
      'stt.completed evt_1, attempt 2',
      'RangeError: the disk is full',
      /\n\s+at .*app-\d+\.mjs/,
      '(handler_failed)',
    ],
  },
  {
    name: 'a handler slower than the deadline',
    code: express("secret, deadlineMs: 50, on: { '*': () => new Promise(() => {}) }"),
    deliveries: [{}, {}],
    answers: ['503 handler_timeout', '409 delivery_in_progress'],
    entry: ['stt.completed evt_1, attempt 2', 'deadlineMs (50 ms)', 'goes on', 'a queue', '(handler_timeout)'],
  },
  {
    name: 'data without the fields that the types promise',
    code: express("secret, on: { 'generation.completed': ({ data }) => data.downloadUrl.length }"),
    deliveries: [{ event: { type: 'generation.completed', data: { clipId: 'clip_1', note: PRIVATE_DATA } } }],
    answers: ['500 unexpected_data'],
    entry: ['generation.completed evt_1', 'data.feature of generation.completed', '(unexpected_data)'],
  },
  {
    name: 'a handler for one type only, and three deliveries of another',
    code: express("secret, on: { 'stt.failed': () => {} }"),
    deliveries: [{}, { event: { id: 'evt_2' } }, { event: { id: 'evt_3' } }],
    answers: ['200 ignored', '200 ignored', '200 ignored'],
    entry: [/No handler for stt\.completed: add it or '\*' to on\./, 'the service does not retry it'],
  },
  {
    name: 'on: {}, which is allowed',
    code: express('secret, on: {}'),
    answers: ['200 ignored'],
    entry: ["No handler for stt.completed: add it or '*' to on."],
  },
  {
    name: 'a memory store in production that was not chosen, in an app with two receivers',
    code: `process.env.NODE_ENV = 'production';${express("secret, on: { '*'() {} }", "webhookHandler({ secret, on: { '*'() {} } });")}`,
    answers: ['200 handled'],
    entry: ['NODE_ENV is production', 'after a restart', 'dedupe: { store, name }', 'dedupe: { store: memoryStore() }'],
  },
  {
    name: 'a memory store in production that was chosen, which is allowed',
    code: `process.env.NODE_ENV = 'production';
      import { memoryStore } from 'service-webhooks';
      ${express("secret, on: { '*'() {} }, dedupe: { store: memoryStore() }")}`,
    answers: ['200 handled'],
  },
  {
    name: 'a route of Next whose secret function finds no secret, which a build loads without an error',
    code: `
      import { webhookHandler } from 'service-webhooks/next';
      const secret = async () => [process.env.NO_SUCH_VARIABLE ?? ''];
      export const POST = webhookHandler({ secret, on: { '*'() {} } });`,
    answers: ['500 invalid_secret'],
    entry: ['secret[0] is empty', 'environment variable', '(invalid_secret)'],
  },
];
