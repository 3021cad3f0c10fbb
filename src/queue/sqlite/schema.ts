import { commonSchema } from '../../stores/sqlite/schema.js';

/**
 * Returns the statements that create the table of a queue or update it. Each may run repeatedly. `run_at` is when a
 * waiting job may run, or when the lease of a running one ends; it is NULL for a job that is done or dead.
 */
export const queueSchema = (table: string): string[] => [
  `CREATE TABLE IF NOT EXISTS ${table} (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  queue TEXT NOT NULL,
  state TEXT NOT NULL,
  job TEXT NOT NULL,
  event_id TEXT,
  event_type TEXT,
  order_by TEXT,
  owner TEXT,
  fence INTEGER NOT NULL DEFAULT 0,
  attempt INTEGER NOT NULL DEFAULT 0,
  queued_at INTEGER NOT NULL,
  run_at INTEGER,
  died_at INTEGER,
  reason TEXT,
  expires_at INTEGER
)`,
  `CREATE INDEX IF NOT EXISTS ${table}_run_at ON ${table} (queue, run_at, id) WHERE run_at IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS ${table}_order_by ON ${table} (queue, order_by, id)
WHERE run_at IS NOT NULL AND order_by IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS ${table}_died_at ON ${table} (queue, died_at, id) WHERE state = 'dead'`,
  ...commonSchema(table),
];
