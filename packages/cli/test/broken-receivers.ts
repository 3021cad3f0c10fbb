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
export function byHand(changes: Partial<Parts> = {}): RequestListener {
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

/** What is left of a body after express.json() and JSON.stringify. */
export function parsedAgain(body: Buffer): Buffer {
  return Buffer.from(JSON.stringify(parse(body)));
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

interface BrokenReceiver {
  name: string;
  create(): RequestListener;
  /** The probes that have to name what is wrong with it, in their order. */
  failed: string[];
  warned?: string[];
}

const broken = (name: string, changes: Partial<Parts>, failed: string[], warned: string[] = []): BrokenReceiver => ({
  ...{ name, create: () => byHand(changes), failed, warned },
});
const without = (...names: string[]) => FORGERIES.filter((name) => !names.includes(name));

export const brokenReceivers: readonly BrokenReceiver[] = [
  broken('parses the body and writes it again', { signed: parsedAgain }, ['good']),
  broken('has another secret', { secrets: ['another'] }, ['good']),
  broken(
    'does not verify at all',
    { isEqual: () => true, toleranceSeconds: Number.POSITIVE_INFINITY },
    without('unsigned', 'empty-signature', 'truncated', 'stripped-v2'),
  ),
  broken('does not look at the time', { toleranceSeconds: Number.POSITIVE_INFINITY }, ['stale', 'future']),
  broken('allows a minute', { toleranceSeconds: 60 }, ['older', 'ahead']),
  broken(
    'accepts the legacy signature too',
    { legacy: 'always' },
    ['stale', 'future', 'moved-time', 'time-not-signed', 'broken-v2'],
    ['stripped-v2'],
  ),
  broken('accepts the legacy signature alone', { legacy: 'without V2' }, [], ['stripped-v2']),
  broken('does not sign the time', { content: (_, body) => body }, ['good']),
  broken('compares as many digits as there are', { isEqual: (given, expected) => expected.startsWith(given) }, [
    'short-signature',
  ]),
  broken('answers 500 to a forgery', { refusal: 500 }, FORGERIES),
  broken('answers 200 to a forgery', { refusal: 200 }, without('stripped-v2'), ['stripped-v2']),
  broken('refuses the types that it does not know', { types: (type) => type === 'generation.completed' }, [
    ...['every-type', 'new-type'],
  ]),
  broken('takes 100 kB', { maxBytes: 100_000 }, ['large']),
  broken(
    'tells events apart by the header',
    { key: (_, headers) => String(headers['idempotency-key']) },
    [],
    ['duplicate-new-key', 'shared-key'],
  ),
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
    name: 'is created for each request',
    create: () => (req, res) => webhookHandler({ secret: SECRET, on: { '*': () => {} } })(req, res),
    failed: ['duplicate', 'duplicate-new-key', 'same-moment'],
  },
  {
    name: 'has dedupe: false',
    create: () => webhookHandler({ secret: SECRET, dedupe: false, on: { '*': () => {} } }),
    failed: ['duplicate', 'duplicate-new-key', 'same-moment'],
  },
  broken('has a second secret that is not set', { secrets: [SECRET, ''] }, ['unset-secret']),
  broken('answers 500 where no JSON comes', { unreadable: 500 }, ['no-event']),
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
