import { afterAll } from 'vitest';
import { findNats } from '../../../../../test/support/nats.js';
import { startPostgres } from '../../../../../test/support/postgres.js';
import { findRabbitmq } from '../../../../../test/support/rabbitmq.js';
import { findRedis } from '../../../../../test/support/redis.js';

/** Returns the servers of engines that this machine has. They stay up until the tests of the file have ended. */
export async function queueServers() {
  const redis = await findRedis();
  const postgres = await startPostgres();
  const nats = await findNats();
  afterAll(async () => {
    await redis?.stop();
    await postgres?.stop();
    await nats?.stop();
  });
  return { redis: redis?.url, postgres, rabbitmq: await findRabbitmq(), nats: nats?.url };
}
