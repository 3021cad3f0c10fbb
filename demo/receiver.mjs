import express from 'express';
import { webhookHandler } from 'service-webhooks/express';

/** The event with this id finds the database away when it comes first. */
export const UNLUCKY = 'evt_demo_unlucky';

/** `now` is the clock, `ran` is told of every run of a handler, `observe` of everything that was decided. */
function receiverOptions({ secret, now, observe, ran }) {
  return {
    secret,
    now,
    observe,
    on: {
      '*': (event, { attempt }) => {
        ran(event);
        if (event.id === UNLUCKY && attempt === 1) throw new Error('the database is away');
      },
    },
  };
}

/** An app as it should be, with a second endpoint that also takes the legacy signature. */
export function createApp(setup) {
  const options = receiverOptions(setup);
  const app = express();
  app.post('/webhooks', webhookHandler(options));
  app.post('/webhooks-with-legacy', webhookHandler({ ...options, legacy: 'accept' }));
  return app;
}

/** The usual mistake: a parser above the receiver reads the body, and the exact bytes are gone. */
export function createMisbuiltApp(setup) {
  const app = express();
  app.use(express.json());
  app.post('/webhooks', webhookHandler(receiverOptions(setup)));
  return app;
}
