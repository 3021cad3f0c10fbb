import { check, checkPositiveInteger } from '../check.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';

/** The client that is there already, named for what it is. It is never closed, and gets no listener. */
export type RedisClient =
  | { ioredis: IoredisClient; nodeRedis?: undefined; upstash?: undefined }
  | { nodeRedis: NodeRedisClient; ioredis?: undefined; upstash?: undefined }
  | { upstash: UpstashClient; ioredis?: undefined; nodeRedis?: undefined };

/** A `Redis` or a `Cluster` of `ioredis`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArgs: string[]): Promise<unknown>;
}

/** What `createClient`, `createClientPool`, `createCluster` or `createSentinel` of `redis` makes. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A `Redis` of `@upstash/redis`. */
export interface UpstashClient {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
}

/** How a {@link redisStore} names its keys. */
export interface RedisStoreOptions {
  /** In front of every key; `'service-webhooks:'`. */
  keyPrefix?: string | undefined;
}

/**
 * Remembers events in Redis (from 6.0), Valkey, a Redis Cluster or Upstash, for all receivers on it. The server's clock
 * counts; each operation is one round trip with one script on one key.
 *
 * What Redis forgets is handled again: it should not evict (`maxmemory-policy noeviction`) and should keep its data
 * over a restart (`appendonly yes`). `init()` warns where it does not; it fails only where a claim would fail, too.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * createReceiver({ secret, on, dedupe: { store: redisStore({ ioredis: new Redis(url) }) } });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): DedupeStore {
  const { keyPrefix = 'service-webhooks:' } = options;
  check(typeof keyPrefix === 'string', 'keyPrefix must be a string');
  const evaluate = evaluator(client);
  let warned = false;
  const run = async (script: string, key: string, ...args: string[]) =>
    String(await evaluate(script, keyPrefix + key, args));

  return {
    scope: 'shared',

    async init() {
      if (warned) return;
      const [policy, appendOnly] = (await run(SETTINGS, 'init')).split('\n');
      if (policy && policy !== 'noeviction') {
        console.warn(`service-webhooks: Redis may evict events: its maxmemory-policy is ${policy}, not noeviction`);
      }
      if (appendOnly === '0') {
        console.warn('service-webhooks: Redis may forget events in a restart: its appendonly is no');
      }
      warned = true;
    },

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', leaseMs);
      checkPositiveInteger('retainMs', retainMs);
      const fresh = rowOf(token, retainMs - leaseMs, 1, fingerprint, alias);
      const reply = await run(CLAIM, key, fresh, String(retainMs));
      if (reply === 'new') return { status: 'acquired', fence: 1, attempt: 1, seen: { fingerprint, alias } };
      const { state, owner, fence, seen, leaseMsLeft } = readRow(reply);
      if (state === 'completed') return { status: state, fence, seen };
      if (owner === token) return { status: 'acquired', fence, attempt: fence, seen };
      return { status: 'in_progress', fence, retryAfterMs: leaseMsLeft, seen };
    },

    async extend({ key, token }, { leaseMs }) {
      checkPositiveInteger('leaseMs', leaseMs);
      return toMutation(await run(EXTEND, key, token, String(leaseMs)));
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }) {
      checkPositiveInteger('retainMs', retainMs);
      const mine = rowOf(token, 0, fence, fingerprint, alias);
      return toMutation(await run(COMPLETE, key, mine, String(retainMs)));
    },

    async release({ key, token }) {
      return toMutation(await run(RELEASE, key, token));
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const reply = await run(INSPECT, key);
      if (reply === 'absent') return undefined;
      const { state, fence, seen, leaseMsLeft, retainMsLeft } = readRow(reply);
      const lease = state === 'in_progress' ? { leaseMsLeft } : {};
      return { state, fence, attempt: fence, ...seen, ...lease, retainMsLeft };
    },

    async forget(key) {
      await run(FORGET, key);
    },

    /** Nothing is left to do: Redis removes what has expired. */
    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
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

// A row is one string, so that one command writes it together with its time to live: the state's letter and the
// owner's token, `lapse`, fence, fingerprint, alias. The lease is over when no more than `lapse` milliseconds are left
// to live; so the server's clock counts, and nobody has to ask it for the time. The fence counts attempts as well.
const STATES: Readonly<Record<string, DedupeRecord['state']>> = {
  p: 'in_progress',
  c: 'completed',
  r: 'released',
};

/** A row in progress. */
function rowOf(token: string, lapse: number, fence: number, fingerprint: string, alias = ''): string {
  return `p${token}\n${lapse}\n${fence}\n${fingerprint}\n${alias}`;
}

/** A reply that is what is left to live, and the row. Such a reply is no JSON: the Upstash client would parse it. */
function readRow(reply: string) {
  const [ttl, owner, lapse, fence, fingerprint, alias] = reply.split('\n');
  const state = STATES[String(owner).charAt(0)];
  if (state === undefined) return unexpected(reply);
  return {
    state,
    owner: String(owner).slice(1),
    fence: Number(fence),
    seen: { fingerprint: String(fingerprint), alias: alias || undefined },
    leaseMsLeft: Number(ttl) - Number(lapse),
    retainMsLeft: Number(ttl),
  };
}

function toMutation(reply: string): Mutation {
  return reply === 'ok' || reply === 'lost' ? reply : unexpected(reply);
}

function unexpected(reply: string): never {
  throw new Error(`not an answer of redisStore: ${reply}`);
}

// EVAL with the source each time, short as it is: whoever sends a digest has to deal with servers that lost the script.
// What is left to live is read once: a script's clock goes on (before Redis 7.2), and a lease that is held has time left.
const CLAIM = `if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 'new' end
local fields = '^(.)(.-)\\n(.-)\\n(.-)\\n(.*)'
local row, ttl = redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])
local state, owner, lapse, fence, seen = string.match(row, fields)
local _, token, newLapse = string.match(ARGV[1], fields)
local mine = state == 'p' and owner == token
if mine or state == 'r' or state == 'p' and ttl <= tonumber(lapse) then
  if not mine then fence = fence + 1 end
  row, ttl = table.concat({'p' .. token, newLapse, fence, seen}, '\\n'), ARGV[2]
  redis.call('SET', KEYS[1], row, 'PX', ttl)
end
return ttl .. '\\n' .. row`;

const EXTEND = `local owner, rest = string.match(redis.call('GET', KEYS[1]) or '', '^p(.-)\\n.-(\\n.*)')
if owner ~= ARGV[1] then return 'lost' end
local lease = tonumber(ARGV[2])
local ttl = math.max(redis.call('PTTL', KEYS[1]), lease)
redis.call('SET', KEYS[1], 'p' .. owner .. '\\n' .. ttl - lease .. rest, 'PX', ttl)
return 'ok'`;

// A row that is gone is taken to be what its owner left.
const COMPLETE = `local row = redis.call('GET', KEYS[1]) or ARGV[1]
local state, owner = string.match(row, '^(.)(.-)\\n')
if state == 'r' or owner ~= string.match(ARGV[1], '^p(.-)\\n') then return 'lost' end
redis.call('SET', KEYS[1], 'c' .. row:sub(2), 'PX', ARGV[2])
return 'ok'`;

const RELEASE = `local row = redis.call('GET', KEYS[1])
if not row or row:sub(1, 1) == 'r' then return 'ok' end
if string.match(row, '^p(.-)\\n') ~= ARGV[1] then return 'lost' end
redis.call('SET', KEYS[1], 'r' .. row:sub(2), 'KEEPTTL')
return 'ok'`;

const INSPECT = `local row = redis.call('GET', KEYS[1])
return row and redis.call('PTTL', KEYS[1]) .. '\\n' .. row or 'absent'`;

const FORGET = `redis.call('DEL', KEYS[1]) return 'ok'`;

// INFO tells what CONFIG GET does, and is allowed where that is not. The key says which node of a cluster is asked.
const SETTINGS = `local function read(section, setting)
  local info = redis.pcall('INFO', section)
  return type(info) == 'string' and string.match(info, setting .. ':(%S+)') or ''
end
return read('memory', 'maxmemory_policy') .. '\\n' .. read('persistence', 'aof_enabled')`;
