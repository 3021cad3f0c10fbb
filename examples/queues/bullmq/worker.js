import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { work } from '../work.js';

const { REDIS_URL = 'redis://127.0.0.1:6379' } = process.env;

const connection = new Redis(REDIS_URL, { maxRetriesPerRequest: null });
// With BullMQ's default of 1, a job whose worker died twice fails for good without another run.
const worker = new Worker('webhooks', (job) => work(job.data), { connection, maxStalledCount: 1_000 });
worker.on('failed', (job, error) => console.error(`${job?.id} failed: ${error.message}`));
worker.on('error', (error) => console.error(error.message));
worker.on('ready', () => console.log('working'));
process.once('SIGTERM', () => worker.close().then(() => connection.quit()));
