import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import {
  type NestContextLike,
  type NestRequest,
  type NestResponse,
  WebhooksModule,
  webhookHandler,
  webhookMiddleware,
} from 'service-webhooks/nest';
import type { AppUnderTest } from 'service-webhooks-suites';
import { framework } from '../../integration/framework.js';
import { HAS_HTTP2 } from './listen.js';
import { bothForms, type Listening, type Mount } from './mount.js';
import { playOtherCode, UNKNOWN_ON_NODE } from './play-ending.js';

type Decorator = (target: object, key?: string, descriptor?: PropertyDescriptor | number) => void;

/** What is used of Nest. */
interface Common {
  Controller(path: string): Decorator;
  Module(options: object): Decorator;
  All(): Decorator;
  Req(): Decorator;
  Res(options?: object): Decorator;
  UseInterceptors(
    ...interceptors: { intercept(context: NestContextLike, next: { handle(): unknown }): unknown }[]
  ): Decorator;
  StreamableFile: new (body: Uint8Array | Readable) => object;
}
interface App {
  useBodyParser(type: string, options: object): void;
  listen(port: number, host: string): Promise<unknown>;
  close(): Promise<void>;
  getHttpServer(): Server;
}
interface Core {
  NestFactory: { create(module: object, ...args: object[]): Promise<App> };
}
type Platform = 'express' | 'fastify';

/** With the parser of Nest off; with it, but keeping the bytes; with it as it is. */
const OPTIONS = { nothing: { bodyParser: false }, rawBody: { rawBody: true }, parser: {} };
const LIMIT = 5 * 1024 * 1024;

function mountsOf(version: string, platform: Platform, http2 = false): Mount<Listening>[] {
  const folder = `nest-${version}`;
  if (framework('reflect-metadata', folder) === undefined) return [];
  const common = framework<Common>('@nestjs/common', folder) as Common;
  const { NestFactory } = framework<Core>('@nestjs/core', folder) as Core;
  const adapters = framework<Record<string, new (options: object) => object>>(`@nestjs/platform-${platform}`, folder);
  const { FastifyAdapter } = adapters ?? {};
  const name = `Nest ${version} on ${platform}${http2 ? ' with HTTP/2' : ''}`;

  /** A module with one controller, whose one method has these decorators. */
  async function serve({ before }: AppUnderTest, Webhooks: new () => { receive: unknown }, decorators: Decorator[]) {
    const { prototype } = Webhooks;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, 'receive');
    for (const decorate of [common.All(), ...decorators]) decorate(prototype, 'receive', descriptor);
    common.Controller('webhooks')(Webhooks);
    return start({ controllers: [Webhooks] }, before);
  }

  /** An app of this module. */
  async function start(metadata: object, before: AppUnderTest['before']) {
    const AppModule = class {};
    common.Module(metadata)(AppModule);
    const adapter =
      FastifyAdapter &&
      new FastifyAdapter({ bodyLimit: LIMIT, ...(http2 ? { http2 } : { forceCloseConnections: true }) });
    // On Fastify there is no way around its parser.
    const parsing = adapter && before === 'nothing' ? OPTIONS.rawBody : OPTIONS[before];
    const options = { ...parsing, logger: false, forceCloseConnections: true };
    const app = await NestFactory.create(AppModule, ...(adapter ? [adapter, options] : [options]));
    if (!adapter && before !== 'nothing') app.useBodyParser('json', { limit: LIMIT });
    await app.listen(0, '127.0.0.1');
    return { port: (app.getHttpServer().address() as AddressInfo).port, http2, close: () => app.close() };
  }

  const streamable = (body: ReturnType<AppUnderTest['body']>) =>
    new common.StreamableFile(body instanceof Uint8Array ? body : Readable.from(body));

  const parameter = (decorator: Decorator, index: number) => (target: object, key?: string) =>
    decorator(target, key, index);

  const parsedByFastify = platform === 'fastify' && {
    unparsed: 'Nest parses first on Fastify, and keeps the bytes of what it could parse',
    pieces: 'Nest reads the body on Fastify',
    methods: 'Nest refuses empty JSON on Fastify',
  };
  const throws = 'Nest keeps what a route throws for its exception filters';
  const rawBodyFix = /NestFactory\.create\(AppModule, \{ rawBody: true \}\)/;

  const bySending: Mount<Listening> = {
    name: `${name}, middleware of a controller with @Res()`,
    form: 'middleware',
    serve(app) {
      class Webhooks {
        async receive(req: NestRequest, res: NestResponse) {
          res.status(await app.route(req.webhook));
          res.send('');
        }
      }
      return serve(app, Webhooks, [
        common.UseInterceptors(webhookMiddleware(app.receiver)),
        parameter(common.Req(), 0),
        parameter(common.Res(), 1),
      ]);
    },
    rawBodyFix,
    endings: [],
    without: { ...UNKNOWN_ON_NODE, throws, ...parsedByFastify },
  };

  const byReturning = bothForms(
    name,
    {
      handler(app) {
        const receive = webhookHandler(app.receiver);
        class Webhooks {
          receive(req: NestRequest, res: NestResponse) {
            return receive(req, res);
          }
        }
        return serve(app, Webhooks, [parameter(common.Req(), 0), parameter(common.Res(), 1)]);
      },
      middleware(app) {
        class Webhooks {
          receive(req: NestRequest, res: NestResponse) {
            const status = app.route(req.webhook);
            if (app.ending === 'throws at once') throw new Error('the route throws at once');
            return status.then((status) => {
              res.status(status);
              return app.ending ? streamable(app.body()) : '';
            });
          }
        }
        const answersBefore = {
          intercept(context: NestContextLike, next: { handle(): unknown }) {
            const res = context.switchToHttp().getResponse<NestResponse>();
            playOtherCode(app, 'raw' in res ? res.raw : res);
            return next.handle();
          },
        };
        return serve(app, Webhooks, [
          common.UseInterceptors(answersBefore, webhookMiddleware(app.receiver)),
          parameter(common.Req(), 0),
          parameter(common.Res({ passthrough: true }), 1),
        ]);
      },
    },
    {
      rawBodyFix,
      endings: ['sends bytes', 'streams', 'throws at once', 'other code answers'],
      without: { ...UNKNOWN_ON_NODE, throws, ...parsedByFastify },
    },
  );
  const byModule: Mount<Listening> = {
    name: `${name}, module`,
    form: 'handler',
    serve: ({ receiver, before }) => start({ imports: [WebhooksModule.forRoot(receiver)] }, before),
    rawBodyFix,
    endings: [],
    without: platform === 'fastify' ? { parser: 'Nest runs middleware before the parser of Fastify' } : {},
  };

  return [...byReturning, bySending, byModule];
}

export const mounts: readonly Mount<Listening>[] = ['12', '11'].flatMap((version) =>
  (['express', 'fastify'] as const).flatMap((platform) => mountsOf(version, platform)),
);

export const http2Mounts: readonly Mount<Listening>[] = !HAS_HTTP2
  ? []
  : ['12', '11'].flatMap((version) => mountsOf(version, 'fastify', true));
