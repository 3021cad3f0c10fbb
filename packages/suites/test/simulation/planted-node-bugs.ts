import express, { type Response } from 'express';
import { type BegunDelivery, createReceiver } from 'service-webhooks';
import { type App, NAME } from './apps.js';
import type { PlantedBug } from './planted-bugs.js';

type SettleBy = (res: Response, settle: BegunDelivery['settle']) => void;

/** An app of Express with a middleware that is wrong: `settleBy` ends the claim by what becomes of the response. */
function withMiddleware(settleBy: SettleBy, route: { streams: boolean }): App {
  return {
    receiver: ({ secret, store, work, call }) => {
      const receiver = createReceiver({ secret, dedupe: { store, name: NAME } });
      const app = express();
      app.post('/webhooks', async (req, res) => {
        const begun = await receiver.begin({ method: req.method, headers: req.headers, body: req });
        if ('response' in begun) {
          const { status, headers, body } = begun.response;
          return void res.writeHead(status, headers).end(body);
        }
        settleBy(res, begun.settle);
        if (route.streams) res.write('working');
        await work(begun.delivery, () => call('save', () => {}));
        res.end();
      });
      return { listener: app };
    },
  };
}

/** Calls do not fail, so that a response ends early only where its connection breaks. */
const options = { without: ['refused call', 'lost answer'] } as const;

/** Bugs of middlewares on Node's response, which real ones had. */
export const PLANTED_NODE_BUGS: Readonly<Record<string, PlantedBug>> = {
  'a middleware completes the claim when the response closes': {
    app: { ...withMiddleware((res, settle) => res.on('close', () => settle('ok')), { streams: true }), options },
    rule: 'handled',
  },
  'a middleware completes the claim when the response begins': {
    app: withMiddleware(
      (res, settle) => {
        const { writeHead } = res;
        res.writeHead = (...head: unknown[]) => {
          void settle('ok');
          return Reflect.apply(writeHead, res, head);
        };
      },
      { streams: true },
    ),
    rule: 'handled',
  },
  'a middleware completes the claim when the response finishes, whatever its status': {
    app: withMiddleware((res, settle) => res.on('finish', () => settle('ok')), { streams: false }),
    rule: 'handled',
  },
};
