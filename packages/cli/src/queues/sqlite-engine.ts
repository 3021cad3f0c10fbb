import { check } from 'service-webhooks/option-checks';
import { sqliteQueue } from 'service-webhooks/queue/sqlite';
import { Failure } from '../failure.js';
import { openSqliteFile, type SqliteHandle } from '../installed.js';
import { existingQueue, type QueueEngine } from './queue-engine.js';

export const sqliteEngine: QueueEngine = {
  name: 'sqlite',
  says: 'the file of an embedded SQLite queue',

  async open({ address: file, queue, table = 'webhook_queue', bodies }) {
    // Before the queue checks it: its name is looked up first, by SQL with this table in it.
    check(/^(?!sqlite_)[a-z_][a-z0-9_]{0,62}$/i.test(table), 'table must be a name of letters, digits and _');
    const { handle, client } = openSqliteFile(file, { readonly: false });
    if (!exists(handle, 'SELECT 1 FROM sqlite_master WHERE name = ?', table))
      throw new Failure('file', `${file} has no table ${table}: name the table of the queue with --table.`);
    const opened = sqliteQueue(client, { name: nameOf(handle, table, queue, file), table, ...bodies });
    return {
      queue: opened,
      jobs: (state, filter) => [(page) => opened.jobs({ ...page, ...filter, state })],
      close: async () => handle.close(),
    };
  },
};

/** A queue is known by its rows, so that in an empty table every name is right. */
function nameOf(handle: SqliteHandle, table: string, queue: string | undefined, file: string): string {
  if (queue !== undefined && exists(handle, `SELECT 1 FROM ${table} WHERE queue = ?`, queue)) return queue;
  const sql = `SELECT json_group_array(queue) AS names FROM (SELECT DISTINCT queue FROM ${table} ORDER BY queue)`;
  const { names } = handle.prepare(sql).get() as { names: string };
  const all: string[] = JSON.parse(names);
  return all.length === 0 ? (queue ?? 'webhooks') : existingQueue(queue, all, file);
}

function exists(handle: SqliteHandle, sql: string, value: string): boolean {
  const { found } = handle.prepare(`SELECT EXISTS (${sql}) AS found`).get(value) as { found: number };
  return Number(found) === 1;
}
