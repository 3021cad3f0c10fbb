// What a verification costs, beside the bare HMAC and beside stripe and octokit. Every contender gets the bytes it likes
// best, and a signature made for it. With AGAINST, also beside the library of another checkout.
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { verify as octokitVerify } from '@octokit/webhooks-methods';
import Stripe from 'stripe';
import { interleaved, ratio } from './interleaved.mjs';
import { against, entryOf } from './library.mjs';
import { report } from './report.mjs';

const { sign, verify, verifySignature } = await entryOf('index');
const before = against && (await entryOf('index', against));

// A key of more than 64 bytes is hashed before it is used.
const SECRETS = [24, 70].map((bytes) => 'a1B2c3D4'.repeat(9).slice(0, bytes));
const SIZES = { '1 KiB': 1024, '16 KiB': 16_384, '256 KiB': 262_144 };

/** A goal is a limit to the ratio to another contender, by size. */
const ROWS = [
  { name: 'verifySignature', beside: 'bare HMAC', atMost: (size) => (size <= 1024 ? 1.35 : 1.1) },
  { name: 'stripe verifyHeader', beside: 'bare HMAC' },
  { name: 'stripe verifyHeader', beside: 'verifySignature', atLeast: () => 1 },
  { name: 'verify', beside: 'stripe constructEvent', atMost: (size) => (size <= 1024 ? 1.1 : 1) },
  { name: 'octokit verify', beside: 'verifySignature' },
  ...(before ? ['verifySignature', 'verify'].map((name) => ({ name, beside: `${name}, before` })) : []),
];

const ratios = [];
for (const secret of SECRETS) {
  for (const [label, size] of Object.entries(SIZES)) {
    const group = `${label}, secret of ${secret.length} bytes`;
    const times = await interleaved(await contendersOf(bodyOf(size), secret));
    for (const { name, beside, atMost, atLeast } of ROWS) {
      const limits = { atMost: atMost?.(size), atLeast: atLeast?.(size) };
      ratios.push({ group, name, beside, ...ratio(times[name], times[beside]), ...limits });
    }
  }
}
report('verify', 'npm run bench -- verify', ratios);

function bodyOf(size) {
  const event = {
    id: 'evt_01J2Q4Z8R6N3W5Y7T9V1X3B5D7',
    type: 'generation.completed',
    version: '2026-07-11',
    jobId: 'clip_42',
    data: {
      clipId: 'clip_42',
      feature: 'text-to-speech',
      durationSec: 4.2,
      downloadUrl: 'https://s.example/c',
      rest: [],
    },
    timestamp: '2026-07-11T09:15:00.000Z',
  };
  // Of the kind that JSON is made of, not one long text.
  while (JSON.stringify(event).length < size - 60)
    event.data.rest.push({ index: event.data.rest.length, text: 'some words' });
  const missing = size - JSON.stringify(event).length - ',"x":""'.length;
  return Buffer.from(JSON.stringify(missing > 0 ? { ...event, x: 'x'.repeat(missing) } : event));
}

async function contendersOf(body, secret) {
  const now = Date.now();
  const t = Math.floor(now / 1000);
  const ours = {
    headers: {
      host: 'example.com',
      'content-type': 'application/json',
      'content-length': String(body.length),
      accept: '*/*',
      connection: 'keep-alive',
      ...sign({ body, secret, at: now }),
      'idempotency-key': 'evt_01J2Q4Z8R6N3W5Y7T9V1X3B5D7',
      'x-service-webhook-id': 'wh_1',
      'x-service-attempt': '1',
    },
    body,
    secret,
  };

  const key = createSecretKey(Buffer.from(secret));
  const macOf = (start) => createHmac('sha256', key).update(start).update(body);
  const expected = macOf(`${t}.`).digest();
  const { webhooks } = new Stripe('sk_test_1');
  const stripeHeader = `t=${t},v1=${expected.toString('hex')}`;
  const octokitHeader = `sha256=${macOf('').digest('hex')}`;
  const text = body.toString();

  const contenders = {
    'bare HMAC': () => {
      if (!timingSafeEqual(macOf(`${t}.`).digest(), expected)) throw new Error('no');
    },
    verifySignature: () => verifySignature(ours),
    verify: () => verify(ours),
    'stripe verifyHeader': () => webhooks.signature.verifyHeader(body, stripeHeader, secret, 300),
    'stripe constructEvent': () => webhooks.constructEvent(body, stripeHeader, secret, 300),
    'octokit verify': async () => {
      if (!(await octokitVerify(secret, text, octokitHeader))) throw new Error('no');
    },
    ...(before && {
      'verifySignature, before': () => before.verifySignature(ours),
      'verify, before': () => before.verify(ours),
    }),
  };
  for (const call of Object.values(contenders)) await call(); // every signature is valid
  return contenders;
}
