import { versionSchema } from '../../stores/sqlite/schema.js';

/** The version of the table. It grows when {@link queueSchema} changes. */
export const QUEUE_SCHEMA_VERSION = 4;

/** The columns that tables of earlier versions lack, with their types. */
export const ADDED_COLUMNS = { stack: 'TEXT', stack_fence: 'INTEGER' };

/** The `run_at` of a job that waits until an earlier one of the same order is done: later than any time. */
export const BLOCKED = Number.MAX_SAFE_INTEGER;

/** Returns the condition that another job of the same order comes first. */
export const hasEarlier = (table: string, queue: string, orderBy: string, id: string) => `EXISTS (
  SELECT 1 FROM ${table} AS earlier
  WHERE earlier.queue = ${queue} AND earlier.order_by = ${orderBy} AND earlier.run_at IS NOT NULL AND earlier.id < ${id})`;

/**
 * Returns the statements that create the table of a queue or update it. Each may run repeatedly. `run_at` is when a
 * waiting job may run, or when the lease of a running one ends; it is NULL for a job that is done or dead. `fence` grows
 * with each claim, renewal and wait, and is at least their time in microseconds: one that is later than now shows that the
 * clock went back. `stack` is of the failure at which `fence` was `stack_fence`: a process of an earlier version records a
 * later failure without its stack.
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
  stack TEXT,
  stack_fence INTEGER,
  expires_at INTEGER
)`,
  // With `queued_at`, from which the stats are read without the rows: a job may be large.
  `CREATE INDEX IF NOT EXISTS ${table}_waiting ON ${table} (queue, run_at, id, queued_at) WHERE run_at IS NOT NULL`,
  `DROP INDEX IF EXISTS ${table}_run_at`,
  `CREATE INDEX IF NOT EXISTS ${table}_order_by ON ${table} (queue, order_by, id)
WHERE run_at IS NOT NULL AND order_by IS NOT NULL`,
  `CREATE INDEX IF NOT EXISTS ${table}_died_at ON ${table} (queue, died_at, id) WHERE state = 'dead'`,
  // Version 1 left it to the claim which jobs wait for an earlier one.
  `UPDATE ${table} SET run_at = ${BLOCKED}
WHERE state = 'waiting' AND run_at < ${BLOCKED} AND order_by IS NOT NULL
  AND ${hasEarlier(table, `${table}.queue`, `${table}.order_by`, `${table}.id`)}`,
  // Only of jobs that are done, so that a put adds no entry.
  `CREATE INDEX IF NOT EXISTS ${table}_done ON ${table} (expires_at) WHERE expires_at IS NOT NULL`,
  `DROP INDEX IF EXISTS ${table}_expires_at`,
  ...versionSchema(table, QUEUE_SCHEMA_VERSION),
];
