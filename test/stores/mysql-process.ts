import mysql from 'mysql2/promise';
import { mysqlStore } from '../../src/stores/mysql.js';

/** What another process is asked to do. */
export type Task =
  /** Says how many of its simultaneous claims of one key were acquired. */
  | { kind: 'claim'; url: string; table: string; key: string; count: number }
  /** Claims a key, says so and hangs. */
  | { kind: 'hold'; url: string; table: string; key: string; complete: boolean };

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const say = (word: unknown) => process.send?.(word);
const pool = mysql.createPool({ uri: task.url, connectionLimit: 6 });
const store = mysqlStore({ mysql2: pool }, { table: task.table });

if (task.kind === 'claim') await claimAtOnce(task);
if (task.kind === 'hold') await hold(task);

async function claimAtOnce({ key, count }: Extract<Task, { kind: 'claim' }>) {
  await store.init?.();
  say('ready');
  await new Promise((resolve) => process.once('message', resolve));
  const claims = Array.from({ length: count }, () =>
    store.claim({ key, token: crypto.randomUUID(), fingerprint: 'f', leaseMs: 60_000, retainMs: 60_000 }),
  );
  const statuses = (await Promise.all(claims)).map(({ status }) => status);
  say({ acquired: statuses.filter((one) => one === 'acquired').length, answered: statuses.length });
  await pool.end();
}

async function hold({ key, complete }: Extract<Task, { kind: 'hold' }>) {
  const request = { key, token: crypto.randomUUID(), fingerprint: 'f', leaseMs: 60_000, retainMs: 60_000 };
  const { fence } = await store.claim(request);
  if (complete) await store.complete({ ...request, fence }, request);
  say('held');
  await new Promise<never>(() => process.on('message', () => {}));
}
