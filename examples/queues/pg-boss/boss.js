import PgBoss from 'pg-boss';

export const QUEUE = 'webhooks';

/** @param {string} connectionString */
export async function startBoss(connectionString) {
  const boss = new PgBoss({
    connectionString,
    // While a job is not archived, its id is not queued again. Each process that maintains the tables uses its own setting,
    // so the receiver and the worker share this one.
    archiveCompletedAfterSeconds: 72 * 3600,
  });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue(QUEUE, { name: QUEUE, retryLimit: 5, retryBackoff: true });
  return boss;
}
