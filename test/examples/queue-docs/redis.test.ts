import { Queue } from 'bullmq';
import { bullmqQueue } from 'service-webhooks/queue/bullmq';
import { afterAll, describe, it } from 'vitest';
import { canStartRedis, DURABLE, startRedis } from '../../support/redis.js';
import { describePrograms } from './restarts.js';

const server = canStartRedis() ? await startRedis(...DURABLE) : undefined;
afterAll(() => server?.stop());

describe('the documented queue recipe while Redis stops and starts again', () => {
  // biome-ignore lint/suspicious/noSkippedTests: a group needs a test, also where its server is missing
  if (server === undefined) return it.skip('no test runs without Redis', () => {});

  describePrograms({
    section: 'Queue deliveries',
    variable: 'REDIS_URL',
    server,
    async depth() {
      const queue = new Queue('webhooks', { connection: { url: server.url } });
      const { depth } = await bullmqQueue({ queue }).stats();
      await queue.close();
      return depth;
    },
  });
});
