// The servers that are measured, by framework and name: each gives a listener for Node's `createServer`. All answer the
// same, in the cheapest way there is.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import { verify as octokitVerify } from '@octokit/webhooks-methods';
import express from 'express';
import { Hono } from 'hono';
import Stripe from 'stripe';
import { against, entryOf } from '../library.mjs';

export const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const HEADER = 'x-service-signature-v2';
const LEGACY_HEADER = 'x-service-signature';
const ANSWER = '{"outcome":"handled"}';
const TYPE = { 'content-type': 'application/json' };

const { webhooks } = new Stripe('sk_test_1');
const key = createSecretKey(Buffer.from(SECRET));

/** The HMAC alone, and a compare: no reading of headers but by place, no time, no envelope. */
function bareVerify(header, body) {
  const comma = header.indexOf(',');
  const mac = createHmac('sha256', key)
    .update(`${header.slice(2, comma)}.`)
    .update(body)
    .digest();
  return timingSafeEqual(mac, Buffer.from(header.slice(comma + 4), 'hex'));
}

function answer(res, status = 200) {
  res.writeHead(status, { ...TYPE, 'content-length': ANSWER.length }).end(ANSWER);
}

/** Reads by the events of the request. `then` may name a status, also by a promise. */
function readByHand(then) {
  return (req, res) => {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', async () => answer(res, await then(req, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))));
  };
}

function expressWith(...handlers) {
  const app = express();
  app.post('/webhooks', ...handlers);
  return app;
}

function honoWith(handler) {
  const app = new Hono();
  app.post('/webhooks', handler);
  return getRequestListener(app.fetch);
}

function verifyAndParse(req, body) {
  if (!bareVerify(req.headers[HEADER], body)) return 401;
  JSON.parse(body.toString());
  return 200;
}

async function octokit({ headers }, body) {
  const text = body.toString();
  if (!(await octokitVerify(SECRET, text, headers[LEGACY_HEADER]))) return 400;
  JSON.parse(text);
  return 200;
}

function stripe(req, res) {
  try {
    webhooks.constructEvent(req.body, req.headers[HEADER], SECRET, 300);
  } catch {
    return answer(res, 400);
  }
  return answer(res);
}

/** A receiver of this checkout, or of another, mounted by an adapter. */
const receivers = (adapter, mount) => {
  const served = (checkout, more) => async () => {
    const { webhookHandler } = await entryOf(adapter, checkout);
    return mount(webhookHandler({ secret: SECRET, on: { '*': async () => {} }, ...more }));
  };
  return {
    'dedupe: false': served(undefined, { dedupe: false }),
    'memory store': served(undefined),
    ...(against && {
      'dedupe: false, before': served(against, { dedupe: false }),
      'memory store, before': served(against),
    }),
  };
};

export const servers = {
  Express: {
    bare: () => expressWith(express.json(), (_, res) => answer(res)),
    ...receivers('express', expressWith),
    stripe: () => expressWith(express.raw({ type: '*/*', limit: '5mb' }), stripe),
  },
  'Express, refusing': {
    'at once': () => expressWith((_, res) => answer(res, 401)),
    'by hand': () => expressWith(readByHand((req, body) => (bareVerify(req.headers[HEADER], body) ? 200 : 401))),
  },
  Hono: {
    bare: () =>
      honoWith(async (c) => {
        const body = Buffer.from(await c.req.arrayBuffer());
        if (!bareVerify(c.req.header(HEADER), body)) return c.body(null, 401);
        JSON.parse(body.toString());
        return c.body(ANSWER, 200, TYPE);
      }),
    ...receivers('hono', honoWith),
  },
  'raw Node': {
    bare: () => readByHand(verifyAndParse),
    ...receivers('node', (listener) => listener),
    octokit: () => readByHand(octokit),
  },
};
