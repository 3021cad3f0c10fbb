import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Handler, PermanentError } from 'service-webhooks';
import { webhookHandler } from 'service-webhooks/node';
import { sqliteInbox } from 'service-webhooks/stores/sqlite';
import { clientOf, type Driver, openSqlite } from '../integration/sqlite.js';
import { SECRET } from '../support/deliveries.js';
import { openQueue, type QueuePlace } from './open-queue.js';

/** What a process of these tests does. */
export type QueueTask = { place: QueuePlace } & (
  | { role: 'receiver' }
  | {
      role: 'worker';
      /** A line for each run that got so far. */
      effects: string;
      /** A database with an inbox, and a row for each effect. */
      inbox: { driver: Driver; file: string };
    }
);

/** The longest random pause on each side of the effect. */
const JITTER_MS = 4;
const task: QueueTask = JSON.parse(process.argv[2] ?? '{}');
const { queue, work } = await openQueue(task.place, { workersDie: true });

if (task.role === 'receiver') {
  await queue.init?.();
  const server = createServer(webhookHandler({ secret: SECRET, queue, logger: false, deadlineMs: 5_000 }));
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as { port: number }).port }));
} else {
  const { inbox: where, effects } = task;
  const handle = openSqlite(where.driver, where.file);
  const inbox = sqliteInbox(clientOf(where.driver, handle), { name: 'worker', waitMs: 1_000 });
  await inbox.init();
  const insert = handle.prepare('INSERT INTO effects VALUES (?)');
  const handler: Handler = async (event, { delivery, attempt }) => {
    await pause(Math.random() * JITTER_MS);
    if (event.jobId === 'dead') throw new PermanentError('of the test');
    if (event.jobId === 'once' && attempt === 1) throw new Error('of the test');
    appendFileSync(effects, `${event.id}\n`);
    inbox.once(delivery, () => insert.run(event.id));
    await pause(Math.random() * JITTER_MS);
  };
  await queue.init?.();
  work({ on: { '*': handler }, logger: false });
  process.send?.('working');
}
