import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BegunDelivery, WebhookRequest, WebhookResponse } from 'service-webhooks';
import type { AppUnderTest, ServedApp } from 'service-webhooks-suites';
import { type WatchedResponse, watchResponse } from '../../../../adapters/shared/watch-response.js';
import { listenHttp2, listenNode } from '../../../../test/adapters/mounts/listen.js';
import { playOnNode, playOtherCode } from '../../../../test/adapters/mounts/play-ending.js';

/** An adapter in parts, each of which can be exchanged for a wrong one. */
interface Parts {
  bodyOf(req: IncomingMessage & { body?: unknown }): WebhookRequest['body'] | Promise<WebhookRequest['body']>;
  answer(res: ServerResponse, response: WebhookResponse): void;
  /** Watches a response from before its claim on. */
  watch(res: ServerResponse): WatchedResponse;
  /** Returns whether the route must not run, and releases the claim then. */
  refuses(begun: BegunDelivery, response: WatchedResponse, res: ServerResponse): boolean;
  /** Ends the claim of a route that works. */
  settle(begun: BegunDelivery, response: WatchedResponse, working: Promise<void>): void;
  handOn(begun: BegunDelivery): BegunDelivery['delivery'];
}

const right: Parts = {
  bodyOf: (req) => (req.readableDidRead ? (req.body as string) : req),
  answer(res, { status, headers, body }) {
    res.writeHead(status, headers).end(body);
  },
  watch: watchResponse,
  refuses(begun, response) {
    if (response.isLost()) begun.settle('failed');
    return response.isLost();
  },
  async settle(begun, { over }, working) {
    const { ended } = await over;
    if (ended === 'ok') return void begun.settle('ok');
    working.then(
      () => begun.settle(ended),
      () => begun.settle('failed'),
    );
  },
  handOn: ({ delivery }) => delivery,
};

/** Without a bug it passes every case. */
export function serveParts(form: 'handler' | 'middleware', planted: Partial<Parts> = {}, listen = listenNode) {
  const { bodyOf, answer, watch, refuses, settle, handOn } = { ...right, ...planted };
  return (app: AppUnderTest): Promise<ServedApp> =>
    listen(async (req, res) => {
      playOtherCode(app, res);
      if (app.before === 'parser') Object.assign(req, { body: JSON.parse((await read(req)).toString()) });
      const { method = '', headers } = req;
      const rawBodyFix = 'Do not parse it.';
      const request = { method, headers, body: await bodyOf(req), rawBodyFix };
      if (form === 'handler') return answer(res, await app.receiver(request));
      const response = watch(res);
      const begun = await app.receiver.begin(request);
      if ('response' in begun) return res.headersSent ? undefined : answer(res, begun.response);
      if (refuses(begun, response, res)) return;
      const working = (async () => playOnNode(app, res, handOn(begun)))();
      settle(begun, response, working);
      try {
        await working;
      } catch (error) {
        if (res.writableEnded) return;
        const refusal = await begun.settle('failed', error);
        if (res.headersSent) res.destroy();
        else answer(res, refusal);
      }
    });
}

/** Returns the name of a case about the end of a claim. */
export function endsRightly(route: string, sender: string): string {
  return `the claim ends by what was sent where the route ${route} and the sender ${sender}`;
}

/** Ends a response at its first event: as whole at `finish`, with the status that it has by then. */
function watchCarelessly(res: ServerResponse, isSuccess = (status: number) => status < 300): WatchedResponse {
  let isLost = false;
  const over: WatchedResponse['over'] = new Promise((resolve) => {
    res.once('finish', () => resolve({ ended: isSuccess(res.statusCode) ? 'ok' : 'failed' }));
    res.once('close', () => {
      isLost = true;
      resolve({ ended: 'unknown' });
    });
  });
  return { over, isLost: () => isLost };
}

export interface PlantedBug {
  parts: Partial<Parts>;
  listen?: typeof listenNode;
  caughtBy: string;
}

/** One bug each, with a case of the suite that has to catch it. */
export const PLANTED_BUGS: Readonly<Record<'handler' | 'middleware', Readonly<Record<string, PlantedBug>>>> = {
  handler: {
    'writes the parsed body again': {
      parts: { bodyOf: async (req) => JSON.stringify(JSON.parse((await read(req)).toString())) },
      caughtBy: 'the work receives the exact bytes that were sent',
    },
    'writes a body again that somebody has parsed': {
      parts: { bodyOf: (req) => (req.body ? JSON.stringify(req.body) : req) },
      caughtBy: 'a body that other code has read is refused, unless its bytes are still available',
    },
    'decodes the body': {
      parts: { bodyOf: async (req) => (await read(req)).toString('utf8') },
      caughtBy: 'a body that is not UTF-8 is verified as it is',
    },
    'takes off a byte order mark': {
      parts: { bodyOf: async (req) => new TextDecoder().decode(await read(req)) },
      caughtBy: 'a byte order mark is verified as part of the body',
    },
    'takes the first piece for the whole': {
      parts: {
        async bodyOf(req) {
          for await (const piece of req) return piece;
          return '';
        },
      },
      caughtBy: 'a body that arrives in chunks, without a length and split within a character, is verified',
    },
    'reads nothing where no content type is known': {
      parts: { bodyOf: (req) => (req.headers['content-type']?.includes('json') ? req : '') },
      caughtBy: 'a body is accepted with any content type',
    },
    'has a limit of its own': {
      parts: { bodyOf: async (req) => (await read(req)).subarray(0, 1024 * 1024) },
      caughtBy: 'a body of 5 MiB is accepted, whatever the default limit of the framework is',
    },
    'takes an upload that broke off for a whole one': {
      parts: { bodyOf: (req) => read(req).catch(() => 'half') },
      caughtBy: 'no work runs for an upload that breaks off, and the app continues to receive',
    },
    'acknowledges everything': {
      parts: { answer: (res, { headers, body }) => void res.writeHead(200, headers).end(body) },
      caughtBy: 'a delivery with a missing, wrong or old signature is refused, and nothing works on it',
    },
    'drops the headers of the answer': {
      parts: { answer: (res, { status, body }) => void res.writeHead(status).end(body) },
      caughtBy: 'a method other than POST is answered 405, with the method that is allowed',
    },
  },
  middleware: {
    'completes whatever the route answers': {
      parts: { settle: (begun, { over }) => void over.then(() => begun.settle('ok')) },
      caughtBy: 'an event whose route answers other than 2xx is released, and that answer is unchanged',
    },
    'completes before the route has run': {
      parts: { settle: (begun) => void begun.settle('ok') },
      caughtBy: 'an attempt that arrives while another one is in progress is answered 409',
    },
    'takes 200 for the only success': {
      parts: { watch: (res) => watchCarelessly(res, (status) => status === 200) },
      caughtBy: 'an event whose route answers any 2xx is completed',
    },
    'releases an event whose sender has left': {
      parts: {
        settle: (begun, { over }) => void over.then(({ ended }) => begun.settle(ended === 'ok' ? 'ok' : 'failed')),
      },
      caughtBy: endsRightly('answers 2xx', 'leaves during the route'),
    },
    'takes each finish of HTTP/2 for a whole answer': {
      parts: { watch: watchCarelessly },
      listen: listenHttp2,
      caughtBy: endsRightly('rejects', 'leaves during the route'),
    },
    'reads the status when a response ends, not when it is sent': {
      parts: { watch: watchCarelessly },
      caughtBy: endsRightly('answers 5xx and then sets 2xx', 'stays'),
    },
    'runs the route of a claim that it has released': {
      parts: { refuses: (...args) => right.refuses(...args) && false },
      caughtBy: endsRightly('answers 2xx', 'leaves during the claim'),
    },
    'refuses an event that other code has acknowledged, because its sender has left': {
      parts: {
        refuses(begun, _, { req }) {
          if (req.socket.destroyed) begun.settle('failed');
          return req.socket.destroyed;
        },
      },
      caughtBy: endsRightly('comes after other code has acknowledged', 'leaves during the claim'),
    },
    'releases a claim while its route works': {
      parts: { settle: (begun, { over }) => void over.then(({ ended }) => begun.settle(ended)) },
      caughtBy: endsRightly('works on after other code has refused', 'stays'),
    },
    'releases an answer after which the route throws': {
      parts: {
        settle(begun, response, working) {
          working.catch(() => begun.settle('failed'));
          right.settle(begun, response, working);
        },
      },
      caughtBy: endsRightly('answers and then throws', 'stays'),
    },
    'hands on a part of the delivery': {
      parts: { handOn: ({ delivery }) => ({ ...delivery, unsigned: {} }) },
      caughtBy: 'the route receives the verified delivery',
    },
  },
};

async function read(req: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece);
  return Buffer.concat(pieces);
}
