import mysql from 'mysql2/promise';
import { mysqlInbox } from '../../src/stores/mysql.js';
import { sampleEvent } from '../../src/testing/sample-event.js';

/** What another process is asked to do: a delivery that adds one row to `effects`, unless it is told to hang on the way. */
export interface Task {
  url: string;
  eventId: string;
  hang?: 'in work' | 'before commit';
}

const { url, eventId, hang }: Task = JSON.parse(process.argv[2] ?? '{}');
const say = (word: unknown) => process.send?.(word);

async function hangs(): Promise<never> {
  say('hangs');
  return new Promise(() => process.on('message', () => {}));
}

const pool = mysql.createPool(url);
const inbox = mysqlInbox({ mysql2: pool }, { table: 'inbox', name: 'default', waitMs: 30_000 });
const connection = await pool.getConnection();
await connection.beginTransaction();
const { status } = await inbox.once(connection, { event: sampleEvent('stt.completed', { id: eventId }) }, async () => {
  await connection.query('INSERT INTO effects VALUES (?)', [eventId]);
  if (hang === 'in work') await hangs();
});
if (hang === 'before commit') await hangs();
await connection.commit();
say(status);
await pool.end();
process.disconnect();
