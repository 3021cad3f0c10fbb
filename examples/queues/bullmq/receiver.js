import { Queue } from 'bullmq';
import express from 'express';
import { Redis } from 'ioredis';
import { webhookHandler } from 'service-webhooks/express';
import { redisStore } from 'service-webhooks/stores/redis';

const { WEBHOOK_SECRET: secret = '', REDIS_URL = 'redis://127.0.0.1:6379', PORT = '3000' } = process.env;

// While Redis is away, the receiver refuses deliveries at once and the service retries them: none waits in this process.
const connection = new Redis(REDIS_URL, { enableOfflineQueue: false, maxRetriesPerRequest: 1 });
const queue = new Queue('webhooks', { connection });
queue.on('error', (error) => console.error(error.message));

const app = express();
app.post(
  '/webhooks',
  webhookHandler({
    secret,
    dedupe: { store: redisStore({ ioredis: connection }), name: 'clips' },
    observe: ({ kind, error }) => error && console.error(kind, error),
    on: {
      '*': async (event) => {
        await queue.add(event.type, event, {
          jobId: encodeURIComponent(event.id), // BullMQ refuses an id with a colon
          removeOnComplete: { age: 72 * 3600 }, // seconds; while a job is kept, its id is not queued again
          attempts: 5,
          backoff: { type: 'exponential', delay: 1_000 },
        });
        return { status: 202 };
      },
    },
  }),
);
app.listen(Number(PORT), () => console.log(`receiving on port ${PORT}`));
