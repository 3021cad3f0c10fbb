import { type AzureResponse, webhookHandler, webhookMiddleware } from 'service-webhooks/azure-functions';
import type { AppUnderTest, ServedApp } from 'service-webhooks/testing';
import { framework } from '../../integration/framework.js';
import { bothForms, type Mount } from './mount.js';

/** What is used of the library of Azure Functions. */
interface Azure {
  HttpRequest: new (init: { nativeRequest: Request }) => Request;
  HttpResponse: new (init: AzureResponse) => Response;
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
        const route = async (_: Request, delivery: Parameters<typeof app.route>[0]) => ({
          status: await app.route(delivery),
        });
        return call(app, webhookMiddleware(app.receiver, route));
      },
    },
    {
      rawBodyFix: /before await request\.json\(\).*request\.clone\(\)/,
      without: { hangUp: 'the platform calls, and does not tell' },
    },
  );
}

export const calledMounts: readonly Mount[] = azure ? mountsOf(azure) : [];
