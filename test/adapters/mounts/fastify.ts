import { Readable } from 'node:stream';
import fastify5, { type FastifyInstance, type FastifyReply } from 'fastify';
import fastify4 from 'fastify4';
import type { Delivery } from 'service-webhooks';
import { webhookHandler, webhookMiddleware } from 'service-webhooks/fastify';
import type { AppUnderTest } from 'service-webhooks-suites';
import { HAS_HTTP2, SERVER_OPTIONS } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { ON_NODE, otherStatus, playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

type Fastify = (options: object) => FastifyInstance;

function mountsOf(name: string, fastify: Fastify, http2 = false): Mount<Listening>[] {
  const appBehind = ({ before }: AppUnderTest) => {
    const app = fastify(http2 ? { http2 } : { http: SERVER_OPTIONS, forceCloseConnections: true });
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
    return { port: Number(new URL(address).port), http2, close: () => app.close() };
  };
  return bothForms(
    name,
    {
      handler: (app) => listen(appBehind(app).register(webhookHandler(app.receiver), { prefix: '/webhooks' })),
      middleware(app) {
        const plugin = webhookMiddleware(app.receiver, ({ webhook }, reply) => play(app, reply, webhook));
        const routes = appBehind(app);
        routes.addHook('onRequest', async (_request, reply) => playOtherCode(app, reply.raw));
        return listen(routes.register(plugin, { prefix: '/webhooks' }));
      },
    },
    {
      rawBodyFix: /no onRequest or preParsing hook/,
      endings: [...ON_NODE, 'returns an error'],
      without: {
        methods: 'the plugin has a route for POST alone',
        ...UNKNOWN_ON_NODE,
      },
    },
  );
}

function play(app: AppUnderTest, reply: FastifyReply, delivery: Delivery): Promise<unknown> {
  const status = app.route(delivery);
  if (app.ending === 'throws at once') throw new Error('the route throws at once');
  return status.then((status) => {
    if (app.ending === 'returns an error') return Object.assign(new Error('no'), { statusCode: 503 });
    const body = app.ending ? app.body() : undefined;
    const sent = reply
      .code(status)
      .send(body && (body instanceof Uint8Array ? Buffer.from(body.buffer) : Readable.from(body)));
    if (app.ending === 'answers twice') return reply.code(otherStatus(status)).send();
    if (app.ending === 'answers and throws') throw new Error('the route throws after its answer');
    return sent;
  });
}

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2
  ? []
  : mountsOf('Fastify 5 with HTTP/2', fastify5 as Fastify, true);

export const mounts: readonly Mount<Listening>[] = [
  ...mountsOf('Fastify 5', fastify5 as Fastify),
  ...mountsOf('Fastify 4', fastify4 as unknown as Fastify),
];
