import { redisStore } from '../../src/stores/redis.js';
import { openIoredis, openNodeRedis } from '../support/redis.js';

/** What another process is asked to do. */
export interface Task {
  url: string;
  keyPrefix: string;
  key: string;
  do:
    | /** Says how many of its simultaneous claims were acquired, by a clock that is wrong. */ 'claim at once'
    | /** Claims, says so and hangs. */ 'hold'
    | /** Claims, completes, says so and hangs. */ 'complete';
  count?: number;
  clockMs?: number;
}

const { url, keyPrefix, key, do: work, count = 1, clockMs = 0 }: Task = JSON.parse(process.argv[2] ?? '{}');
const realNow = Date.now;
Date.now = () => realNow() + clockMs;

const ioredis = openIoredis(url);
const nodeRedis = openNodeRedis(url);
const stores = [redisStore({ ioredis }, { keyPrefix }), redisStore({ nodeRedis }, { keyPrefix })] as const;
const aRequest = () => ({ key, token: crypto.randomUUID(), fingerprint: 'f', leaseMs: 60_000, retainMs: 120_000 });
const say = (word: unknown) => process.send?.(word);
const told = () => new Promise((resolve) => process.once('message', resolve));

if (work === 'claim at once') {
  await Promise.all([ioredis.ping(), nodeRedis.ping()]);
  say('ready');
  await told();
  const claims = Array.from({ length: count }, (_, i) => stores[i % 2 === 0 ? 0 : 1].claim(aRequest()));
  const statuses = (await Promise.all(claims)).map(({ status }) => status);
  say(Object.fromEntries(['acquired', 'in_progress'].map((one) => [one, statuses.filter((s) => s === one).length])));
  ioredis.disconnect();
  nodeRedis.destroy();
} else {
  const request = aRequest();
  const { fence } = await stores[0].claim(request);
  if (work === 'complete') await stores[0].complete({ ...request, fence }, request);
  say('done');
  await told();
}
