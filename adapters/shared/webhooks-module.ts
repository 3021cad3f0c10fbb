import {
  type EndpointOptions,
  type Receiver,
  WebhookError,
  type WebhookRequest,
  type WebhookResponse,
} from 'service-webhooks';
import { RAW_BODY_FIX } from './nest-request.js';
import { type NodeHandler, nodeHandler } from './node-http.js';
import { endpointReceiver } from './to-receiver.js';

/** Where `WebhooksModule` serves its endpoint. */
export interface WebhooksModulePlace {
  /** The path, behind the global prefix of the app. Default: `webhooks`. */
  path?: string | undefined;
}

/** The options of `WebhooksModule.forRootAsync`. */
export interface WebhooksModuleAsyncOptions<Tokens extends readonly unknown[], Imports> extends WebhooksModulePlace {
  /** The modules that export what `inject` lists. Modules that are global need not be listed. */
  imports?: Imports | undefined;
  /** The tokens of the arguments of `useFactory`, as in a provider. */
  inject?: readonly [...Tokens] | undefined;
  /** Returns the options of the endpoint, or a receiver from `createReceiver`. Called once, while the app starts. */
  useFactory(...injected: Injected<Tokens>): FactoryResult | Promise<FactoryResult>;
}

type FactoryResult = EndpointOptions | ReceiverLike;

/** A receiver without `secret`, from which `config.getOrThrow('…')` would infer the type of the secret. */
interface ReceiverLike {
  (request: WebhookRequest): Promise<WebhookResponse>;
  readonly hasHandlers: boolean;
}

/** What Nest injects for these tokens: for a class its instance. */
type Injected<Tokens extends readonly unknown[]> = {
  // biome-ignore lint/suspicious/noExplicitAny: other tokens have no type, and the user may annotate the parameter
  [Index in keyof Tokens]: Tokens[Index] extends abstract new (...args: any) => infer Instance ? Instance : any;
};

/** A module for `imports` in `@Module`: a `DynamicModule` of Nest. */
export interface WebhooksDynamicModule<Imports> {
  module: typeof WebhooksModule;
  global: true;
  imports: Imports;
  // biome-ignore lint/suspicious/noExplicitAny: as Nest declares it
  providers: { provide: string; inject: any[]; useFactory(...injected: any[]): unknown }[];
  exports: string[];
}

/** The parts of Nest's `MiddlewareConsumer` that the module uses. */
export interface NestConsumerLike {
  getHttpAdapter?(): object;
  apply(handler: NodeHandler): { forRoutes(route: { path: string; method: number }): unknown };
}

/** Nest's `RequestMethod.ALL`. The receiver answers methods other than POST itself. */
const ALL_METHODS = 5;

/** The token of the argument of the constructor. */
const ENDPOINT = 'endpoint of WebhooksModule';

/**
 * Returns the token of the receiver of `WebhooksModule`, for `@Inject` in any module of the app.
 *
 * @param path The `path` of the module. Default: `webhooks`.
 * @example
 * \@Controller('health')
 * export class HealthController {
 *   constructor(\@Inject(getReceiverToken()) private readonly receiver: Receiver) {}
 *
 *   \@Get()
 *   health() {
 *     return this.receiver.health();
 *   }
 * }
 */
export function getReceiverToken(path: string = DEFAULT_PATH): string {
  return `receiver of WebhooksModule at /${path.replace(/^\//, '')}`;
}

const DEFAULT_PATH = 'webhooks';

/**
 * A module for Nest 11 and 12, on Express and on Fastify, with an endpoint that verifies each delivery, recognises
 * retries, calls your handler and answers. The endpoint is a middleware: guards, pipes, interceptors and filters do not
 * apply to it. The module is global, and exports its receiver as `getReceiverToken(path)`.
 */
export class WebhooksModule {
  private readonly endpoint: { path: string; receive: NodeHandler };

  constructor(endpoint: WebhooksModule['endpoint']) {
    this.endpoint = endpoint;
  }

  configure(consumer: NestConsumerLike): void {
    const { path, receive } = this.endpoint;
    takePath(path, consumer.getHttpAdapter?.() ?? {});
    consumer.apply(receive).forRoutes({ path, method: ALL_METHODS });
  }

  /**
   * Returns the module with an endpoint of these options, or of a receiver.
   *
   * @example
   * \@Module({ imports: [WebhooksModule.forRoot({ secret, on: { 'stt.completed': (event) => save(event.jobId) } })] })
   * export class AppModule {}
   */
  static forRoot(
    receiverOrOptions: Receiver | EndpointOptions,
    place: WebhooksModulePlace = {},
  ): WebhooksDynamicModule<[]> {
    return dynamicModule({ ...place, useFactory: () => receiverOrOptions });
  }

  /**
   * Returns the module with an endpoint whose options are derived from other providers. The app does not start where
   * `useFactory` or the options fail.
   *
   * @example
   * \@Module({
   *   imports: [
   *     WebhooksModule.forRootAsync({
   *       imports: [ConfigModule, ClipsModule],
   *       inject: [ConfigService, ClipsService],
   *       useFactory: (config, clips) => ({
   *         secret: config.getOrThrow('WEBHOOK_SECRET'),
   *         on: { 'generation.completed': (event) => clips.save(event.data) },
   *       }),
   *     }),
   *   ],
   * })
   * export class AppModule {}
   */
  static forRootAsync<const Tokens extends readonly unknown[] = [], Imports extends object[] = []>(
    options: WebhooksModuleAsyncOptions<Tokens, Imports>,
  ): WebhooksDynamicModule<Imports> {
    return dynamicModule(options);
  }
}

// Not in the class: bundlers rename a class that names itself, and Nest logs its name.
function dynamicModule<Tokens extends readonly unknown[], Imports extends object[]>({
  path = DEFAULT_PATH,
  imports = [] as object[] as Imports,
  inject,
  useFactory,
}: WebhooksModuleAsyncOptions<Tokens, Imports>): WebhooksDynamicModule<Imports> {
  const token = getReceiverToken(path);
  const receiver = {
    provide: token,
    inject: [...(inject ?? [])],
    useFactory: async (...injected: Injected<Tokens>) => toReceiver(await useFactory(...injected)),
  };
  const endpoint = {
    provide: ENDPOINT,
    inject: [token],
    useFactory: (receiver: Receiver) => ({ path, receive: nodeHandler(receiver, RAW_BODY_FIX) }),
  };
  injectIntoConstructor(WebhooksModule, ENDPOINT);
  return { module: WebhooksModule, global: true, imports, providers: [receiver, endpoint], exports: [token] };
}

/** The receivers of each app, by its HTTP adapter. */
const tokensOfApps = new WeakMap<object, Set<string>>();

/** @throws WebhookError `invalid_option` for a path that another module of the app has, which would receive nothing */
function takePath(path: string, app: object): void {
  const tokens = tokensOfApps.get(app) ?? new Set();
  const token = getReceiverToken(path);
  if (tokens.has(token)) {
    throw new WebhookError('invalid_option', {
      message: `Two WebhooksModules of this app have the path '${path}': only one of them would receive deliveries.`,
      hint: 'Call forRoot or forRootAsync once for each path, in the module at the top of the app.',
    });
  }
  tokensOfApps.set(app, tokens.add(token));
}

function toReceiver(made: FactoryResult | undefined): Receiver {
  if (made !== undefined) return endpointReceiver(made as Receiver | EndpointOptions);
  throw new WebhookError('invalid_option', {
    message: 'useFactory of WebhooksModule returned undefined.',
    hint: 'Return the options or a receiver. An object behind => needs parentheses: => ({ secret, on }).',
  });
}

/** Does what `@Inject(token)` does, without an import of Nest at run time. */
function injectIntoConstructor(target: object, token: string): void {
  const { defineMetadata } = Reflect as unknown as { defineMetadata(key: string, value: unknown, of: object): void };
  defineMetadata('design:paramtypes', [token], target);
}
