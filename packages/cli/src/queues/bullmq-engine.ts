import { jobReader } from 'service-webhooks/queue';
import { type BullmqQueueClient, type BullmqStoredJob, bullmqQueue } from 'service-webhooks/queue/bullmq';
import { needed } from '../installed.js';
import { connectIoredis, type Ioredis, type IoredisModule, REDIS_URL } from '../redis-client.js';
import { type StoredJob, storedJob } from './listed-letter.js';
import { existingQueue, type QueueEngine } from './queue-engine.js';

interface Bullmq {
  Queue: new (
    name: string,
    options: object,
  ) => BullmqQueueClient & {
    on(event: 'error', listener: () => void): unknown;
    getJobs(types: string[], start: number, end: number, isAscending: true): Promise<BullmqStoredJob[]>;
  };
}

/** What BullMQ calls the states of a job. */
const TYPES = {
  waiting: ['wait', 'prioritized', 'delayed'],
  running: ['active'],
  done: ['completed'],
} as const;

export const bullmqEngine: QueueEngine = {
  name: 'bullmq',
  says: 'the URL of the Redis of BullMQ',
  url: REDIS_URL,

  async open({ address, queue, prefix = 'bull', bodies }) {
    const { Queue } = needed<Bullmq>('bullmq');
    const redis = await connectIoredis(needed<IoredisModule>('bullmq', 'ioredis'), address);
    const isThere = queue !== undefined && (await redis.exists(`${prefix}:${queue}:meta`)) === 1;
    const name = isThere ? queue : existingQueue(queue, await namesIn(redis, prefix), 'Redis');
    const client = new Queue(name, { connection: redis, prefix, skipMetasUpdate: true });
    client.on('error', () => {});
    const read = jobReader(bodies);
    return {
      queue: bullmqQueue({ queue: client, ...bodies }),
      jobs: (state) =>
        TYPES[state].map((type) => async ({ limit, offset }) => {
          const found = await client.getJobs([type], offset, offset + limit - 1, true);
          const jobs: StoredJob[] = [];
          for (const { id = '', data: job, timestamp: queuedAt, attemptsMade: attempts, failedReason: reason } of found)
            jobs.push({
              ...(await storedJob(read, id, { state, job, queuedAt, attempts, reason })),
              eventId: eventIdIn(id),
            });
          return jobs;
        }),
      close: async () => redis.disconnect(),
    };
  },
};

/** Returns the event id from the id of a job, its encoded key, which is all that is left of a finished one. */
function eventIdIn(id: string): string | undefined {
  return /^[^%]+%3A(?:tenant%3D[^%]+%3A)?(evt_[^%]+)$/.exec(id)?.[1];
}

/** Reads a part of the keys alone, since a Redis may have many of other programs. */
async function namesIn(redis: Ioredis, prefix: string): Promise<string[]> {
  const [MOST_SCANS, KEYS_EACH] = [200, 1_000];
  const names: string[] = [];
  let cursor = '0';
  for (let scans = 0; scans < MOST_SCANS; scans += 1) {
    const [next, keys] = await redis.scan(cursor, 'MATCH', `${prefix}:*:meta`, 'COUNT', KEYS_EACH);
    names.push(...keys.map((key) => key.slice(prefix.length + 1, -':meta'.length)));
    cursor = next;
    if (cursor === '0') break;
  }
  return [...new Set(names)].sort();
}
