import { graphileWorkerQueue } from '../../queue/graphile-worker/graphile-worker-queue.js';
import { checkPostgresName } from '../../queue/postgres.js';
import { Failure } from '../failure.js';
import { needed } from '../installed.js';
import { POSTGRES_URL } from '../server-url.js';
import { CALL_TIMEOUT_MS, CONNECT_TIMEOUT_MS, existingQueue, type QueueEngine } from './queue-engine.js';

interface Pool {
  query(text: string, values?: never): Promise<{ rows: unknown[] }>;
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

export const graphileWorkerEngine: QueueEngine = {
  name: 'graphile-worker',
  says: 'the URL of the PostgreSQL of graphile-worker, whose task is the queue',
  url: POSTGRES_URL,

  async open({ address, queue, schema = 'graphile_worker' }) {
    checkPostgresName('schema', schema);
    const { Pool } = needed<{ Pool: new (options: object) => Pool }>('graphile-worker', 'pg');
    const pg = new Pool({
      ...{ connectionString: address, max: 2 },
      ...{ connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: CALL_TIMEOUT_MS },
    });
    pg.on('error', () => {});
    const sql = `SELECT identifier FROM ${schema}._private_tasks ORDER BY identifier`;
    const { rows } = await pg.query(sql).catch((error) => {
      if (error?.code !== '42P01') throw error;
      const problem = `the database has no tables of graphile-worker in schema ${schema}`;
      throw new Failure('usage', `${problem}: name it with --schema.`);
    });
    const tasks = (rows as { identifier: string }[]).map(({ identifier }) => identifier);
    const task = existingQueue(queue, tasks, `graphile-worker in schema ${schema}`);
    return { queue: graphileWorkerQueue({ pg, task, schema }), close: () => pg.end() };
  },
};
