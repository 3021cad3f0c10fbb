-- service-webhooks, tables of version 1 for SQLite and D1. This script may run again.

-- The table of a dedupe store: one row for each event.
CREATE TABLE IF NOT EXISTS webhook_deliveries (
  key TEXT NOT NULL PRIMARY KEY,
  state TEXT NOT NULL,
  owner TEXT,
  fence INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  lease_until INTEGER,
  expires_at INTEGER NOT NULL,
  fingerprint TEXT NOT NULL,
  alias TEXT,
  updated_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS webhook_deliveries_expires_at ON webhook_deliveries (expires_at);
CREATE TABLE IF NOT EXISTS webhook_schema (table_name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL);
INSERT INTO webhook_schema VALUES ('webhook_deliveries', 1)
ON CONFLICT (table_name) DO UPDATE SET version = excluded.version WHERE version < excluded.version;

-- The table of an inbox: one row for each event whose effects are committed.
CREATE TABLE IF NOT EXISTS webhook_inbox (
  key TEXT NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS webhook_inbox_expires_at ON webhook_inbox (expires_at);
CREATE TABLE IF NOT EXISTS webhook_schema (table_name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL);
INSERT INTO webhook_schema VALUES ('webhook_inbox', 1)
ON CONFLICT (table_name) DO UPDATE SET version = excluded.version WHERE version < excluded.version;

-- The table of jobs: one row for each job that the app has started.
CREATE TABLE IF NOT EXISTS webhook_deliveries_jobs (
  key TEXT NOT NULL PRIMARY KEY,
  version TEXT NOT NULL,
  record TEXT NOT NULL,
  due_at INTEGER,
  expires_at INTEGER
);
CREATE INDEX IF NOT EXISTS webhook_deliveries_jobs_due ON webhook_deliveries_jobs (due_at, key) WHERE due_at IS NOT NULL;
CREATE INDEX IF NOT EXISTS webhook_deliveries_jobs_expires_at ON webhook_deliveries_jobs (expires_at);
CREATE TABLE IF NOT EXISTS webhook_schema (table_name TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL);
INSERT INTO webhook_schema VALUES ('webhook_deliveries_jobs', 1)
ON CONFLICT (table_name) DO UPDATE SET version = excluded.version WHERE version < excluded.version;
