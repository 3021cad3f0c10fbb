import type { Server } from 'node:http';
import { createReceiver, type Receiver } from 'service-webhooks';
import { getReceiverToken, WebhooksModule } from 'service-webhooks/nest';
import { sampleEvent, signDelivery, toSupertest } from 'service-webhooks/testing';
import request from 'supertest';
import { afterEach, describe, expect, it } from 'vitest';
import { isInstalled } from '../integration/file-of.js';
import { framework } from '../integration/framework.js';

type Class = new (...injected: never[]) => object;
type Decorator = (target: object, key?: string, descriptor?: PropertyDescriptor | number) => void;
interface App {
  init(): Promise<App>;
  close(): Promise<void>;
  get<Value>(token: unknown): Value;
  getHttpServer(): Server;
  setGlobalPrefix(prefix: string): void;
}
interface Builder {
  overrideProvider(token: unknown): { useValue(value: object): Builder };
  compile(): Promise<{ createNestApplication(...args: object[]): App }>;
}

const secret = 'the secret of .env';
const delivery = (signedWith = secret) =>
  toSupertest(signDelivery({ event: sampleEvent('generation.completed'), secret: signedWith }));

const versions = ['nest-11', 'nest-12'].filter((folder) => isInstalled(`test/integration/${folder}`));
const combinations = versions.flatMap((folder) => ['express', 'fastify'].map((platform) => ({ folder, platform })));

it('the token of a receiver is that of its path, with a slash before it or without', () => {
  expect(getReceiverToken('/webhooks')).toBe(getReceiverToken());
  expect(getReceiverToken('billing')).not.toBe(getReceiverToken());
});

describe.each(combinations)('WebhooksModule in $folder on $platform', ({ folder, platform }) => {
  framework('reflect-metadata', folder);
  // biome-ignore lint/suspicious/noExplicitAny: the packages of Nest stand apart, and their types with them
  const load = (name: string) => framework<any>(`@nestjs/${name}`, folder);
  const { Controller, Get, Injectable, Inject, Module } = load('common');
  const { APP_GUARD } = load('core');
  const { ConfigModule, ConfigService } = load('config');
  const { Test } = load('testing');
  const { FastifyAdapter } = load(`platform-${platform}`);

  const decorated = (decorator: Decorator, target: Class): Class => {
    decorator(target);
    return target;
  };

  class ClipsService {
    readonly saved: string[] = [];
    save({ clipId }: { clipId: string }) {
      this.saved.push(clipId);
    }
  }
  decorated(Injectable(), ClipsService);
  const ClipsModule = decorated(Module({ providers: [ClipsService], exports: [ClipsService] }), class {});
  const config = (values: object) => ConfigModule.forRoot({ ignoreEnvFile: true, load: [() => values] });

  const onClips = (path?: string, key = 'WEBHOOK_SECRET') =>
    WebhooksModule.forRootAsync({
      path,
      imports: [ConfigModule, ClipsModule],
      inject: [ConfigService, ClipsService],
      useFactory: (config, clips) => ({
        secret: config.getOrThrow(key),
        on: { 'generation.completed': (event) => clips.save(event.data) },
        logger: false,
      }),
    });

  let app: App | undefined;
  afterEach(() => app?.close());

  const test = (metadata: object): Builder => Test.createTestingModule(metadata);
  async function start(builder: Builder, options: { prefix?: string } = {}): Promise<App> {
    const module = await builder.compile();
    const settings = { rawBody: true, logger: false };
    app = module.createNestApplication(...(FastifyAdapter ? [new FastifyAdapter(), settings] : [settings]));
    if (options.prefix) app.setGlobalPrefix(options.prefix);
    await app.init();
    if (FastifyAdapter)
      await app
        .get<{ httpAdapter: { getInstance(): { ready(): Promise<void> } } }>(load('core').HttpAdapterHost)
        .httpAdapter.getInstance()
        .ready();
    return app;
  }
  const server = () => app?.getHttpServer() as Server;
  const post = (path: string, signedWith?: string) => request(server()).post(path).use(delivery(signedWith));

  it('the secret comes from ConfigService, and the handler calls an injected service', async () => {
    const { get } = await start(test({ imports: [config({ WEBHOOK_SECRET: secret }), onClips()] }));
    await post('/webhooks').expect(200);
    await post('/webhooks', 'a guess').expect(401);
    expect(get.call(app, ClipsService)).toMatchObject({ saved: [expect.any(String)] });
  });

  it('a module for tests may replace the configuration, the service and the receiver', async () => {
    const saved: unknown[] = [];
    await start(
      test({ imports: [config({}), onClips()] })
        .overrideProvider(ConfigService)
        .useValue({ getOrThrow: () => 'test secret' })
        .overrideProvider(ClipsService)
        .useValue({ save: (data: unknown) => saved.push(data) }),
    );
    await post('/webhooks', 'test secret').expect(200);
    expect(saved).toHaveLength(1);
    await app?.close();

    const receiver = createReceiver({ secret: 'another', on: {}, logger: false });
    await start(
      test({ imports: [config({ WEBHOOK_SECRET: secret }), onClips()] })
        .overrideProvider(getReceiverToken())
        .useValue(receiver),
    );
    await post('/webhooks', 'another').expect(200);
  });

  it('two modules receive on their paths with their secrets', async () => {
    const values = { WEBHOOK_SECRET: secret, OTHER_SECRET: 'the other' };
    await start(test({ imports: [config(values), onClips(), onClips('/webhooks/other', 'OTHER_SECRET')] }));
    await post('/webhooks').expect(200);
    await post('/webhooks', 'the other').expect(401);
    await post('/webhooks/other', 'the other').expect(200);
    await post('/webhooks/other').expect(401);
    await post('/webhooks/third').expect(404);
  });

  it('the global prefix applies, and guards do not', async () => {
    const guard = { provide: APP_GUARD, useValue: { canActivate: () => false } };
    await start(test({ imports: [config({ WEBHOOK_SECRET: secret }), onClips()], providers: [guard] }), {
      prefix: 'api',
    });
    await post('/api/webhooks').expect(200);
    await post('/webhooks').expect(404);
  });

  it('routes below the path and other methods of it are left to their controllers and the receiver', async () => {
    class StatsController {
      stats() {
        return 'stats';
      }
    }
    const { prototype } = StatsController;
    Get('stats')(prototype, 'stats', Object.getOwnPropertyDescriptor(prototype, 'stats'));
    const controllers = [decorated(Controller('webhooks'), StatsController)];
    await start(test({ imports: [WebhooksModule.forRoot({ secret, on: {} })], controllers }));
    await request(server()).get('/webhooks/stats').expect(200, 'stats');
    await request(server()).get('/webhooks').expect(405);
  });

  it('every module of the app may inject the receiver and report its health', async () => {
    class HealthController {
      private readonly receiver: Receiver;
      constructor(receiver: Receiver) {
        this.receiver = receiver;
      }
      health() {
        return this.receiver.health();
      }
    }
    const { prototype } = HealthController;
    Inject(getReceiverToken())(HealthController, undefined, 0);
    Get()(prototype, 'health', Object.getOwnPropertyDescriptor(prototype, 'health'));
    const HealthModule = decorated(
      Module({ controllers: [decorated(Controller('health'), HealthController)] }),
      class {},
    );
    await start(test({ imports: [WebhooksModule.forRoot({ secret, on: {}, logger: false }), HealthModule] }));
    await post('/webhooks', 'a guess').expect(401);
    const { body } = await request(server()).get('/health').expect(200);
    expect(body).toMatchObject({ receivers: 1, refusalsInARow: 1, lastRefused: { code: 'signature_mismatch' } });
  });

  it('a receiver from createReceiver is accepted, also behind a promise', async () => {
    const receiver = createReceiver({ secret, on: {}, logger: false });
    await start(test({ imports: [WebhooksModule.forRootAsync({ useFactory: async () => receiver })] }));
    await post('/webhooks').expect(200);
    expect(app?.get(getReceiverToken())).toBe(receiver);
  });

  it('one module that several modules import is one endpoint', async () => {
    const webhooks = onClips();
    const Other = decorated(Module({ imports: [webhooks] }), class {});
    await start(test({ imports: [config({ WEBHOOK_SECRET: secret }), webhooks, Other] }));
    await post('/webhooks').expect(200);
  });

  it('the app does not start with two modules on one path', async () => {
    const builder = test({ imports: [config({ WEBHOOK_SECRET: secret }), onClips(), onClips('/webhooks')] });
    await expect(start(builder)).rejects.toThrow(/^Two WebhooksModules of this app have the path '\/?webhooks'/);
  });

  it.each([
    ['a secret that is missing', { on: {} }, /^secret is undefined/],
    [
      'an option that is misspelt',
      { secret, on: {}, deadlineMS: 1 },
      /^Unknown option 'deadlineMS' .* mean 'deadlineMs'/,
    ],
    ['no handlers', { secret }, /has no handlers/],
    ['undefined', undefined, /^useFactory of WebhooksModule returned undefined\. .*=> \(\{ secret, on \}\)/],
  ])('the app does not start where useFactory returns %s, and the error says so', async (_, options, message) => {
    const useFactory = () => options as never;
    await expect(start(test({ imports: [WebhooksModule.forRootAsync({ useFactory })] }))).rejects.toThrow(message);
  });

  it('the app does not start where useFactory fails, and the error is its own', async () => {
    await expect(start(test({ imports: [config({}), onClips()] }))).rejects.toThrow(/WEBHOOK_SECRET/);
    const useFactory = () => Promise.reject(new Error('the vault is sealed'));
    await expect(start(test({ imports: [WebhooksModule.forRootAsync({ useFactory })] }))).rejects.toThrow(
      'the vault is sealed',
    );
  });
});
