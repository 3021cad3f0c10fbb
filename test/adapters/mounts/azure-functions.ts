import type { Delivery } from 'service-webhooks';
import { type AzureResponse, webhookHandler, webhookMiddleware } from 'service-webhooks/azure-functions';
import type { AppUnderTest, ServedApp } from 'service-webhooks-suites';
import { framework } from '../../integration/framework.js';
import { bothForms, type Mount } from './mount.js';
import { toBody } from './play-ending.js';

/** What is used of the library of Azure Functions. */
interface Azure {
  HttpRequest: new (init: { nativeRequest: Request }) => Request;
  HttpResponse: new (init: AzureResponse) => Response;
}

function play(app: AppUnderTest, delivery: Delivery): Promise<AzureResponse> {
  const status = app.route(delivery);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((status) => {
    if (app.ending === 'returns an error') return new Error('no') as never;
    return app.ending === 'streams' ? { status, body: toBody(app) as never } : { status };
  });
}

const azure = framework<Azure>('@azure/functions');

function mountsOf({ HttpRequest, HttpResponse }: Azure): Mount[] {
  const call = ({ before }: AppUnderTest, handler: (request: Request) => Promise<AzureResponse>): ServedApp => ({
    async fetch(nativeRequest) {
      const request = new HttpRequest({ nativeRequest });
      const kept = before === 'rawBody' ? request.clone() : request;
      if (before !== 'nothing') await request.json();
      const response = new HttpResponse(await handler(kept));
      return new Response(response.body, { status: response.status, headers: response.headers });
    },
  });
  return bothForms(
    'Azure Functions 4',
    {
      handler: (app) => call(app, webhookHandler(app.receiver)),
      middleware(app) {
        return call(
          app,
          webhookMiddleware(app.receiver, (_: Request, delivery) => play(app, delivery)),
        );
      },
    },
    {
      rawBodyFix: /before await request\.json\(\).*request\.clone\(\)/,
      endings: ['streams', 'throws at once', 'returns an error'],
      without: { hangUp: 'the platform calls, and does not tell' },
    },
  );
}

export const calledMounts: readonly Mount[] = azure ? mountsOf(azure) : [];
