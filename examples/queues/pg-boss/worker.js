import { work } from '../work.js';
import { QUEUE, startBoss } from './boss.js';

const { POSTGRES_URL = 'postgres://postgres@127.0.0.1:5432/test' } = process.env;

// pg-boss does not await its last statement of a batch: without this line, its rejection ends the process.
process.on('unhandledRejection', (error) => console.error(error));

const boss = await startBoss(POSTGRES_URL);
await boss.work(QUEUE, { pollingIntervalSeconds: 0.5 }, async (jobs) => {
  for (const job of jobs) await work(job.data);
});
console.log('working');
process.once('SIGTERM', () => boss.stop());
