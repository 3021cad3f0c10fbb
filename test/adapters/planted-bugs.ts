import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BegunDelivery, WebhookRequest, WebhookResponse } from 'service-webhooks';
import type { AppUnderTest, ServedApp } from 'service-webhooks/testing';
import { listenNode } from './mounts/listen.js';

/** An adapter in parts, each of which can be exchanged for a wrong one. */
interface Parts {
  bodyOf(req: IncomingMessage & { body?: unknown }): WebhookRequest['body'] | Promise<WebhookRequest['body']>;
  answer(res: ServerResponse, response: WebhookResponse): void;
  /** Ends the claim of a delivery whose route is about to run. */
  settle(res: ServerResponse, begun: BegunDelivery): void;
  handOn(begun: BegunDelivery): BegunDelivery['delivery'];
}

const right: Parts = {
  bodyOf: (req) => (req.readableDidRead ? (req.body as string) : req),
  answer(res, { status, headers, body }) {
    res.writeHead(status, headers).end(body);
  },
  settle(res, begun) {
    res.once('finish', () => begun.settle(res.statusCode < 300 ? 'ok' : 'failed'));
    res.once('close', () => begun.settle('unknown'));
  },
  handOn: ({ delivery }) => delivery,
};

/** Without a bug it passes every case. */
export function serveParts(form: 'handler' | 'middleware', planted: Partial<Parts> = {}) {
  const { bodyOf, answer, settle, handOn } = { ...right, ...planted };
  return ({ receiver, before, route }: AppUnderTest): Promise<ServedApp> =>
    listenNode(async (req, res) => {
      if (before === 'parser') Object.assign(req, { body: JSON.parse((await read(req)).toString()) });
      const { method = '', headers } = req;
      const rawBodyFix = 'Do not parse it.';
      const request = { method, headers, body: await bodyOf(req), rawBodyFix };
      if (form === 'handler') return answer(res, await receiver(request));
      const begun = await receiver.begin(request);
      if ('response' in begun) return answer(res, begun.response);
      settle(res, begun);
      try {
        res.writeHead(await route(handOn(begun))).end();
      } catch (error) {
        answer(res, await begun.settle('failed', error));
      }
    });
}

/** One bug each, with a case of the suite that has to catch it. */
export const PLANTED_BUGS: Readonly<
  Record<string, { form: 'handler' | 'middleware'; parts: Partial<Parts>; caughtBy: string }>
> = {
  'writes the parsed body again': {
    form: 'handler',
    parts: { bodyOf: async (req) => JSON.stringify(JSON.parse((await read(req)).toString())) },
    caughtBy: 'the work receives the exact bytes that were sent',
  },
  'writes a body again that somebody has parsed': {
    form: 'handler',
    parts: { bodyOf: (req) => (req.body ? JSON.stringify(req.body) : req) },
    caughtBy: 'a body that other code has read is refused, unless its bytes are still available',
  },
  'decodes the body': {
    form: 'handler',
    parts: { bodyOf: async (req) => (await read(req)).toString('utf8') },
    caughtBy: 'a body that is not UTF-8 is verified as it is',
  },
  'takes off a byte order mark': {
    form: 'handler',
    parts: { bodyOf: async (req) => new TextDecoder().decode(await read(req)) },
    caughtBy: 'a byte order mark is verified as part of the body',
  },
  'takes the first piece for the whole': {
    form: 'handler',
    parts: {
      async bodyOf(req) {
        for await (const piece of req) return piece;
        return '';
      },
    },
    caughtBy: 'a body that arrives in chunks, without a length and split within a character, is verified',
  },
  'reads nothing where no content type is known': {
    form: 'handler',
    parts: { bodyOf: (req) => (req.headers['content-type']?.includes('json') ? req : '') },
    caughtBy: 'a body is accepted with any content type',
  },
  'has a limit of its own': {
    form: 'handler',
    parts: { bodyOf: async (req) => (await read(req)).subarray(0, 1024 * 1024) },
    caughtBy: 'a body of 5 MiB is accepted, whatever the default limit of the framework is',
  },
  'takes an upload that broke off for a whole one': {
    form: 'handler',
    parts: { bodyOf: (req) => read(req).catch(() => 'half') },
    caughtBy: 'no work runs for an upload that breaks off, and the app continues to receive',
  },
  'acknowledges everything': {
    form: 'handler',
    parts: { answer: (res, { headers, body }) => void res.writeHead(200, headers).end(body) },
    caughtBy: 'a delivery with a missing, wrong or old signature is refused, and nothing works on it',
  },
  'drops the headers of the answer': {
    form: 'handler',
    parts: { answer: (res, { status, body }) => void res.writeHead(status).end(body) },
    caughtBy: 'a method other than POST is answered 405, with the method that is allowed',
  },
  'completes whatever the route answers': {
    form: 'middleware',
    parts: { settle: (res, begun) => void res.once('finish', () => begun.settle('ok')) },
    caughtBy: 'an event whose route answers other than 2xx is released, and that answer is unchanged',
  },
  'completes before the route has run': {
    form: 'middleware',
    parts: { settle: (_, begun) => void begun.settle('ok') },
    caughtBy: 'an attempt that arrives while another one is in progress is answered 409',
  },
  'takes 200 for the only success': {
    form: 'middleware',
    parts: {
      settle: (res, begun) => void res.once('finish', () => begun.settle(res.statusCode === 200 ? 'ok' : 'failed')),
    },
    caughtBy: 'an event whose route answers any 2xx is completed',
  },
  'gives an event back when the sender has left': {
    form: 'middleware',
    parts: { settle: (res, begun) => void res.once('close', () => begun.settle(res.writableEnded ? 'ok' : 'failed')) },
    caughtBy: 'a claim is left to its lease when the sender leaves before the route has answered',
  },
  'hands on a part of the delivery': {
    form: 'middleware',
    parts: { handOn: ({ delivery }) => ({ ...delivery, unsigned: {} }) },
    caughtBy: 'the route receives the verified delivery',
  },
};

async function read(req: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  return Buffer.concat(pieces);
}
