import pg from 'pg';
import postgres from 'postgres';
import { postgresInbox, postgresStore } from '../../src/stores/postgres.js';
import { sampleEvent } from '../../src/testing/sample-event.js';

/** What another process is asked to do. */
export type Task =
  /** Says how many of its simultaneous claims of one key were acquired. */
  | { kind: 'claim'; url: string; table: string; client: 'pg' | 'postgresJs'; key: string; count: number }
  /** Claims a key, says so and hangs. */
  | { kind: 'hold'; url: string; table: string; key: string; complete: boolean }
  /** Says what came of a delivery that adds one row to `effects`, unless it is told to hang on the way. */
  | { kind: 'inbox'; url: string; table: string; effects: string; eventId: string; hang?: 'in work' | 'before commit' };

const task: Task = JSON.parse(process.argv[2] ?? '{}');
const say = (word: unknown) => process.send?.(word);
const forEver = () => new Promise<never>(() => process.on('message', () => {}));

if (task.kind === 'claim') await claimAtOnce(task);
if (task.kind === 'hold') await hold(task);
if (task.kind === 'inbox') await deliver(task);

async function claimAtOnce({ url, table, client, key, count }: Extract<Task, { kind: 'claim' }>) {
  const pool = new pg.Pool({ connectionString: url, max: 6 });
  const sql = postgres(url, { max: 6 });
  const store = postgresStore(client === 'pg' ? { pg: pool } : { postgresJs: sql }, { table });
  await store.init?.();
  say('ready');
  await new Promise((resolve) => process.once('message', resolve));
  const claims = Array.from({ length: count }, () =>
    store.claim({ key, token: crypto.randomUUID(), fingerprint: 'f', leaseMs: 60_000, retainMs: 60_000 }),
  );
  const statuses = (await Promise.all(claims)).map(({ status }) => status);
  say({ acquired: statuses.filter((one) => one === 'acquired').length, answered: statuses.length });
  await pool.end();
  await sql.end();
}

async function hold({ url, table, key, complete }: Extract<Task, { kind: 'hold' }>) {
  const store = postgresStore({ pg: new pg.Pool({ connectionString: url }) }, { table });
  const request = { key, token: crypto.randomUUID(), fingerprint: 'f', leaseMs: 60_000, retainMs: 60_000 };
  const { fence } = await store.claim(request);
  if (complete) await store.complete({ ...request, fence }, request);
  say('held');
  await forEver();
}

async function deliver({ url, table, effects, eventId, hang }: Extract<Task, { kind: 'inbox' }>) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const inbox = postgresInbox({ pg: client }, { table, name: 'default' });
  const event = sampleEvent('stt.completed', { id: eventId });
  await client.query('BEGIN');
  const { status } = await inbox.once(client, { event }, async () => {
    await client.query(`INSERT INTO ${effects} VALUES ($1)`, [eventId]);
    if (hang === 'in work') {
      say('hangs');
      await forEver();
    }
  });
  if (hang === 'before commit') {
    say('hangs');
    await forEver();
  }
  await client.query('COMMIT');
  say(status);
  await client.end();
}
