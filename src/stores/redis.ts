import { check, checkKnownOptions, checkPositiveInteger } from '../option-checks.js';
import type { ClaimResult, DedupeRecord, DedupeStore, Mutation } from './contract.js';
import { type RedisClient, runOn, unexpected } from './redis/client.js';
import { jobsInRedis } from './redis/job-records.js';
import { MAX_REPORTS, SEPARATOR } from './reports.js';

export type {
  IoredisClient,
  IoredisSubscriber,
  NodeRedisClient,
  NodeRedisSubscriber,
  RedisClient,
  UpstashClient,
} from './redis/client.js';

/** Options of {@link redisStore}. */
export interface RedisStoreOptions {
  /** The beginning of every key. Default: `'service-webhooks:'`. */
  keyPrefix?: string | undefined;
}

/**
 * Returns a store that remembers events in Redis 6 or later, Valkey, a Redis Cluster or Upstash, for all receivers. The
 * store uses the clock of the server. Each operation on an event is one round trip that runs one script on one key.
 *
 * An event that Redis loses is handled again. Redis should therefore not evict (`maxmemory-policy noeviction`) and
 * should keep its data when it restarts (`appendonly yes`). `init()` warns where these settings differ.
 *
 * @throws WebhookError `invalid_option`
 * @example
 * const store = redisStore({ ioredis: new Redis(url) });
 * createReceiver({ secret, on, dedupe: { store, name: 'clips' } });
 */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): DedupeStore {
  checkKnownOptions('redisStore', options, ['keyPrefix']);
  const { keyPrefix = 'service-webhooks:' } = options;
  check(typeof keyPrefix === 'string', 'keyPrefix must be a string');
  const run = runOn(client, keyPrefix);
  let warned = false;

  return {
    scope: 'shared',

    async init() {
      if (warned) return;
      const [policy, appendOnly] = (await run(SETTINGS, 'init')).split('\n');
      if (policy && policy !== 'noeviction') {
        console.warn(`service-webhooks: Redis may evict events: its maxmemory-policy is ${policy}, not noeviction`);
      }
      if (appendOnly === '0') {
        console.warn('service-webhooks: Redis may lose events when it restarts: its appendonly is no');
      }
      warned = true;
    },

    async claim({ key, token, fingerprint, alias, leaseMs, retainMs }): Promise<ClaimResult> {
      checkPositiveInteger('leaseMs', leaseMs);
      checkPositiveInteger('retainMs', retainMs);
      const reply = await run(CLAIM, key, token, retainMs - leaseMs, seenOf(fingerprint, alias), retainMs);
      const { state, owner, fence, attempt, seen, leaseMsLeft } = readRow(reply);
      if (state === 'completed') return { status: state, fence, seen };
      if (owner === token) return { status: 'acquired', fence, attempt, seen };
      return { status: 'in_progress', fence, retryAfterMs: leaseMsLeft, seen };
    },

    async extend({ key, token }, { leaseMs }) {
      checkPositiveInteger('leaseMs', leaseMs);
      return toMutation(await run(EXTEND, key, token, leaseMs));
    },

    async complete({ key, token, fence, fingerprint, alias }, { retainMs }) {
      checkPositiveInteger('retainMs', retainMs);
      return toMutation(await run(COMPLETE, key, token, fence, seenOf(fingerprint, alias), retainMs));
    },

    async release({ key, token }) {
      return toMutation(await run(RELEASE, key, token));
    },

    async inspect(key): Promise<DedupeRecord | undefined> {
      const reply = await run(INSPECT, key);
      if (reply === 'absent') return undefined;
      const { state, fence, attempt, seen, leaseMsLeft, retainMsLeft } = readRow(reply);
      const lease = state === 'in_progress' ? { leaseMsLeft } : {};
      return { state, fence, attempt, ...seen, ...lease, retainMsLeft };
    },

    async forget(key) {
      await run(FORGET, key);
    },

    /** Returns 0: Redis removes expired rows itself. */
    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return 0;
    },

    async saveReport({ name, instance, text, ttlMs }) {
      checkPositiveInteger('ttlMs', ttlMs);
      const index = reportIndex(name);
      const keys = [index, reportKey(index, instance)];
      const [dropped] = list(await run(SAVE_REPORT, keys, instance, ttlMs, text, MAX_REPORTS));
      if (dropped !== undefined) await run(FORGET, reportKey(index, dropped));
    },

    async loadReports(name) {
      const index = reportIndex(name);
      const instances = list(await run(LIST_REPORTS, index, MAX_REPORTS));
      if (instances.length === 0) return [];
      const keys = instances.map((instance) => reportKey(index, instance));
      return list(await run(READ_REPORTS, keys));
    },

    jobs: jobsInRedis(run, client, keyPrefix),
  };
}

/**
 * Returns the key of the index of an endpoint's reports. No event has such a key, because the name of an endpoint is not
 * empty. A Redis Cluster keeps keys with the same text in braces in one slot.
 */
const reportIndex = (name: string) => `:health:{${encodeURIComponent(name)}}`;

const reportKey = (index: string, instance: string) => `${index}:${instance}`;

// A row is one string, so that one command writes it together with its time to live. Its lines are: the letter of the
// state and the token of the owner, `lapse`, fence, attempt, fingerprint, alias. The lease is over when at most `lapse`
// milliseconds are left to live: so leases follow the clock of the server.
const STATES: Readonly<Record<string, DedupeRecord['state']>> = {
  p: 'in_progress',
  c: 'completed',
  r: 'released',
};

function seenOf(fingerprint: string, alias = ''): string {
  return `${fingerprint}\n${alias}`;
}

/** Reads a reply: the milliseconds left to live, then the row. It is not JSON, which the Upstash client would parse. */
function readRow(reply: string) {
  const [ttl, owner, lapse, fence, attempt, fingerprint, alias] = reply.split('\n');
  const state = STATES[String(owner).charAt(0)];
  if (state === undefined) return unexpected(reply);
  return {
    state,
    owner: String(owner).slice(1),
    fence: Number(fence),
    attempt: Number(attempt),
    seen: { fingerprint: String(fingerprint), alias: alias || undefined },
    leaseMsLeft: Number(ttl) - Number(lapse),
    retainMsLeft: Number(ttl),
  };
}

/** Reads a list of texts. Its first part makes it a text that the Upstash client does not parse. */
function list(reply: string): string[] {
  const [first, ...texts] = reply.split(SEPARATOR);
  return first === 'list' ? texts : unexpected(reply);
}

function toMutation(reply: string): Mutation {
  return reply === 'ok' || reply === 'lost' ? reply : unexpected(reply);
}

// Scripts are sent as a whole each time, because a server may lose the ones it has cached.
//
// Arguments: token, lapse, fingerprint and alias, retention. The fence is the clock in microseconds, which Lua would
// write with an exponent. The time to live is read once: before Redis 7.2 it goes on while the script runs.
const CLAIM = `local row, ttl = redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1])
local state, owner, lapse, fence, attempt, seen = 'r', '', 0, 0, 0, ARGV[3]
if row then state, owner, lapse, fence, attempt, seen = string.match(row, '^(.)(.-)\\n(.-)\\n(.-)\\n(.-)\\n(.*)') end
local mine = state == 'p' and owner == ARGV[1]
if mine or state == 'r' or state == 'p' and ttl <= tonumber(lapse) then
  if not mine then
    local time = redis.call('TIME')
    fence = string.format('%.0f', math.max(fence + 1, time[1] * 1000000 + time[2]))
    attempt = attempt + 1
  end
  row, ttl = table.concat({'p' .. ARGV[1], ARGV[2], fence, attempt, seen}, '\\n'), ARGV[4]
  redis.call('SET', KEYS[1], row, 'PX', ttl)
end
return ttl .. '\\n' .. row`;

// Arguments: token, lease.
const EXTEND = `local owner, rest = string.match(redis.call('GET', KEYS[1]) or '', '^p(.-)\\n.-(\\n.*)')
if owner ~= ARGV[1] then return 'lost' end
local lease = tonumber(ARGV[2])
local ttl = math.max(redis.call('PTTL', KEYS[1]), lease)
redis.call('SET', KEYS[1], 'p' .. owner .. '\\n' .. ttl - lease .. rest, 'PX', ttl)
return 'ok'`;

// Arguments: token, fence, fingerprint and alias, retention. A row that is gone is created again for its owner.
const COMPLETE = `local row = redis.call('GET', KEYS[1]) or table.concat({'p' .. ARGV[1], 0, ARGV[2], 1, ARGV[3]}, '\\n')
local state, owner = string.match(row, '^(.)(.-)\\n')
if state == 'r' or owner ~= ARGV[1] then return 'lost' end
redis.call('SET', KEYS[1], 'c' .. row:sub(2), 'PX', ARGV[4])
return 'ok'`;

// Argument: token.
const RELEASE = `local row = redis.call('GET', KEYS[1])
if not row or row:sub(1, 1) == 'r' then return 'ok' end
if string.match(row, '^p(.-)\\n') ~= ARGV[1] then return 'lost' end
redis.call('SET', KEYS[1], 'r' .. row:sub(2), 'KEEPTTL')
return 'ok'`;

const INSPECT = `local row = redis.call('GET', KEYS[1])
return row and redis.call('PTTL', KEYS[1]) .. '\\n' .. row or 'absent'`;

const FORGET = `redis.call('DEL', KEYS[1]) return 'ok'`;

// A report is a key of its own. The index is a sorted set of the instances by the end of their reports.
//
// Keys: index, report. Arguments: instance, time to live, text, largest number of reports. Returns the instance whose
// report must be removed, because a script must not touch keys that it was not called with.
const SAVE_REPORT = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[2]), ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
if redis.call('ZCARD', KEYS[1]) <= tonumber(ARGV[4]) then return 'list' end
return 'list${SEPARATOR}' .. redis.call('ZPOPMIN', KEYS[1])[1]`;

// Key: index. Argument: largest number of reports. Returns the instances with the newest reports.
const LIST_REPORTS = `return table.concat({'list', unpack(redis.call('ZRANGE', KEYS[1], -ARGV[1], -1))}, '${SEPARATOR}')`;

// Keys: reports. Returns those that have not expired.
const READ_REPORTS = `local reply = {'list'}
for _, text in ipairs(redis.call('MGET', unpack(KEYS))) do
  if text then reply[#reply + 1] = text end
end
return table.concat(reply, '${SEPARATOR}')`;

// INFO contains the values of CONFIG GET and is permitted on more servers. The key decides which node of a cluster is
// asked.
const SETTINGS = `local function read(section, setting)
  local info = redis.pcall('INFO', section)
  return type(info) == 'string' and string.match(info, setting .. ':(%S+)') or ''
end
return read('memory', 'maxmemory_policy') .. '\\n' .. read('persistence', 'aof_enabled')`;
