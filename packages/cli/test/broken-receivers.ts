import { createHmac } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { createReceiver } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { SECRET } from '../../../test/support/deliveries.js';

/** What a receiver decides with, each part as people get it wrong. */
interface Parts {
  /** The bytes that are verified. */
  signed(body: Buffer): Buffer;
  secrets: string[];
  toleranceSeconds: number;
  /** Whether a legacy signature is enough. */
  legacy: 'never' | 'without V2' | 'always';
  /** What is signed in V2. */
  content(t: string, body: Buffer): Buffer;
  isEqual(given: string, expected: string): boolean;
  refusal: number;
  /** What an event is told from others by; undefined: not at all. */
  key(event: { id?: string }, headers: IncomingMessage['headers']): string | undefined;
  types(type: string): boolean;
  maxBytes: number;
  /** The answer to what is no JSON. */
  unreadable: number;
}

const RIGHT: Parts = {
  signed: (body) => body,
  secrets: [SECRET],
  toleranceSeconds: 300,
  legacy: 'never',
  content: (t, body) => Buffer.concat([Buffer.from(`${t}.`), body]),
  isEqual: (given, expected) => given === expected,
  refusal: 401,
  key: ({ id }) => id,
  types: () => true,
  maxBytes: 5_000_000,
  unreadable: 400,
};

/** A receiver that somebody wrote by hand. */
function byHand(changes: Partial<Parts> = {}): RequestListener {
  const parts = { ...RIGHT, ...changes };
  const { signed, secrets, toleranceSeconds, legacy, content, isEqual, refusal, key, types, maxBytes, unreadable } =
    parts;
  const done = new Set<string>();
  const holds = (given: string, bytes: Uint8Array) =>
    secrets.some((secret) => isEqual(given, createHmac('sha256', secret).update(bytes).digest('hex')));
  return async (req, res) => {
    const chunks: Buffer[] | undefined = await req.toArray().catch(() => undefined);
    if (chunks === undefined) return;
    const whole = Buffer.concat(chunks);
    if (whole.length > maxBytes) return void res.writeHead(413).end();
    const body = signed(whole);
    const v2 = header(req, 'x-service-signature-v2');
    const t = /^t=(\d+)/.exec(v2)?.[1] ?? 'x';
    const inTime = Math.abs(Date.now() / 1000 - Number(t)) <= toleranceSeconds;
    const macs = [...v2.matchAll(/,v1=([0-9a-f]*)/g)].map(([, mac = '']) => mac);
    const holdsV2 = inTime && macs.some((mac) => holds(mac, content(t, body)));
    const old = header(req, 'x-service-signature').replace('sha256=', '');
    const holdsOld = (legacy === 'always' || (legacy === 'without V2' && v2 === '')) && holds(old, body);
    if (!holdsV2 && !holdsOld) return void res.writeHead(refusal).end();
    const event = parse(body);
    if (event === undefined) return void res.writeHead(unreadable).end();
    if (!types(event.type ?? '')) return void res.writeHead(400).end();
    const known = key(event, req.headers);
    if (known !== undefined && done.has(known)) return void res.setHeader('Idempotency-Replayed', 'true').end();
    if (known !== undefined) done.add(known);
    res.end();
  };
}

function header(req: IncomingMessage, name: string): string {
  return String(req.headers[name] ?? '');
}

function parse(body: Buffer): { id?: string; type?: string } | undefined {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

/** What has to be refused, by the name of its probe. */
const FORGERIES = [
  'unsigned',
  'empty-signature',
  'wrong-secret',
  'unset-secret',
  'flipped-bit',
  'truncated',
  'stale',
  'future',
  'moved-time',
  'time-not-signed',
  'stripped-v2',
  'broken-v2',
  'short-signature',
  'many-signatures',
  'large-forgery',
];

/** Each with the probes that have to name what is wrong with it, in their order. */
export const brokenReceivers: readonly {
  name: string;
  create(): RequestListener;
  failed: string[];
  warned?: string[];
}[] = [
  {
    name: 'parses the body and writes it again',
    create: () => byHand({ signed: (body) => Buffer.from(JSON.stringify(parse(body))) }),
    failed: ['good'],
  },
  { name: 'has another secret', create: () => byHand({ secrets: ['another'] }), failed: ['good'] },
  {
    name: 'does not verify at all',
    create: () => byHand({ isEqual: () => true, toleranceSeconds: Number.POSITIVE_INFINITY }),
    failed: FORGERIES.filter((name) => !['unsigned', 'empty-signature', 'truncated', 'stripped-v2'].includes(name)),
  },
  {
    name: 'does not look at the time',
    create: () => byHand({ toleranceSeconds: Number.POSITIVE_INFINITY }),
    failed: ['stale', 'future'],
  },
  { name: 'allows a minute', create: () => byHand({ toleranceSeconds: 60 }), failed: ['older', 'ahead'] },
  {
    name: 'accepts the legacy signature too',
    create: () => byHand({ legacy: 'always' }),
    failed: ['stale', 'future', 'moved-time', 'time-not-signed', 'broken-v2'],
    warned: ['stripped-v2'],
  },
  {
    name: 'accepts the legacy signature alone',
    create: () => byHand({ legacy: 'without V2' }),
    failed: [],
    warned: ['stripped-v2'],
  },
  {
    name: 'does not sign the time',
    create: () => byHand({ content: (_, body) => body }),
    failed: ['good'],
  },
  {
    name: 'compares as many digits as there are',
    create: () => byHand({ isEqual: (given, expected) => expected.startsWith(given) }),
    failed: ['short-signature'],
  },
  { name: 'answers 500 to a forgery', create: () => byHand({ refusal: 500 }), failed: FORGERIES },
  {
    name: 'answers 200 to a forgery',
    create: () => byHand({ refusal: 200 }),
    failed: FORGERIES.filter((name) => name !== 'stripped-v2'),
    warned: ['stripped-v2'],
  },
  {
    name: 'refuses the types that it does not know',
    create: () => byHand({ types: (type) => type === 'generation.completed' }),
    failed: ['every-type', 'new-type'],
  },
  { name: 'takes 100 kB', create: () => byHand({ maxBytes: 100_000 }), failed: ['large'] },
  {
    name: 'tells events apart by the header',
    create: () => byHand({ key: (_, headers) => String(headers['idempotency-key']) }),
    failed: [],
    warned: ['duplicate-new-key', 'shared-key'],
  },
  {
    name: 'does its work twice and says so',
    create: () => {
      const seen = new Set<string>();
      const on = {
        '*': (event: { id: string }) => {
          if (seen.has(event.id)) throw new Error('twice');
          seen.add(event.id);
        },
      };
      return webhookHandler(createReceiver({ secret: SECRET, dedupe: false, on }));
    },
    failed: ['duplicate', 'duplicate-new-key', 'same-moment'],
  },
  {
    name: 'has a second secret that is not set',
    create: () => byHand({ secrets: [SECRET, ''] }),
    failed: ['unset-secret'],
  },
  {
    name: 'answers 500 where no JSON comes',
    create: () => byHand({ unreadable: 500 }),
    failed: ['no-event'],
  },
  {
    name: 'stops when a client goes away',
    create: () => {
      const inner = byHand();
      let stopped = false;
      return (req, res) => {
        req.on('error', () => {
          stopped = true;
        });
        if (stopped) res.writeHead(502).end();
        else inner(req, res);
      };
    },
    failed: ['broken-off', 'no-event'],
  },
];
