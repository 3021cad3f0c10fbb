// What a verification costs, beside the least that anybody could do and beside what people would use instead. Every
// contender gets the bytes it likes best, and a signature made for it.
//
//   npm run build && npm ci --prefix bench && node bench/verify.bench.mjs
import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { WebhookVerificationService } from '@hookflo/tern';
import { verify as octokitVerify } from '@octokit/webhooks-methods';
import { Webhook as LettermintWebhook } from 'lettermint';
import { sign, verify, verifyAsync, verifySignature } from 'service-webhooks';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as SvixWebhook } from 'svix';
import { interleaved, ratio } from './interleaved.mjs';
import { report } from './report.mjs';

const SECRET = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const SIZES = { '300 B': 300, '1 KiB': 1024, '16 KiB': 16_384, '256 KiB': 262_144, '1 MiB': 1_048_576 };

/** A goal is a limit to the ratio to another contender, by size. */
const ROWS = [
  { name: 'limit', beside: 'limit' },
  { name: 'limit, by the rules', beside: 'limit' },
  { name: 'verifySignature', beside: 'limit', atMost: (size) => (size < 1024 ? 1.25 : 1.1) },
  { name: 'stripe verifyHeader', beside: 'limit' },
  { name: 'octokit verify, no time', beside: 'limit' },
  { name: 'limit + JSON.parse', beside: 'limit + JSON.parse' },
  { name: 'limit + JSON.parse, by the rules', beside: 'limit + JSON.parse' },
  { name: 'verify', beside: 'limit + JSON.parse', atMost: () => 1.15 },
  { name: 'verifyAsync', beside: 'limit + JSON.parse' },
  { name: 'stripe constructEvent', beside: 'limit + JSON.parse' },
  { name: 'standardwebhooks verify', beside: 'limit + JSON.parse' },
  { name: 'svix verify', beside: 'limit + JSON.parse' },
  { name: 'lettermint verify', beside: 'limit + JSON.parse' },
  { name: 'tern, Request included', beside: 'limit + JSON.parse' },
  {
    name: 'constructEvent, of verify',
    of: 'stripe constructEvent',
    beside: 'verify',
    atLeast: (size) => (size === 1024 ? 1.4 : 1),
  },
];

const ratios = [];
for (const [group, size] of Object.entries(SIZES)) {
  const times = await interleaved(await contendersOf(bodyOf(size)));
  for (const { name, of = name, beside, atMost, atLeast } of ROWS) {
    const limits = { atMost: atMost?.(size), atLeast: atLeast?.(size) };
    ratios.push({ group, name, beside, ...ratio(times[of], times[beside]), ...limits });
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

async function contendersOf(body) {
  const now = Date.now();
  const t = Math.floor(now / 1000);
  const mac = (content, encoding = 'hex') => createHmac('sha256', SECRET).update(content).update(body).digest(encoding);
  const request = {
    host: 'example.com',
    'content-type': 'application/json',
    'content-length': String(body.length),
    accept: '*/*',
    connection: 'keep-alive',
  };

  const ours = {
    headers: {
      ...request,
      ...sign({ body, secret: SECRET, at: now }),
      'idempotency-key': 'evt_01J2Q4Z8R6N3W5Y7T9V1X3B5D7',
      'x-service-webhook-id': 'wh_1',
      'x-service-attempt': '1',
    },
    body,
    secret: SECRET,
  };

  const key = createSecretKey(Buffer.from(SECRET));
  const expected = createHmac('sha256', key).update(`${t}.`).update(body).digest();
  const limit = () => {
    const found = createHmac('sha256', key).update(`${t}.`).update(body).digest();
    if (!timingSafeEqual(found, expected)) throw new Error('no');
  };

  /** By the rules, in as few steps as there can be: one spelling of the name, one form, one secret, no options. */
  const form = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/;
  const limitByTheRules = () => {
    const [, time, claimed] = form.exec(ours.headers['x-service-signature-v2']) ?? [];
    if (!(Math.abs(Date.now() / 1000 - Number(time)) <= 300)) throw new Error('no');
    const found = createHmac('sha256', key).update(`${time}.`).update(body).digest('hex');
    if (!timingSafeEqual(Buffer.from(found), Buffer.from(claimed))) throw new Error('no');
  };

  const strictly = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const isoTime = /^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d(\.\d+)?Z$/;
  const isEnvelope = ({ id, type, version, jobId, data, timestamp }) =>
    typeof id === 'string' &&
    id.startsWith('evt_') &&
    typeof type === 'string' &&
    version === '2026-07-11' &&
    (jobId === null || typeof jobId === 'string') &&
    typeof data === 'object' &&
    data !== null &&
    isoTime.test(timestamp);

  const { webhooks } = new Stripe('sk_test_1');
  const stripeHeader = `t=${t},v1=${mac(`${t}.`)}`;
  const octokitHeader = `sha256=${mac('')}`;
  const text = body.toString();

  const svixKey = Buffer.from(SECRET.slice(6), 'base64');
  const svixMac = createHmac('sha256', svixKey).update(`msg_1.${t}.`).update(body).digest('base64');
  const standardHeaders = { 'webhook-id': 'msg_1', 'webhook-timestamp': `${t}`, 'webhook-signature': `v1,${svixMac}` };
  const svixHeaders = { 'svix-id': 'msg_1', 'svix-timestamp': `${t}`, 'svix-signature': `v1,${svixMac}` };
  const standard = new StandardWebhook(SECRET);
  const svix = new SvixWebhook(SECRET);
  const lettermint = new LettermintWebhook(SECRET);
  const ternHeaders = { 'content-type': 'application/json', 'stripe-signature': stripeHeader };
  const tern = async () => {
    const ternRequest = new Request('https://example.com/', { method: 'POST', headers: ternHeaders, body });
    const { isValid } = await WebhookVerificationService.verifyWithPlatformConfig(ternRequest, 'stripe', SECRET, 300);
    if (!isValid) throw new Error('no');
  };

  const contenders = {
    limit,
    'limit, by the rules': limitByTheRules,
    'limit + JSON.parse': () => {
      limit();
      return JSON.parse(body.toString());
    },
    'limit + JSON.parse, by the rules': () => {
      limitByTheRules();
      const event = JSON.parse(strictly.decode(body));
      if (!isEnvelope(event)) throw new Error('no');
      return event;
    },
    verifySignature: () => verifySignature(ours),
    verify: () => verify(ours),
    verifyAsync: () => verifyAsync(ours),
    'stripe verifyHeader': () => webhooks.signature.verifyHeader(body, stripeHeader, SECRET, 300),
    'stripe constructEvent': () => webhooks.constructEvent(body, stripeHeader, SECRET, 300),
    'octokit verify, no time': async () => {
      if (!(await octokitVerify(SECRET, text, octokitHeader))) throw new Error('no');
    },
    'standardwebhooks verify': () => standard.verify(text, standardHeaders),
    'svix verify': () => svix.verify(text, svixHeaders),
    'lettermint verify': () => lettermint.verify(body, stripeHeader),
    'tern, Request included': tern,
  };
  for (const call of Object.values(contenders)) await call(); // every signature holds
  return contenders;
}
