import fastify5, { type FastifyInstance } from 'fastify';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/fastify';
import type { AppUnderTest } from 'service-webhooks/testing';
import { framework } from '../../integration/framework.js';
import { SERVER_OPTIONS } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';

type Fastify = (options: object) => FastifyInstance;

const fastify4 = framework<Fastify>('fastify4');

function mountsOf(name: string, fastify: Fastify): Mount<Listening>[] {
  const appBehind = ({ before }: AppUnderTest) => {
    const app = fastify({ http: SERVER_OPTIONS, forceCloseConnections: true });
    // Of the app itself: none of them may get in the way.
    app.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, _body, done) => done(new Error('no')));
    app.addHook('onRequest', async (request) => {
      if (before === 'nothing') return;
      const pieces: Buffer[] = [];
      for await (const piece of request.raw) pieces.push(piece);
      if (before === 'rawBody') Object.assign(request, { rawBody: Buffer.concat(pieces) });
    });
    return app;
  };
  const listen = async (app: FastifyInstance): Promise<Listening> => {
    const address = await app.listen({ host: '127.0.0.1', port: 0 });
    return { port: Number(new URL(address).port), close: () => app.close() };
  };
  return bothForms(
    name,
    {
      handler: (app) => listen(appBehind(app).register(webhookHandler(app.receiver), { prefix: '/webhooks' })),
      middleware(app) {
        const plugin = webhookMiddleware(app.receiver, async ({ webhook }, reply) =>
          reply.code(await app.route(webhook)).send(),
        );
        return listen(appBehind(app).register(plugin, { prefix: '/webhooks' }));
      },
    },
    { rawBodyFix: /no onRequest or preParsing hook/, without: { methods: 'the plugin has a route for POST alone' } },
  );
}

export const mounts: readonly Mount<Listening>[] = [
  ...mountsOf('Fastify 5', fastify5 as Fastify),
  ...(fastify4 ? mountsOf('Fastify 4', fastify4) : []),
];
