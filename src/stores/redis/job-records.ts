import { checkPositiveInteger } from '../../option-checks.js';
import { checkRecord } from '../check-record.js';
import type { JobRecord, JobRecords } from '../contract.js';
import { type RedisClient, type Run, unexpected } from './client.js';
import { subscribe } from './subscribe.js';

// Open records are the fields of one hash, and a sorted set has their keys by the time at which they are due. Any other
// record is a key of its own, which Redis removes. Each is its version, its `dueAt` or nothing, and its text, separated by
// line feeds. No event has such keys, because the name of an endpoint is not empty, and a Redis Cluster keeps keys with the
// same text in braces in one slot.
const OPEN = ':jobs:{jobs}';
const DUE = `${OPEN}:due`;
const endedKey = (key: string) => `${OPEN}:ended:${key}`;

/** Returns the records of jobs. Expired ones need no purge. */
export function jobsInRedis(run: Run, client: RedisClient, keyPrefix: string): JobRecords {
  const channel = keyPrefix + OPEN;
  return {
    async read(key) {
      const reply = await run(READ, [OPEN, endedKey(key)], key);
      const [, now, record] = /^at (\d+)\n?(.*)$/s.exec(reply) ?? unexpected(reply);
      return { now: Number(now), record: record ? recordOf(key, record) : undefined };
    },

    async write(record, replaces = '') {
      checkRecord(record);
      const { key, version, text, dueAt, keepMs } = record;
      const values = [key, version, replaces, `${version}\n${dueAt ?? ''}\n${text}`];
      const reply =
        dueAt === undefined
          ? await run(WRITE_ENDED, [OPEN, DUE, endedKey(key)], ...values, keepMs as number, channel)
          : await run(WRITE_OPEN, [OPEN, DUE, endedKey(key)], ...values, dueAt);
      return reply === 'ok' || (reply === 'refused' ? false : unexpected(reply));
    },

    async remove(key) {
      await run(REMOVE, [OPEN, DUE, endedKey(key)], key);
    },

    async list({ limit, overdue, after }) {
      checkPositiveInteger('limit', limit);
      const reply = await run(LIST, [OPEN, DUE], limit, overdue ? 'overdue' : '', after?.dueAt ?? '', after?.key ?? '');
      if (!reply.startsWith('list')) unexpected(reply);
      // An object where it is empty: Lua does not tell an empty list from one.
      const found: [key: string, record: string][] = Object.values(JSON.parse(reply.slice('list'.length)));
      return found.map(([key, record]) => recordOf(key, record));
    },

    async count() {
      const [, now, open, overdue, first] = (await run(COUNT, DUE)).split('\n');
      const firstDueAt = first ? Number(first) : undefined;
      return { now: Number(now), open: Number(open), overdue: Number(overdue), firstDueAt };
    },

    /** Returns 0: Redis removes expired records itself. */
    async purgeExpired({ limit }) {
      checkPositiveInteger('limit', limit);
      return 0;
    },

    watch: (changed) => subscribe(client, channel, changed),
  };
}

function recordOf(key: string, stored: string): JobRecord {
  const [, version = '', dueAt, text = ''] = /^([^\n]*)\n(\d*)\n(.*)$/s.exec(stored) ?? unexpected(stored);
  return dueAt ? { key, version, text, dueAt: Number(dueAt) } : { key, version, text };
}

// The clock in milliseconds, which Lua would write with an exponent.
const NOW = `local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))`;

// Keys: open records, index, ended record. Arguments: key, version, the version that is replaced or nothing, record.
const COMPARE = `local stored = redis.call('HGET', KEYS[1], ARGV[1]) or redis.call('GET', KEYS[3]) or ''
local version = string.match(stored, '^[^\\n]*')
if version == ARGV[2] then return 'ok' end
if version ~= ARGV[3] then return 'refused' end`;

// Another argument: the time at which it is due. A server without memory refuses the first command that needs some, and
// then nothing has changed.
const WRITE_OPEN = `${COMPARE}
redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
redis.call('ZADD', KEYS[2], ARGV[5], ARGV[1])
redis.call('DEL', KEYS[3])
return 'ok'`;

// Other arguments: time to live, channel. A user without a right to the channel writes without a notification.
const WRITE_ENDED = `${COMPARE}
redis.call('SET', KEYS[3], ARGV[4], 'PX', ARGV[5])
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.pcall('PUBLISH', ARGV[6], ARGV[1])
return 'ok'`;

// Keys: open records, ended record. Argument: key.
const READ = `${NOW}
local stored = redis.call('HGET', KEYS[1], ARGV[1]) or redis.call('GET', KEYS[2])
return 'at ' .. now .. (stored and '\\n' .. stored or '')`;

// Keys: open records, index, ended record. Argument: key.
const REMOVE = `redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[3])
return 'ok'`;

// Keys: open records, index. Arguments: limit, whether only overdue ones, and the dueAt and the key that they come after.
// The first of those with this dueAt is found by halves, as there may be many of them. Lua compares texts by the locale of
// the server, and the index is ordered by bytes.
const LIST = `local function isAfter(key, other)
  for i = 1, math.max(#key, #other) do
    local a, b = key:byte(i) or -1, other:byte(i) or -1
    if a ~= b then return a > b end
  end
  return false
end
local first = 0
if ARGV[3] ~= '' then
  first = redis.call('ZCOUNT', KEYS[2], '-inf', '(' .. ARGV[3])
  local last = redis.call('ZCOUNT', KEYS[2], '-inf', ARGV[3])
  while first < last do
    local middle = math.floor((first + last) / 2)
    if isAfter(redis.call('ZRANGE', KEYS[2], middle, middle)[1], ARGV[4]) then last = middle else first = middle + 1 end
  end
end
local stop = first + ARGV[1] - 1
if ARGV[2] ~= '' then
  ${NOW}
  stop = math.min(stop, redis.call('ZCOUNT', KEYS[2], '-inf', now) - 1)
end
local found = {}
if stop >= first then
  for _, key in ipairs(redis.call('ZRANGE', KEYS[2], first, stop)) do
    local record = redis.call('HGET', KEYS[1], key)
    if record then found[#found + 1] = {key, record} end
  end
end
return 'list' .. cjson.encode(found)`;

// Key: index.
const COUNT = `${NOW}
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2] or ''
local counts = {'count', now, redis.call('ZCARD', KEYS[1]), redis.call('ZCOUNT', KEYS[1], '-inf', now), first}
return table.concat(counts, '\\n')`;
