import { clientName } from '../named-client.js';

/**
 * The client of the app, under the name of its library. The store never closes it and adds no listener. Notifications of
 * jobs come over a duplicate of the client, which a pool of `redis` and `@upstash/redis` do not have.
 */
export type RedisClient =
  | { ioredis: IoredisClient; nodeRedis?: undefined; upstash?: undefined }
  | { nodeRedis: NodeRedisClient; ioredis?: undefined; upstash?: undefined }
  | { upstash: UpstashClient; ioredis?: undefined; nodeRedis?: undefined };

/** A `Redis` or a `Cluster` of `ioredis`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
  duplicate?(): IoredisSubscriber;
}

/** The part of a client of `ioredis` that notifications need. */
export interface IoredisSubscriber {
  on(event: 'error' | 'ready', listener: () => void): unknown;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  subscribe(channel: string): Promise<unknown>;
  disconnect(): void;
}

/** The result of `createClient`, `createClientPool`, `createCluster` or `createSentinel` of `redis`. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  duplicate?(): NodeRedisSubscriber;
}

/** The part of a client of `redis` that notifications need. */
export interface NodeRedisSubscriber {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<unknown>;
  destroy(): unknown;
}

/** A `Redis` of `@upstash/redis`. */
export interface UpstashClient {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/** Runs a script, under the prefix of the keys, and returns its reply. */
export type Run = (script: string, key: string | readonly string[], ...args: (string | number)[]) => Promise<string>;

const FORMS = {
  ioredis: { methods: ['eval'], example: 'client' },
  nodeRedis: { methods: ['eval'], example: 'client' },
  upstash: { methods: ['eval'], example: 'client' },
};

/** Returns how a client runs a script. @throws WebhookError `invalid_option` */
export function runOn(client: RedisClient, keyPrefix: string): Run {
  const evaluate = evaluator(client);
  return async (script, key, ...args) => {
    const keys = [key].flat().map((one) => keyPrefix + one);
    return String(await evaluate(script, keys, args.map(String)));
  };
}

function evaluator(client: RedisClient): (script: string, keys: string[], args: string[]) => Promise<unknown> {
  clientName('redisStore', client, FORMS);
  const { ioredis, nodeRedis, upstash } = client;
  if (ioredis) return (script, keys, args) => ioredis.eval(script, keys.length, ...keys, ...args);
  if (nodeRedis) return (script, keys, args) => nodeRedis.eval(script, { keys, arguments: args });
  return (script, keys, args) => (upstash as UpstashClient).eval(script, keys, args);
}

export function unexpected(reply: string): never {
  throw new Error(`not an answer of redisStore: ${reply}`);
}
