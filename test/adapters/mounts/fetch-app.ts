import { webhookHandler, webhookMiddleware } from 'service-webhooks/fetch';
import type { AppUnderTest } from 'service-webhooks-suites';
import { playByFetch } from './play-ending.js';

export type Fetch = (request: Request) => Promise<Response>;

/** The adapter on whatever runtime this is. */
export const handler = ({ receiver, before }: AppUnderTest) => behind(before, webhookHandler(receiver));

export const middleware = (app: AppUnderTest) =>
  behind(
    app.before,
    webhookMiddleware(app.receiver, ({ signal }, delivery) => playByFetch(app, delivery, signal)),
  );

function behind(before: AppUnderTest['before'], receive: Fetch): Fetch {
  if (before === 'nothing') return receive;
  return async (request) => {
    const kept = before === 'rawBody' ? request.clone() : request;
    await request.json();
    return receive(kept);
  };
}

export const rawBodyFix = /before anything reads its body, .*request\.clone\(\)/;
