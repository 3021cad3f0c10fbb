// Claim and complete over Redis, beside the least that anybody could do: SET NX PX and DEL. Both take turns in one run,
// so that what else the machine does meets both alike. The ratio is the one of each turn; its median and its middle
// half are printed.
//
//   npm run build && node bench/stores/redis.bench.mjs        REDIS_URL, or 127.0.0.1:6379
//
// On one machine the ratio is that of the processor time of client and server. Over a link, here one of a millisecond
// there and one back, it is that of the round trips.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { redisStore } from 'service-webhooks/stores/redis';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;
const TURNS = 41;
const GOAL = 0.8;
const RETAIN_MS = 60_000;
const keyPrefix = `bench-${crypto.randomUUID()}:`;

if (process.argv[2] === 'link') serveLink(new URL(REDIS_URL));
else await run();

async function run() {
  const link = fork(fileURLToPath(import.meta.url), ['link']);
  const [port] = await once(link, 'message');
  console.log('                            bare pairs/s   claim + complete   ratio (middle half)');
  for (const [place, url] of [
    ['same machine', REDIS_URL],
    ['link of 1 ms', REDIS_URL.replace(/\/\/.*/, `//127.0.0.1:${port}`)],
  ]) {
    const ioredis = new Redis(url);
    const nodeRedis = await createClient({ url }).connect();
    for (const atOnce of [1, 32]) {
      const withIoredis = redisStore({ ioredis }, { keyPrefix });
      const withNodeRedis = redisStore({ nodeRedis }, { keyPrefix });
      await compare(`${place}, ioredis, ${atOnce}`, atOnce, withIoredis, async (key, token) => {
        await ioredis.set(key, token, 'PX', RETAIN_MS, 'NX');
        await ioredis.del(key);
      });
      await compare(`${place}, node-redis, ${atOnce}`, atOnce, withNodeRedis, async (key, token) => {
        await nodeRedis.set(key, token, { expiration: { type: 'PX', value: RETAIN_MS }, condition: 'NX' });
        await nodeRedis.del(key);
      });
    }
    await forget(ioredis);
    ioredis.disconnect();
    nodeRedis.destroy();
  }
  link.kill();
}

async function compare(name, atOnce, store, bare) {
  const ours = async (key, token) => {
    const request = { key, token, fingerprint: token, alias: token, leaseMs: 25_000, retainMs: RETAIN_MS };
    const { fence } = await store.claim(request);
    await store.complete({ ...request, fence }, request);
  };
  await turn(bare, atOnce); // warms both up
  await turn(ours, atOnce);
  const turns = [];
  for (let i = 0; i < TURNS; i += 1) {
    const [first, second] = i % 2 ? [ours, bare] : [bare, ours];
    const rates = [await turn(first, atOnce), await turn(second, atOnce)];
    const [bareRate, ourRate] = i % 2 ? rates.reverse() : rates;
    turns.push({ bareRate, ourRate, ratio: ourRate / bareRate });
  }
  const quantile = (field, part) => turns.map((one) => one[field]).sort((a, b) => a - b)[Math.floor(TURNS * part)];
  const rate = (field) => Math.round(quantile(field, 0.5)).toLocaleString('en').padStart(12);
  const [low, middle, high] = [0.25, 0.5, 0.75].map((part) => quantile('ratio', part).toFixed(2));
  const isMet = Number(middle) >= GOAL;
  if (!isMet) process.exitCode = 1;
  const verdict = isMet ? 'ok' : `MISSED ${GOAL}`;
  console.log(
    `${name.padEnd(28)}${rate('bareRate')}   ${rate('ourRate').padStart(16)}   ${middle} (${low} to ${high})   ${verdict}`,
  );
}

/** Pairs a second, over some 50 ms. */
async function turn(pair, atOnce) {
  const start = performance.now();
  let pairs = 0;
  const worker = async () => {
    for (; performance.now() - start < 50; pairs += 1) {
      const id = crypto.randomUUID();
      await pair(`${keyPrefix}default:evt_${id}`, id);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return pairs / ((performance.now() - start) / 1000);
}

async function forget(redis) {
  for await (const keys of redis.scanStream({ match: `${keyPrefix}*`, count: 1_000 })) {
    if (keys.length > 0) await redis.unlink(keys);
  }
}

/** Hands everything on a millisecond later, in a process of its own. */
function serveLink({ hostname, port }) {
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: hostname, port: Number(port || 6379), noDelay: true });
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ]) {
      from.on('data', (data) => setTimeout(() => to.write(data), 1));
      from.on('close', () => to.destroy());
      from.on('error', () => {});
    }
  });
  server.listen(0, '127.0.0.1', () => process.send(server.address().port));
}
