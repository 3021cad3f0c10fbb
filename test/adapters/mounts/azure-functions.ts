import { HttpRequest, type HttpRequestInit, HttpResponse } from '@azure/functions';
import type { Delivery } from 'service-webhooks';
import { type AzureResponse, webhookHandler, webhookMiddleware } from 'service-webhooks/azure-functions';
import type { AppUnderTest, ServedApp } from 'service-webhooks-suites';
import { bothForms, type Mount } from './mount.js';
import { toBody } from './play-ending.js';

function play(app: AppUnderTest, delivery: Delivery): Promise<AzureResponse> {
  const status = app.route(delivery);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((status) => {
    if (app.ending === 'returns an error') return new Error('no') as never;
    return app.ending === 'streams' ? { status, body: toBody(app) as never } : { status };
  });
}

const call = ({ before }: AppUnderTest, handler: (request: HttpRequest) => Promise<AzureResponse>): ServedApp => ({
  async fetch(nativeRequest) {
    // As the platform makes it; the library's types leave that out.
    const request = new HttpRequest({ nativeRequest } as HttpRequestInit);
    const kept = before === 'rawBody' ? request.clone() : request;
    if (before !== 'nothing') await request.json();
    const response = new HttpResponse(await handler(kept));
    return new Response(response.body, { status: response.status, headers: response.headers });
  },
});

export const calledMounts: readonly Mount[] = bothForms(
  'Azure Functions 4',
  {
    handler: (app) => call(app, webhookHandler(app.receiver)),
    middleware(app) {
      return call(
        app,
        webhookMiddleware(app.receiver, (_: HttpRequest, delivery) => play(app, delivery)),
      );
    },
  },
  {
    rawBodyFix: /before await request\.json\(\).*request\.clone\(\)/,
    endings: ['streams', 'throws at once', 'returns an error'],
    without: { hangUp: 'the platform calls, and does not tell' },
  },
);
