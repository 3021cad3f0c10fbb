import { check, integers } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';

/** The client that is there already, named for what it is. It is never closed, and gets no listener. */
export type RedisClient =
  | { ioredis: IoredisClient; nodeRedis?: undefined; upstash?: undefined }
  | { nodeRedis: NodeRedisClient; ioredis?: undefined; upstash?: undefined }
  | { upstash: UpstashClient; ioredis?: undefined; nodeRedis?: undefined };

/** `Redis` or `Cluster` of `ioredis`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
}

/** What `createClient`, `createCluster`, `createClientPool` or `createSentinel` of `redis` makes. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** `Redis` of `@upstash/redis`. */
export interface UpstashClient {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/** How a {@link redisStore} names its keys. */
export interface RedisStoreOptions {
  /** In front of every key; `'service-webhooks:'`. */
  keyPrefix?: string | undefined;
}

/**
 * Remembers events in Redis 6 or newer, Valkey, a Redis Cluster or Upstash, for all receivers on it. The server's
 * clock counts; a claim is one round trip, one script on one key.
 *
 * What Redis forgets is handled again: it should neither evict (`maxmemory-policy noeviction`) nor lose its data in a
 * restart (`appendonly yes`). `init()` warns where it does; it fails only where a claim would fail, too.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: redisStore({ ioredis: new Redis(url) }) } });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): DedupeStore {
  const { keyPrefix = 'service-webhooks:' } = options;
  check(typeof keyPrefix === 'string', 'keyPrefix must be a string');
  const evaluate = evaluator(client);

  /** Its reply, in words. Arguments are escaped, so that none can be taken for two. */
  async function run(script: string, key: string, ...args: (string | number)[]): Promise<string[]> {
    return String(await evaluate(script, keyPrefix + key, args.map(encodeURIComponent))).split(' ');
  }

  async function mutate(script: string, key: string, ...args: (string | number)[]): Promise<Mutation> {
    const [answer] = await run(script, key, ...args);
    return answer === 'ok' || answer === 'lost' ? answer : unexpected(answer);
  }

  return {
    scope: 'shared',

    async init() {
      const [policy, aof] = await run(SETTINGS, 'init');
      if (policy !== 'noeviction' && policy !== UNKNOWN) {
        console.warn(`service-webhooks: Redis may evict what is in progress: its maxmemory-policy is ${policy}`);
      }
      if (aof === '0') console.warn('service-webhooks: Redis forgets events in a restart: its appendonly is off');
    },

    async claim({ key, token, fingerprint, alias = '', leaseMs, retainMs }): Promise<ClaimResult> {
      integers({ leaseMs, retainMs }, { leaseMs: undefined, retainMs: undefined });
      const [status, ...row] = await run(CLAIM, key, token, fingerprint, alias, leaseMs, retainMs);
      const { fence, attempt, left, ...seen } = readRow(row);
      if (status === 'acquired') return { status, fence, attempt, seen };
      if (status === 'completed') return { status, fence, seen };
      return status === 'in_progress' ? { status, fence, retryAfterMs: left, seen } : unexpected(status);
    },

    async extend({ key, token }, { leaseMs }) {
      integers({ leaseMs }, { leaseMs: undefined });
      return mutate(EXTEND, key, token, leaseMs);
    },

    async complete({ key, token, fingerprint, alias = '', fence }, { retainMs }) {
      integers({ retainMs }, { retainMs: undefined });
      return mutate(COMPLETE, key, token, fingerprint, alias, fence, retainMs);
    },

    async release({ key, token }) {
      return mutate(RELEASE, key, token);
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const [state, retain, ...row] = await run(INSPECT, key);
      if (state === 'absent') return undefined;
      if (state !== 'in_progress' && state !== 'completed' && state !== 'released') return unexpected(state);
      const { left, ...record } = readRow(row);
      const leaseMsLeft = state === 'in_progress' ? left : undefined;
      return { state, ...record, leaseMsLeft, retainMsLeft: Number(retain) };
    },

    async forget(key) {
      await run(FORGET, key);
    },

    /** Redis has done it. */
    async purgeExpired() {
      return 0;
    },
  };
}

type Evaluate = (script: string, key: string, args: string[]) => Promise<unknown>;

function evaluator(client: RedisClient): Evaluate {
  const { ioredis, nodeRedis, upstash } = client ?? {};
  const given = [ioredis, nodeRedis, upstash].filter((one) => typeof one?.eval === 'function');
  check(given.length === 1, 'redisStore takes { ioredis: client }, { nodeRedis: client } or { upstash: client }');
  if (ioredis) return (script, key, args) => ioredis.eval(script, 1, key, ...args);
  if (nodeRedis) return (script, key, args) => nodeRedis.eval(script, { keys: [key], arguments: args });
  return (script, key, args) => (upstash as UpstashClient).eval(script, [key], args);
}

function readRow([fence, attempt, left, fingerprint = '', alias]: string[]) {
  return {
    fence: Number(fence),
    attempt: Number(attempt),
    left: Number(left),
    fingerprint: decodeURIComponent(fingerprint),
    alias: alias ? decodeURIComponent(alias) : undefined,
  };
}

function unexpected(reply: string | undefined): never {
  throw new Error(`Redis answered ${reply}`);
}

// A row is one string, so that it and its time to live are written by one command. Replies are one string as well,
// never one that is JSON: the client of Upstash would parse it.
const ROW = `
local row = redis.call('GET', KEYS[1])
local state, fence, attempt, lease, token, fingerprint, alias =
  string.match(row or '', '^(%S+) (%d+) (%d+) (%d+) (%S*) (%S*) (%S*)$')
if row and not state then return redis.error_reply('ERR ' .. KEYS[1] .. ' holds something else') end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function words(...) return table.concat({...}, ' ') end
local function write(newState, newLease, ...)
  redis.call('SET', KEYS[1], words(newState, fence, attempt, newLease, token, fingerprint, alias), ...)
end`;

const CLAIM = `${ROW}
local left = state == 'in_progress' and lease - now or 0
local mine = state == 'in_progress' and token == ARGV[1]
if state == 'completed' or left > 0 and not mine then
  return words(state, fence, attempt, left, fingerprint, alias)
end
if not state then fence, attempt, fingerprint, alias = 0, 0, ARGV[2], ARGV[3] end
if not mine then fence, attempt, token = fence + 1, attempt + 1, ARGV[1] end
write('in_progress', string.format('%.0f', now + ARGV[4]), 'PX', ARGV[5])
return words('acquired', fence, attempt, 0, fingerprint, alias)`;

const EXTEND = `${ROW}
if state ~= 'in_progress' or token ~= ARGV[1] then return 'lost' end
local short = redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2])
write(state, string.format('%.0f', now + ARGV[2]), unpack(short and {'PX', ARGV[2]} or {'KEEPTTL'}))
return 'ok'`;

const COMPLETE = `${ROW}
if state and (state == 'released' or token ~= ARGV[1]) then return 'lost' end
if not state then fence, attempt, token, fingerprint, alias = ARGV[4], 1, ARGV[1], ARGV[2], ARGV[3] end
if state ~= 'completed' then write('completed', 0, 'PX', ARGV[5]) end
return 'ok'`;

const RELEASE = `${ROW}
if not state or state == 'released' then return 'ok' end
if state == 'completed' or token ~= ARGV[1] then return 'lost' end
write('released', 0, 'KEEPTTL')
return 'ok'`;

const INSPECT = `${ROW}
if not state then return 'absent' end
return words(state, redis.call('PTTL', KEYS[1]), fence, attempt, string.format('%.0f', lease - now), fingerprint, alias)`;

const FORGET = `redis.call('DEL', KEYS[1]) return 'ok'`;

// INFO says it as well as CONFIG GET does, and is allowed more often; the key decides which node of a cluster is asked.
const UNKNOWN = 'unknown';
const SETTINGS = `
local function read(section, pattern)
  local info = redis.pcall('INFO', section)
  return type(info) == 'string' and string.match(info, pattern) or '${UNKNOWN}'
end
return read('memory', 'maxmemory_policy:(%S+)') .. ' ' .. read('persistence', 'aof_enabled:(%d)')`;
