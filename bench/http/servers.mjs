// The servers that are measured, by framework and name: each gives a listener for Node's `createServer`. All answer the
// same, in the cheapest way there is.
import { createHmac, createSecretKey, hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import { Hono } from 'hono';
import { verify } from 'service-webhooks';
import { webhookHandler as onExpress } from 'service-webhooks/express';
import { webhookHandler as onHono } from 'service-webhooks/hono';
import { webhookHandler as onNode } from 'service-webhooks/node';
import Stripe from 'stripe';

export const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const HEADER = 'x-service-signature-v2';
const ANSWER = '{"outcome":"handled"}';
const MIB = 1024 * 1024;
const TYPE = { 'content-type': 'application/json' };

const handler = async () => {};
const ours = (more) => ({ secret: SECRET, on: { '*': handler }, ...more });
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

/** Reads by the events of the request. `then` may tell a status. */
function readByHand(then) {
  return (req, res) => {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => answer(res, then(req, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))));
  };
}

/** The same with a limit of time for the body, and one for a handler: so that nothing can hold it up for ever. */
function readInTime(then) {
  return (req, res) => {
    const chunks = [];
    const overdue = setTimeout(() => req.destroy(), 10_000);
    req.on('error', () => clearTimeout(overdue));
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', async () => {
      clearTimeout(overdue);
      then(req, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      const late = setTimeout(() => answer(res, 503), 15_000);
      await handler();
      clearTimeout(late);
      answer(res);
    });
  };
}

/** Cheaper than a dot behind Express, as adapters/shared/ask.ts has it. */
const ask = Reflect.get;

/** The body, or a rejection with the status to answer: too long, broken off, too late or read by somebody else. */
function bodyInTime(req) {
  return new Promise((resolve, reject) => {
    const kept = ask(req, 'rawBody');
    if (kept) return resolve(kept);
    if (ask(req, 'readableDidRead') || !ask(req, 'readable')) {
      return reject(Object.assign(new Error('no body'), { status: 500 }));
    }
    const chunks = [];
    let size = 0;
    const stop = (status) => {
      clearTimeout(overdue);
      reject(Object.assign(new Error('no body'), { status }));
    };
    const overdue = setTimeout(stop, 10_000, 408);
    const broken = () => stop(400);
    req.on('error', broken).on('close', () => req.readableEnded || broken());
    req.on('data', (chunk) => {
      size += chunk.length;
      if (size > 5 * MIB) stop(413);
      else chunks.push(chunk);
    });
    req.on('end', () => {
      clearTimeout(overdue);
      resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    });
  });
}

/**
 * The status to answer, by every duty of a receiver without dedupe in the fewest steps: a body that is too long, breaks
 * off or does not come, a signature that does not hold, a handler that throws or does not end.
 */
async function statusOf(req, handle) {
  const end = performance.now() + 15_000;
  try {
    const body = await bodyInTime(req);
    const delivery = verify({ headers: req.headers, body, secret: SECRET });
    return await handle(delivery, end - performance.now());
  } catch (error) {
    return error.status ?? 500;
  }
}

function handleInTime(delivery, ms) {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    const late = setTimeout(() => {
      stop.abort();
      resolve(503);
    }, ms);
    const end = (how) => (value) => {
      clearTimeout(late);
      how(value);
    };
    handler(delivery.event, { delivery, attempt: 1, fence: 0, stop }).then(
      end(() => resolve(200)),
      end(reject),
    );
  });
}

/**
 * An event is taken by one owner for a time that is renewed, remembered when it is done, and given back where that
 * fails. No end of the memory, no limit to the time of a store, since a Map is there at once.
 */
async function handleOnce(delivery, ms) {
  const { event, body, unsigned } = delivery;
  const known = seen.get(event.id);
  if (known?.done) return 200;
  if (known && known.leaseUntil > Date.now()) return 409;
  const fingerprint = hash('sha256', body);
  const alias = hash('sha256', unsigned.idempotencyKey ?? '');
  const fence = (known?.fence ?? 0) + 1;
  const entry = { done: false, token: randomUUID(), fence, leaseUntil: Date.now() + 25_000, fingerprint, alias };
  seen.set(event.id, entry);
  const renewal = setInterval(() => (entry.leaseUntil = Date.now() + 25_000), 8_000).unref();
  const status = await handleInTime(delivery, ms).catch(() => 500);
  clearInterval(renewal);
  if (status === 500) entry.leaseUntil = 0;
  entry.done = status === 200; // one that is late keeps its lease
  return status;
}

/** The same memory as a store that could be another one: it is asked, and may be asked twice. */
const rows = new Map();
const store = {
  async claim(id, owner, fingerprint, alias) {
    const row = rows.get(id);
    if (row?.done) return { status: 'completed' };
    if (row && row.owner !== owner && row.leaseUntil > Date.now()) return { status: 'in_progress' };
    const fence = (row?.fence ?? 0) + 1;
    rows.set(id, { done: false, owner, fence, leaseUntil: Date.now() + 25_000, fingerprint, alias });
    return { status: 'acquired', fence };
  },
  async extend(id, owner) {
    const row = rows.get(id);
    if (row?.owner === owner) row.leaseUntil = Date.now() + 25_000;
  },
  async complete(id, owner) {
    const row = rows.get(id);
    if (row?.owner === owner) row.done = true;
  },
  async release(id, owner) {
    const row = rows.get(id);
    if (row?.owner === owner) row.leaseUntil = 0;
  },
};

/** No store is waited for longer than two seconds. */
function askInTime(call) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('timeout')), 2_000).unref();
    const end = (how) => (value) => {
      clearTimeout(late);
      how(value);
    };
    call().then(end(resolve), end(reject));
  });
}

async function handleOnceByStore(delivery, ms) {
  const { event, body, unsigned } = delivery;
  const { id } = event;
  const owner = randomUUID();
  const [fingerprint, alias] = [hash('sha256', body), hash('sha256', unsigned.idempotencyKey ?? '')];
  const claim = () => askInTime(() => store.claim(id, owner, fingerprint, alias));
  const claimed = await claim().catch(claim);
  if (claimed.status !== 'acquired') return claimed.status === 'completed' ? 200 : 409;
  const renewal = setInterval(() => askInTime(() => store.extend(id, owner)), 8_000).unref();
  const status = await handleInTime(delivery, ms).catch(() => 500);
  clearInterval(renewal);
  if (status === 200) await askInTime(() => store.complete(id, owner)).catch(() => {});
  if (status === 500) await askInTime(() => store.release(id, owner)).catch(() => {});
  return status;
}

const dutifully = (handle) => async (req, res) => {
  const status = await statusOf(req, handle);
  if (!ask(res, 'headersSent') && !ask(res, 'destroyed')) answer(res, status);
};
const dutifullyOnHono = (handle) => honoWith(async (c) => c.body(ANSWER, await statusOf(c.env.incoming, handle), TYPE));

function expressWith(...handlers) {
  const app = express();
  app.post('/webhooks', ...handlers);
  return app;
}

function readWhole(then) {
  return async (c) => {
    then(c.req.raw, Buffer.from(await c.req.arrayBuffer()));
    return c.body(ANSWER, 200, TYPE);
  };
}

function honoWith(handler) {
  const app = new Hono();
  app.post('/webhooks', handler);
  return getRequestListener(app.fetch);
}

/** On Hono; a limit of time for the body and one for a handler, as {@link readInTime}. */
function readWholeInTime(then) {
  return async (c) => {
    const overdue = setTimeout(() => c.env.incoming.destroy(), 10_000);
    const body = Buffer.from(await c.req.arrayBuffer());
    clearTimeout(overdue);
    then(c.req.raw, body);
    const late = setTimeout(() => c.env.incoming.destroy(), 15_000);
    await handler();
    clearTimeout(late);
    return c.body(ANSWER, 200, TYPE);
  };
}

const parse = (_, body) => {
  JSON.parse(body.toString());
};
const verifyAndParse = (req, body) => {
  if (!bareVerify(req.headers[HEADER], body)) return 401;
  JSON.parse(body.toString());
  return 200;
};
/** What any receiver on this library has to do: no cap, no dedupe, no notices. */
const verifyAlone = ({ headers }, body) => {
  verify({ headers, body, secret: SECRET });
};
/** And what any receiver with a memory has to do: no leases, no owner, no end of the memory. */
const seen = new Map();
const verifyAndRemember = ({ headers }, body) => {
  const { event } = verify({ headers, body, secret: SECRET });
  if (seen.has(event.id)) throw new Error('twice');
  seen.set(event.id, { fingerprint: hash('sha256', body), at: Date.now() });
};
const raw = () => express.raw({ type: '*/*', limit: '5mb' });

export const servers = {
  Express: {
    bare: () => expressWith(express.json(), (_, res) => answer(res)),
    'bare, read by hand': () => expressWith(readByHand(parse)),
    ceiling: () => expressWith(readByHand(verifyAndParse)),
    'verify alone': () => expressWith(readByHand(verifyAlone)),
    'verify, time limits': () => expressWith(readInTime(verifyAlone)),
    'verify, time limits, a Map': () => expressWith(readInTime(verifyAndRemember)),
    'verify, every duty': () => expressWith(dutifully(handleInTime)),
    'verify, every duty, a Map': () => expressWith(dutifully(handleOnce)),
    'verify, every duty, a store': () => expressWith(dutifully(handleOnceByStore)),
    'dedupe: false': () => expressWith(onExpress(ours({ dedupe: false }))),
    'memory store': () => expressWith(onExpress(ours())),
    'express.raw() and stripe': () =>
      expressWith(raw(), (req, res) => {
        try {
          webhooks.constructEvent(req.body, req.headers[HEADER], SECRET, 300);
        } catch {
          return answer(res, 400);
        }
        return answer(res);
      }),
  },
  'Express, refusing': {
    'at once': () => expressWith((_, res) => answer(res, 401)),
    'by hand': () => expressWith(readByHand((req, body) => (bareVerify(req.headers[HEADER], body) ? 200 : 401))),
  },
  Hono: {
    bare: () =>
      honoWith(async (c) => {
        await c.req.json();
        return c.body(ANSWER, 200, TYPE);
      }),
    ceiling: () =>
      honoWith(async (c) => {
        const body = Buffer.from(await c.req.arrayBuffer());
        if (!bareVerify(c.req.header(HEADER), body)) return c.body(null, 401);
        JSON.parse(body.toString());
        return c.body(ANSWER, 200, TYPE);
      }),
    'verify alone': () => honoWith(readWhole(verifyAlone)),
    'verify, time limits': () => honoWith(readWholeInTime(verifyAlone)),
    'verify, time limits, a Map': () => honoWith(readWholeInTime(verifyAndRemember)),
    'verify, every duty': () => dutifullyOnHono(handleInTime),
    'verify, every duty, a Map': () => dutifullyOnHono(handleOnce),
    'verify, every duty, a store': () => dutifullyOnHono(handleOnceByStore),
    'dedupe: false': () => honoWith(onHono(ours({ dedupe: false }))),
    'memory store': () => honoWith(onHono(ours())),
  },
  'raw Node': {
    bare: () => readByHand(parse),
    ceiling: () => readByHand(verifyAndParse),
    'verify alone': () => readByHand(verifyAlone),
    'verify, time limits': () => readInTime(verifyAlone),
    'verify, time limits, a Map': () => readInTime(verifyAndRemember),
    'verify, every duty': () => dutifully(handleInTime),
    'verify, every duty, a Map': () => dutifully(handleOnce),
    'verify, every duty, a store': () => dutifully(handleOnceByStore),
    'dedupe: false': () => onNode(ours({ dedupe: false })),
    'memory store': () => onNode(ours()),
  },
};
