/** A step on BullMQ's own keys that its API does not have. */
export interface RedisScript {
  /** The name of the command that the client gets. */
  name: string;
  numberOfKeys: number;
  lua: string;
}

/** The part of BullMQ's Redis client that is used. */
interface RedisClient {
  defineCommand(name: string, definition: { numberOfKeys: number; lua: string }): void;
  runCommand(name: string, args: string[]): Promise<unknown>;
}

/**
 * Deletes a failed job. Takes the set of failed jobs, the job and its log, and the id. Returns 1 to one of several callers:
 * BullMQ's own `remove()` deletes a job in any state, and succeeds for all of them.
 */
export const DISCARD: RedisScript = {
  name: 'serviceWebhooksDiscard',
  numberOfKeys: 3,
  lua: "if redis.call('ZREM', KEYS[1], ARGV[1]) == 0 then return 0 end redis.call('DEL', KEYS[2], KEYS[3]) return 1",
};

/**
 * Returns 1 where the data of a job has a text, 0 where it does not, and null where there is no such job. Takes the job and
 * the text. The data, which may be large, stays in Redis.
 */
export const HAS_TEXT: RedisScript = {
  name: 'serviceWebhooksHasText',
  numberOfKeys: 1,
  lua: `
local data = redis.call('HGET', KEYS[1], 'data')
if not data then return nil end
return string.find(data, ARGV[1], 1, true) and 1 or 0`,
};

/** Sets the time at which a job was put, where the job is there. Takes the job and the time in milliseconds since the epoch. */
export const PUT_AGAIN: RedisScript = {
  name: 'serviceWebhooksPutAgain',
  numberOfKeys: 1,
  lua: "if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'timestamp', ARGV[1]) end",
};

/**
 * Makes retries due that were scheduled before a clock went back: their last run began later than now. Takes the set of
 * delayed jobs, the key prefix of a job, the latest time at which a run can have begun, the score of a job that is due, and the
 * first and last place of the jobs to look at, the latest ones first. Returns how many there are.
 */
export const CATCH_UP: RedisScript = {
  name: 'serviceWebhooksCatchUp',
  numberOfKeys: 1,
  lua: `
local ids = redis.call('ZREVRANGE', KEYS[1], ARGV[4], ARGV[5])
for _, id in ipairs(ids) do
  local startedAt = tonumber(redis.call('HGET', ARGV[1] .. id, 'processedOn') or '')
  if startedAt and startedAt > tonumber(ARGV[2]) then redis.call('ZADD', KEYS[1], 'XX', ARGV[3], id) end
end
return #ids`,
};

/**
 * Replaces the data of a completed job, and empties its options. Takes the set of completed jobs, the job, its id and the data.
 * All fields are written again, because Redis stores a hash in little memory only if it never had a long value.
 */
export const SHORTEN: RedisScript = {
  name: 'serviceWebhooksShorten',
  numberOfKeys: 2,
  lua: `
if not redis.call('ZSCORE', KEYS[1], ARGV[1]) then return end
redis.call('HSET', KEYS[2], 'data', ARGV[2], 'opts', '{}')
local fields = redis.call('HGETALL', KEYS[2])
redis.call('DEL', KEYS[2])
for i = 1, #fields, 2 do redis.call('HSET', KEYS[2], fields[i], fields[i + 1]) end`,
};

/** Runs a script on the Redis of a queue, with the arguments of its keys first. */
export async function runScript(
  queue: { getBackend(): unknown },
  script: RedisScript,
  ...args: string[]
): Promise<unknown> {
  const client = await (queue.getBackend() as { client: Promise<RedisClient> }).client;
  if (!(script.name in client)) client.defineCommand(script.name, script);
  return client.runCommand(script.name, args);
}
