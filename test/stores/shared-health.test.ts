import { createReceiver, type DedupeStore, type QueueStats } from 'service-webhooks';
import { postgresStore } from 'service-webhooks/stores/postgres';
import { redisStore } from 'service-webhooks/stores/redis';
import { afterAll, describe, expect, it } from 'vitest';
import { aRequest, now, SECRET } from '../support/deliveries.js';
import { poolOf, startPostgres } from '../support/postgres.js';
import { findRedis, openIoredis } from '../support/redis.js';

const redis = await findRedis();
const postgres = await startPostgres();
const closing: (() => unknown)[] = [];

afterAll(async () => {
  for (const close of closing) await close();
  await redis?.stop();
  await postgres?.stop();
});

const keyPrefix = `test-${crypto.randomUUID()}:`;

function overRedis(): DedupeStore {
  const client = openIoredis(redis?.url ?? '');
  closing.push(() => client.disconnect());
  return redisStore({ ioredis: client }, { keyPrefix });
}

function overPostgres(): DedupeStore {
  const pool = poolOf(postgres?.url ?? '');
  closing.push(() => pool.end());
  return postgresStore({ pg: pool }, { table: `${postgres?.schema}.deliveries` });
}

describe.each([
  ['redisStore', redis, overRedis],
  ['postgresStore', postgres, overPostgres],
])('the health of an endpoint on %s', (_, server, open) => {
  it.runIf(server)('two receivers with clients of their own see the reports of each other', async () => {
    const on = {
      'stt.failed': () => {
        throw new Error('no');
      },
      '*': () => {},
    };
    const receiverOf = (name: string) =>
      createReceiver({ secret: SECRET, now, on, logger: false, dedupe: { store: open(), name } });
    const [one, two, other] = [receiverOf('clips'), receiverOf('clips'), receiverOf('clip')];
    await one(aRequest());
    await two(aRequest({ event: { id: 'evt_2', type: 'stt.failed' } }));
    await two(aRequest({ secret: 'a guess' }));
    await other(aRequest({ secret: 'a guess' }));
    await Promise.all([one.health(), two.health(), other.health()]); // each writes its report
    const healths = await Promise.all([one.health(), two.health()]);
    for (const health of healths) {
      expect(health).toMatchObject({
        receivers: 2,
        lastAcceptedAt: expect.any(Number),
        lastFailed: { code: 'handler_failed' },
        lastRefused: { code: 'signature_mismatch' },
      });
    }
    expect(await other.health()).toMatchObject({ receivers: 1, lastAcceptedAt: undefined, refusalsInARow: 1 });
  });

  it.runIf(server)('a receiver without access to the queue has the state that another one has read', async () => {
    const receiverOf = (stats: () => Promise<QueueStats>) =>
      createReceiver({
        secret: SECRET,
        now,
        queue: { name: 'songs', put: async () => 'queued', stats },
        logger: false,
        dedupe: { store: open(), name: 'songs' },
      });
    const state = { depth: 3, oldestMs: 90_500, dead: 2 };
    const one = receiverOf(async () => state);
    const two = receiverOf(() => Promise.reject(new Error('away')));
    await one(aRequest()); // creates the table
    await one.health();
    expect(await two.health()).toMatchObject({ queue: { at: expect.any(Number), ...state } });
  });
});
